#include <atomic>
#include <bit>

#include "msm/msm.h"
#include "msm/sums.h"

namespace cuzk::msm {
namespace {

template <class F>
constexpr size_t kColumns = std::is_same_v<F, Fp> ? 1024 : 512;  // sums that grow side by side in one thread
constexpr size_t kWordsATask = 1024;                             // 65536 points

// A thread adds the selected points to its columns in turn, a batch at a time, and the columns at the end.
template <class F>
class Columns {
 public:
  Columns(mem::Carver& memory, const Affine<F>* points) : sums_(memory, kColumns<F>), points_(points) {
    if (sums_.block(0)) sums_.clear();
  }

  void push(uint32_t index) {
    sums_.next[pending_++] = index;
    if (pending_ == kColumns<F>) flush();
  }
  Xyzz<F> finish() {
    flush();
    flush();
    for (size_t blocks = used_, half; blocks > 1; blocks = half) {
      half = (blocks + 1) / 2;
      sums_.add_blocks(0, blocks - half, [&](size_t i) { return sums_.block(half + i); });
    }
    Xyzz<F> out;
    for (size_t lane = 0; lane < sums_.width(); lane++) out += sums_.get(lane);
    return out;
  }

 private:
  // Adds the points of the last call, while those that came since are on their way into the caches.
  void flush() {
    const size_t blocks = sums_.blocks_of(chosen_);
    std::fill(sums_.next.begin() + pending_, sums_.next.end(), kNoPoint);
    if (blocks > 0) sums_.add_chosen(points_, blocks);
    used_ = std::max(used_, blocks);
    std::swap(sums_.choice, sums_.next);
    chosen_ = std::exchange(pending_, 0);
  }

  Sums<F> sums_;
  const Affine<F>* points_;
  size_t used_ = 0;  // blocks with sums
  size_t chosen_ = 0, pending_ = 0;
};

template <class F>
uint64_t thread_bytes() {
  mem::Carver counter;
  Columns<F>(counter, nullptr);
  return counter.bytes();
}

}  // namespace

template <class F>
uint64_t sum_workspace_bytes(size_t threads) {
  return std::max<size_t>(1, threads) * thread_bytes<F>();
}

template <class F>
Result<Xyzz<F>> sum_selected(std::span<const Affine<F>> bases, std::span<const uint64_t> bitmap,
                             std::span<std::byte> workspace, exec::Pool& pool) {
  if (bitmap.size() != (bases.size() + 63) / 64) {
    return fail(Code::kInvalidInput, "a bitmap of {} words cannot select among {} points", bitmap.size(), bases.size());
  }
  if (bases.size() % 64 != 0 && bitmap.back() >> (bases.size() % 64) != 0) {
    return fail(Code::kInvalidInput, "the bitmap selects a point past the last of {}", bases.size());
  }
  const size_t threads = std::min<uint64_t>(pool.threads(), workspace.size() / thread_bytes<F>());
  if (threads == 0) {
    return fail(Code::kResourceExhausted, "a sum of selected points needs {} bytes of workspace, not {}",
                thread_bytes<F>(), workspace.size());
  }
  std::vector<Xyzz<F>> sums(threads);
  std::atomic<size_t> next{0};
  pool.for_each(threads, [&](size_t thread) {
    mem::Carver memory(workspace.subspan(thread * thread_bytes<F>(), thread_bytes<F>()));
    Columns<F> columns(memory, bases.data());
    for (size_t begin = kWordsATask * next++; begin < bitmap.size(); begin = kWordsATask * next++) {
      const size_t end = std::min(bitmap.size(), begin + kWordsATask);
      for (size_t word = begin; word < end; word++) {
        for (uint64_t left = bitmap[word]; left != 0; left &= left - 1) {
          columns.push(static_cast<uint32_t>(64 * word + static_cast<size_t>(std::countr_zero(left))));
        }
      }
    }
    sums[thread] = columns.finish();
  });
  Xyzz<F> out;
  for (const Xyzz<F>& sum : sums) out += sum;
  return out;
}

template uint64_t sum_workspace_bytes<Fp>(size_t);
template uint64_t sum_workspace_bytes<Fp2>(size_t);
template Result<Xyzz<Fp>> sum_selected(std::span<const Affine<Fp>>, std::span<const uint64_t>, std::span<std::byte>,
                                       exec::Pool&);
template Result<Xyzz<Fp2>> sum_selected(std::span<const Affine<Fp2>>, std::span<const uint64_t>, std::span<std::byte>,
                                        exec::Pool&);

}  // namespace cuzk::msm
