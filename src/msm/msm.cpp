#include "msm/msm.h"

#include <atomic>

#include "msm/plan.h"

namespace cuzk::msm {
namespace {

constexpr uint32_t kNoBucket = ~uint32_t{0};

// body(task, worker) for every task; two tasks run at once only with different workers.
template <class Body>
void for_each_task(exec::Pool& pool, size_t workers, size_t tasks, const Body& body) {
  std::atomic<size_t> next{0};
  pool.for_each(std::min(workers, tasks), [&](size_t worker) {
    for (size_t task = next++; task < tasks; task = next++) body(task, worker);
  });
}

// The runs of equal buckets in the sorted entries of a window.
struct EntryRuns {
  std::span<const uint32_t> starts;

  // The bucket of an entry, which is not before `bucket`.
  uint32_t bucket_of(uint32_t position, uint32_t bucket) const {
    while (starts[bucket + 1] <= position) bucket++;
    return bucket;
  }
  uint32_t first_bucket_of(uint32_t position) const {
    return static_cast<uint32_t>(std::upper_bound(starts.begin(), starts.end(), position) - starts.begin()) - 1;
  }
  uint32_t run_begin(uint32_t, uint32_t bucket) const { return starts[bucket]; }
  uint32_t run_end(uint32_t, uint32_t bucket) const { return starts[bucket + 1]; }
};
// The same in partial sums.
struct PartialRuns {
  std::span<const uint32_t> buckets;

  uint32_t bucket_of(uint32_t position, uint32_t) const { return buckets[position]; }
  uint32_t first_bucket_of(uint32_t position) const { return buckets[position]; }
  uint32_t run_begin(uint32_t position, uint32_t bucket) const {
    return static_cast<uint32_t>(std::lower_bound(buckets.begin(), buckets.begin() + position, bucket) -
                                 buckets.begin());
  }
  uint32_t run_end(uint32_t position, uint32_t bucket) const {
    return static_cast<uint32_t>(std::upper_bound(buckets.begin() + position, buckets.end(), bucket) - buckets.begin());
  }
};

// One multiplication in progress.
template <class F>
struct Sum {
  const Plan& plan;
  const Digits digits;
  std::span<const Affine<F>> bases;
  Workspace<F> work;

  // Entries by bucket: every thread counts its part of the points, then puts it where the counts say.
  void sort(unsigned first_window, unsigned windows, exec::Pool& pool) {
    const size_t parts = plan.threads, buckets = windows * plan.buckets();
    auto for_digits = [&](size_t part, auto&& body) {
      const size_t begin = part * bases.size() / parts, end = (part + 1) * bases.size() / parts;
      for (unsigned w = 0; w < windows; w++) {
        uint32_t* const counts = &work.counts[part * buckets + w * plan.buckets()];
        const Digits::Window window = digits.window(first_window + w);
        const uint64_t *const low = work.scalars[window.low].data(), *const high = work.scalars[window.high].data();
        for (size_t i = begin; i < end; i++) {
          const int64_t digit = window.digit(low[i], high[i]);
          if (digit != 0) body(i, digit < 0, counts[(digit < 0 ? -digit : digit) - 1]);
        }
      }
    };
    pool.for_each(parts, [&](size_t part) {
      std::fill_n(&work.counts[part * buckets], buckets, 0);
      for_digits(part, [](size_t, bool, uint32_t& count) { count++; });
    });
    uint32_t total = 0;
    for (size_t b = 0; b < buckets; b++) {
      work.starts[b] = total;
      for (size_t part = 0; part < parts; part++) total += std::exchange(work.counts[part * buckets + b], total);
    }
    work.starts[buckets] = total;
    pool.for_each(parts, [&](size_t part) {
      for_digits(part, [entries = work.entries.data()](size_t i, bool negative, uint32_t& place) {
        entries[place++] = static_cast<uint32_t>(i) | (negative ? kNegative : 0);
      });
    });
  }

