#include "msm/msm.h"

#include <atomic>
#include <bit>

#include "msm/plan.h"

namespace cuzk::msm {
namespace {

constexpr uint32_t kNegative = uint32_t{1} << 31;
constexpr uint32_t kNoBucket = ~uint32_t{0};

// body(task, lane) for every task; two tasks run at once only in different lanes.
template <class Body>
void for_each_in_lanes(exec::Pool& pool, size_t lanes, size_t tasks, const Body& body) {
  std::atomic<size_t> next{0};
  pool.for_each(std::min(lanes, tasks), [&](size_t lane) {
    for (size_t task = next++; task < tasks; task = next++) body(task, lane);
  });
}

// One multiplication in progress.
template <class F>
struct Sum {
  const Plan& plan;
  const Digits digits;
  std::span<const Affine<F>> bases;
  Workspace<F> work;

  size_t bucket_count() const { return digits.buckets(); }

  void run_window(unsigned window, WindowSpace<F>& space, exec::Pool& pool) const {
    sort(window, space, pool);
    sum_segments(space, pool);
    sum_partials(space);
    weight(window, space, pool);
  }

  // Entries by bucket: every lane counts its part of the points, then puts it where the counts say.
  void sort(unsigned window, WindowSpace<F>& space, exec::Pool& pool) const {
    const size_t lanes = space.lanes.size();
    auto for_digits = [&](size_t lane, auto&& body) {
      uint32_t* const counts = &space.counts[lane * bucket_count()];
      const size_t end = (lane + 1) * bases.size() / lanes;
      for (size_t i = lane * bases.size() / lanes; i < end; i++) {
        const int64_t digit = digits.digit(work.scalars[i], window);
        if (digit != 0) body(i, digit < 0, counts[(digit < 0 ? -digit : digit) - 1]);
      }
    };
    pool.for_each(lanes, [&](size_t lane) {
      std::fill_n(&space.counts[lane * bucket_count()], bucket_count(), 0);
      for_digits(lane, [](size_t, bool, uint32_t& count) { count++; });
    });
    uint32_t total = 0;
    for (size_t b = 0; b < bucket_count(); b++) {
      space.starts[b] = total;
      for (size_t lane = 0; lane < lanes; lane++) {
        total += std::exchange(space.counts[lane * bucket_count() + b], total);
      }
    }
    space.starts[bucket_count()] = total;
    pool.for_each(lanes, [&](size_t lane) {
      for_digits(lane, [&](size_t i, bool negative, uint32_t& place) {
        space.entries[place++] = static_cast<uint32_t>(i) | (negative ? kNegative : 0);
      });
    });
  }

  // Sums every bucket's part of every segment. A bucket inside one segment is then done; the others go to the partials.
  void sum_segments(WindowSpace<F>& space, exec::Pool& pool) const {
    std::fill(space.buckets.begin(), space.buckets.end(), Affine<F>::infinity());
    std::fill(space.partials.begin(), space.partials.end(), Partial<F>{kNoBucket, {}});
    const size_t total = space.starts[bucket_count()];
    for_each_in_lanes(
        pool, space.lanes.size(), (total + plan.segment - 1) / plan.segment, [&](size_t segment, size_t l) {
          Lane<F>& lane = space.lanes[l];
          const size_t begin = segment * plan.segment, end = std::min(total, begin + plan.segment);
          auto bucket = static_cast<size_t>(std::upper_bound(space.starts.begin(), space.starts.end(), begin) -
                                            space.starts.begin()) -
                        1;
          size_t runs = 0;
          for (size_t at = begin; at < end; at += lane.run_lengths[runs++]) {
            while (space.starts[bucket + 1] <= at) bucket++;
            lane.run_buckets[runs] = static_cast<uint32_t>(bucket);
            lane.run_lengths[runs] = static_cast<uint32_t>(std::min<size_t>(space.starts[bucket + 1], end) - at);
          }
          lane.sum_runs(runs, [&](size_t position) {
            constexpr size_t kAhead = 24;
            if (begin + position + kAhead < end) prefetch(bases[space.entries[begin + position + kAhead] & ~kNegative]);
            const uint32_t entry = space.entries[begin + position];
            const Affine<F>& base = bases[entry & ~kNegative];
            return entry & kNegative ? -base : base;
          });
          size_t partial = 2 * segment;
          for (size_t r = 0; r < runs; r++) {
            const uint32_t b = lane.run_buckets[r];
            if (space.starts[b] < begin || space.starts[b + 1] > end) {
              space.partials[partial++] = {b, lane.points[r]};
            } else {
              space.buckets[b] = lane.points[r];
            }
          }
        });
  }

