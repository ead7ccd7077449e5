#include <atomic>
#include <bit>

#include "msm/batch_add.h"
#include "msm/msm.h"

namespace cuzk::msm {
namespace {

constexpr size_t kColumns = 1024;     // sums that grow side by side in one lane
constexpr size_t kWordsATask = 1024;  // 65536 points

// A lane adds the selected points to its columns in turn, a batch at a time, and the columns at the end.
template <class F>
class Columns {
 public:
  explicit Columns(Carver& memory) : add_(memory, kColumns) {}

  void push(const Affine<F>& point) {
    if (used_ < kColumns) return add_.set_first(used_++, point);
    add_.set_second(pending_++, point);
    if (pending_ == kColumns) flush();
  }
  Xyzz<F> finish() {
    flush();
    while (used_ > 1) {
      const size_t half = (used_ + 1) / 2;
      for (size_t i = half; i < used_; i++) add_.set_second(i - half, add_.first(i));
      add_.run(used_ - half);
      used_ = half;
    }
    return used_ == 0 ? Xyzz<F>::infinity() : Xyzz<F>::from_affine(add_.first(0));
  }

 private:
  void flush() { add_.run(std::exchange(pending_, 0)); }

  BatchAdd<F> add_;
  size_t used_ = 0, pending_ = 0;
};

template <class F>
uint64_t lane_bytes() {
  Carver counter;
  Columns<F> lane(counter);
  return counter.bytes();
}

}  // namespace

template <class F>
uint64_t sum_workspace_bytes(size_t threads) {
  return std::max<size_t>(1, threads) * lane_bytes<F>();
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
  const size_t lanes = std::min<uint64_t>(pool.threads(), workspace.size() / lane_bytes<F>());
  if (lanes == 0) {
    return fail(Code::kResourceExhausted, "a sum of selected points needs {} bytes of workspace, not {}",
                lane_bytes<F>(), workspace.size());
  }
  std::vector<Xyzz<F>> sums(lanes);
  std::atomic<size_t> next{0};
  pool.for_each(lanes, [&](size_t lane) {
    Carver memory(workspace.subspan(lane * lane_bytes<F>(), lane_bytes<F>()));
    Columns<F> columns(memory);
    for (size_t begin = kWordsATask * next++; begin < bitmap.size(); begin = kWordsATask * next++) {
      const size_t end = std::min(bitmap.size(), begin + kWordsATask);
      for (size_t word = begin; word < end; word++) {
        for (uint64_t left = bitmap[word]; left != 0; left &= left - 1) {
          columns.push(bases[64 * word + static_cast<size_t>(std::countr_zero(left))]);
        }
      }
    }
    sums[lane] = columns.finish();
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