  // Sums every bucket's part of every slice of `total` entries, entry(position) for position = 0, 1, ...; the slices
  // from `begin` on, one a lane. A bucket inside one slice is then done; the others go to the partials, two a slice.
  template <class Runs, class Entry>
  void sum_slices(Worker<F>& worker, const Affine<F>* points, size_t total, size_t slices, size_t begin, size_t count,
                  const Runs& runs, const Entry& entry, Partials<F>& partials) {
    Sums<F>& sums = worker.sums;
    const auto slice_begin = [=](size_t slice) { return static_cast<uint32_t>(slice * total / slices); };
    const auto finish_run = [&](size_t lane) {
      Cursor& at = worker.cursors[lane];
      const size_t slice = begin + lane;
      if (runs.run_begin(at.run_begin, at.bucket) >= slice_begin(slice) &&
          runs.run_end(at.run_begin, at.bucket) <= at.end) {
        work.buckets.copy(at.bucket, sums, lane);
      } else {
        const size_t partial = 2 * slice + at.partials++;
        partials.buckets[partial] = at.bucket;
        partials.sums[partial] = sums.get(lane);
      }
    };
    for (size_t lane = 0; lane < count; lane++) {
      const uint32_t first = slice_begin(begin + lane), end = slice_begin(begin + lane + 1);
      worker.cursors[lane] = {first, first, first, end, first < end ? runs.first_bucket_of(first) : 0, 0};
      partials.buckets[2 * (begin + lane)] = partials.buckets[2 * (begin + lane) + 1] = kNoBucket;
      sums.choice[lane] = 0;
    }
    const size_t blocks = sums.blocks_of(count);
    sums.clear();
    for (size_t lane = count; lane < sums.lanes(); lane++) sums.choice[lane] = sums.next[lane] = kNoPoint;
    // A step adds one more entry to every lane. A lane that has no more goes on adding its last one to a sum that
    // nobody looks at.
    for (bool any = true; any;) {
      any = false;
      for (size_t lane = 0; lane < count; lane++) {
        Cursor& at = worker.cursors[lane];
        while (at.position == at.run_end) {
          if (at.run_begin != at.run_end) finish_run(lane);
          at.run_begin = at.run_end;
          if (at.position == at.end) break;
          at.bucket = runs.bucket_of(at.position, at.bucket);
          at.run_end = std::min(at.end, runs.run_end(at.position, at.bucket));
          const uint32_t first = entry(at.position++);
          const Affine<F>& point = points[first & ~kNegative];
          sums.set(lane, first & kNegative ? -point : point);
        }
        if (at.position == at.end && at.run_begin == at.run_end) continue;
        any = true;
        sums.choice[lane] = entry(at.position++);
        sums.next[lane] = at.position < at.end ? entry(at.position) : 0;
      }
      if (any) sums.add_chosen(points, blocks);
    }
  }

  void sum_buckets(size_t total, exec::Pool& pool) {
    work.buckets.clear();
    if (total == 0) return;
    const size_t slices = plan.slices(), lanes = plan.lanes;
    for_each_task(pool, work.workers.size(), plan.tasks, [&](size_t task, size_t worker) {
      sum_slices(
          work.workers[worker], bases.data(), total, slices, task * lanes, lanes, EntryRuns{work.starts},
          [this](uint32_t position) { return work.entries[position]; }, work.partials[0]);
    });
    sum_partials(2 * slices);
  }

  // Adds up `count` partials, which are in order of buckets; one thread suffices, as they are few.
  void sum_partials(size_t count) {
    constexpr size_t kFew = 32, kSlice = 16;
    Partials<F>*from = &work.partials[0], *to = &work.partials[1];
    for (;; std::swap(from, to)) {
      size_t kept = 0;
      for (size_t i = 0; i < count; i++) {
        if (from->buckets[i] == kNoBucket) continue;
        from->buckets[kept] = from->buckets[i];
        from->sums[kept++] = from->sums[i];
      }
      if (kept <= kFew) return add_one_by_one(*from, kept);
      const size_t slices = (kept + kSlice - 1) / kSlice, lanes = plan.lanes;
      for (size_t begin = 0; begin < slices; begin += lanes) {
        sum_slices(
            work.workers[0], from->sums.data(), kept, slices, begin, std::min(lanes, slices - begin),
            PartialRuns{from->buckets.first(kept)}, [](uint32_t position) { return position; }, *to);
      }
      count = 2 * slices;
    }
  }
  void add_one_by_one(const Partials<F>& partials, size_t count) {
    for (size_t i = 0; i < count;) {
      const uint32_t bucket = partials.buckets[i];
      Xyzz<F> sum;
      for (; i < count && partials.buckets[i] == bucket; i++) sum += partials.sums[i];
      work.buckets.set(bucket, sum.to_affine());
    }
  }