  // Adds up the partials, which are in order of buckets; one lane suffices, there are two a segment at most.
  void sum_partials(WindowSpace<F>& space) const {
    Lane<F>& lane = space.lanes[0];
    auto left = space.partials;
    auto compact = [&] {
      left = {left.begin(),
              std::remove_if(left.begin(), left.end(), [](const auto& p) { return p.bucket == kNoBucket; })};
    };
    for (compact(); !left.empty(); compact()) {
      const bool last_round = left.size() <= plan.segment;
      size_t kept = 0;
      for (size_t begin = 0; begin < left.size(); begin += plan.segment) {
        const size_t end = std::min(left.size(), begin + plan.segment);
        size_t runs = 0;
        for (size_t at = begin; at < end; at += lane.run_lengths[runs++]) {
          size_t next = at + 1;
          while (next < end && left[next].bucket == left[at].bucket) next++;
          lane.run_buckets[runs] = left[at].bucket;
          lane.run_lengths[runs] = static_cast<uint32_t>(next - at);
        }
        lane.sum_runs(runs, [&](size_t position) { return left[begin + position].sum; });
        for (size_t r = 0; r < runs; r++) {
          if (last_round || (r > 0 && r + 1 < runs)) {
            space.buckets[lane.run_buckets[r]] = lane.points[r];
          } else {
            left[kept++] = {lane.run_buckets[r], lane.points[r]};
          }
        }
      }
      if (last_round) return;
      left = left.first(kept);
    }
  }

  // The weighted sum over b of (b + 1) buckets[b], up to its last steps: chain g walks down the buckets g, g + chains,
  // g + 2 chains, ..., with their running sum S and the sum T of those, so that the whole is
  // chains * sum T + sum (g + 1) S. Rows of buckets are added to all chains at once.
  void weight(unsigned window, WindowSpace<F>& space, exec::Pool& pool) const {
    const size_t chains = plan.chains, rows = bucket_count() / chains;
    const size_t width =
        std::min(space.lanes[0].add.capacity() / 2, (chains + space.lanes.size() - 1) / space.lanes.size());
    Affine<F>* const sums = &work.chains[window * 2 * chains];
    for_each_in_lanes(pool, space.lanes.size(), (chains + width - 1) / width, [&](size_t task, size_t l) {
      const size_t begin = task * width, count = std::min(width, chains - begin);
      BatchAdd<F>& add = space.lanes[l].add;
      for (size_t g = 0; g < count; g++) {
        add.set_first(g, space.buckets[(rows - 1) * chains + begin + g]);
        add.set_first(count + g, Affine<F>::infinity());
      }
      for (size_t row = rows - 1; row-- > 0;) {
        for (size_t g = 0; g < count; g++) {
          add.set_second(g, space.buckets[row * chains + begin + g]);
          add.set_second(count + g, add.first(g));
        }
        add.run(2 * count);
      }
      for (size_t g = 0; g < count; g++) {
        sums[begin + g] = add.first(g);
        sums[chains + begin + g] = add.first(count + g);
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
    if (work.windows.size() == 1) {
      for (unsigned w = 0; w < plan.windows; w++) run_window(w, work.windows[0], pool);
    } else {
      for_each_in_lanes(pool, work.windows.size(), plan.windows, [&](size_t w, size_t lane) {
        exec::Pool alone(1);
        run_window(static_cast<unsigned>(w), work.windows[lane], alone);
      });
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
  Carver memory(workspace);
  Sum<F> sum{plan, Digits(plan.window_bits), bases, Workspace<F>(memory, plan)};
  pool.for_each_chunk(scalars.size(), 4096, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) sum.work.scalars[i] = sum.digits.prepare(scalars[i]);
  });
  return sum.run(pool);
}

template Result<Xyzz<Fp>> run(const Plan&, std::span<const Affine<Fp>>, std::span<const Fr>, std::span<std::byte>,
                              exec::Pool&);
template Result<Xyzz<Fp2>> run(const Plan&, std::span<const Affine<Fp2>>, std::span<const Fr>, std::span<std::byte>,
                               exec::Pool&);

}  // namespace cuzk::msm