  // The weighted sum over b of (b + 1) buckets[b] of every window, up to its last steps: chain g walks down the buckets
  // g, g + chains, g + 2 chains, ..., with their running sum S and the sum T of those but the last, so that the whole
  // is chains * sum T + sum (g + 1) S. Rows of buckets are added to all chains at once.
  void weight(unsigned first_window, unsigned windows, exec::Pool& pool) {
    const size_t width = Lanes<F>::width(), chain_blocks = plan.chains / width, rows = plan.buckets() / plan.chains;
    const size_t all = windows * chain_blocks, most = work.workers[0].sums.blocks() / 2;
    const size_t tasks = (all + most - 1) / most + plan.threads - 1, each = (all + tasks - 1) / tasks;
    for_each_task(pool, work.workers.size(), (all + each - 1) / each, [&](size_t task, size_t worker) {
      const size_t begin = task * each, count = std::min(each, all - begin);
      Sums<F>& sums = work.workers[worker].sums;
      // The block of chain block begin + i in a row.
      const auto bucket_block = [&](size_t row, size_t i) {
        const size_t window = (begin + i) / chain_blocks, chain_block = (begin + i) % chain_blocks;
        return (window * rows + row) * chain_blocks + chain_block;
      };
      for (size_t i = 0; i < count; i++) {  // T in blocks from 0, S from count
        const std::byte* const last = work.buckets.block(bucket_block(rows - 1, i));
        std::memcpy(sums.block(count + i), last, sums.block(1) - sums.block(0));
        std::memcpy(sums.block(i), last, sums.block(1) - sums.block(0));
      }
      for (size_t row = rows - 1; row-- > 0;) {
        sums.add_blocks(row + 2 == rows ? count : 0, 2 * count, [&](size_t i) {
          return i < count ? sums.block(count + i) : work.buckets.block(bucket_block(row, i - count));
        });
      }
      for (size_t lane = 0; lane < count * width; lane++) {
        const size_t chain = begin * width + lane;
        Affine<F>* const out =
            &work.chains[(first_window + chain / plan.chains) * 2 * plan.chains + chain % plan.chains];
        out[0] = sums.get(count * width + lane);
        out[plan.chains] = rows > 1 ? sums.get(lane) : Affine<F>::infinity();
      }
    });
  }

  Xyzz<F> window_sum(size_t window) const {
    const Affine<F>* const sums = &work.chains[window * 2 * plan.chains];
    Xyzz<F> weighted, running, total;
    for (size_t g = 0; g < plan.chains; g++) weighted += sums[plan.chains + g];
    for (size_t g = 1; g < plan.chains; g *= 2) weighted = weighted.dbl();
    for (size_t g = plan.chains; g-- > 0;) {
      running += sums[g];
      total += running;
    }
    return weighted + total;
  }

  Xyzz<F> run(exec::Pool& pool) {
    for (unsigned first = 0; first < plan.windows; first += plan.windows_at_once) {
      const unsigned windows = std::min(plan.windows_at_once, plan.windows - first);
      sort(first, windows, pool);
      sum_buckets(work.starts[windows * plan.buckets()], pool);
      weight(first, windows, pool);
    }
    pool.for_each(plan.windows, [&](size_t w) { work.sums[w] = window_sum(w); });
    Xyzz<F> out;
    for (size_t w = plan.windows; w-- > 0;) {
      for (unsigned i = 0; i < plan.window_bits; i++) out = out.dbl();
      out += work.sums[w];
    }
    return out;
  }
};

}  // namespace

template <class F>
Result<Xyzz<F>> run(const Plan& plan, std::span<const Affine<F>> bases, std::span<const Fr> scalars,
                    std::span<std::byte> workspace, exec::Pool& pool) {
  if (bases.size() != plan.shape.points || scalars.size() != plan.shape.points) {
    return fail(Code::kInvalidInput, "{} bases and {} scalars for a plan of {} points", bases.size(), scalars.size(),
                plan.shape.points);
  }
  if (plan.shape.g2 != std::is_same_v<F, Fp2>) return fail(Code::kInvalidInput, "the plan is for the other group");
  if (workspace.size() < workspace_bytes(plan)) {
    return fail(Code::kResourceExhausted,
                "a multi-scalar multiplication of {} points needs {} bytes of workspace, not {}", bases.size(),
                workspace_bytes(plan), workspace.size());
  }
  if (bases.empty()) return Xyzz<F>::infinity();
  mem::Carver memory(workspace);
  Sum<F> sum{plan, Digits(plan.window_bits), bases, Workspace<F>(memory, plan)};
  pool.for_each_chunk(scalars.size(), 4096, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) {
      const Digits::Prepared prepared = sum.digits.prepare(scalars[i]);
      for (size_t limb = 0; limb < prepared.size(); limb++) sum.work.scalars[limb][i] = prepared[limb];
    }
  });
  return sum.run(pool);
}

template Result<Xyzz<Fp>> run(const Plan&, std::span<const Affine<Fp>>, std::span<const Fr>, std::span<std::byte>,
                              exec::Pool&);
template Result<Xyzz<Fp2>> run(const Plan&, std::span<const Affine<Fp2>>, std::span<const Fr>, std::span<std::byte>,
                               exec::Pool&);

}  // namespace cuzk::msm
