#include "groth16/subgroup_batch.h"

#include <bit>
#include <vector>

#include "curve/encoding.h"
#include "groth16/random.h"
#include "msm/batch_add.h"

namespace cuzk::groth16 {
namespace {

// Below this many points, one test each is as fast.
constexpr size_t kSmallBatch = 256;
constexpr size_t kRandomBlock = size_t{1} << 14;  // points whose buckets are drawn at a time

// Sums of points by bucket, made by batched additions in which no bucket occurs twice: a point that comes again waits
// for the next batch.
template <class F>
class Buckets {
 public:
  explicit Buckets(unsigned bits)
      : sums_(size_t{1} << bits),
        last_batch_(sums_.size()),
        workspace_(workspace_bytes(batch_size(bits))),
        additions_(make_additions(workspace_, batch_size(bits))) {}

  size_t size() const { return sums_.size(); }
  void clear() { std::fill(sums_.begin(), sums_.end(), Affine<F>::infinity()); }
  void add(uint32_t bucket, const Affine<F>& point) {
    if (last_batch_[bucket] == batch_) return waiting_.push_back({bucket, point});
    last_batch_[bucket] = batch_;
    additions_.set_first(targets_.size(), sums_[bucket]);
    additions_.set_second(targets_.size(), point);
    targets_.push_back(bucket);
    if (targets_.size() == additions_.capacity()) run();
  }
  void finish() {
    while (!targets_.empty()) run();
  }

  // The c subset sums. Folding the upper half of the buckets onto the lower leaves the sum over the top bit in the upper
  // half's total, and the buckets of the other bits below.
  bool subset_sums_inside() {
    for (size_t half = size() / 2; half > 0; half /= 2) {
      Xyzz<F> sum = Xyzz<F>::infinity();
      for (size_t i = half; i < 2 * half; i++) {
        sum += sums_[i];
        add(static_cast<uint32_t>(i - half), sums_[i]);
      }
      finish();
      if (!in_subgroup(sum.to_affine())) return false;
    }
    return true;
  }

 private:
  struct Waiting {
    uint32_t bucket;
    Affine<F> point;
  };

  // Few enough that one in sixteen points has to wait, many enough to share an inversion.
  static size_t batch_size(unsigned bits) { return size_t{1} << std::clamp(static_cast<int>(bits) - 3, 0, 10); }
  static uint64_t workspace_bytes(size_t batch) {
    msm::Carver counter;
    msm::BatchAdd<F>(counter, batch);
    return counter.bytes();
  }
  static msm::BatchAdd<F> make_additions(std::span<std::byte> workspace, size_t batch) {
    msm::Carver carver(workspace);
    return msm::BatchAdd<F>(carver, batch);
  }

  void run() {
    additions_.run(targets_.size());
    for (size_t i = 0; i < targets_.size(); i++) sums_[targets_[i]] = additions_.first(i);
    targets_.clear();
    batch_++;
    for (const Waiting& each : std::exchange(waiting_, {})) add(each.bucket, each.point);
  }

  std::vector<Affine<F>> sums_;
  std::vector<uint64_t> last_batch_;
  uint64_t batch_ = 1;
  std::vector<std::byte> workspace_;
  msm::BatchAdd<F> additions_;
  std::vector<uint32_t> targets_;  // bucket of each addition of this batch
  std::vector<Waiting> waiting_;
};

template <class F>
Result<bool> all_inside(std::span<const Affine<F>> points) {
  // Buckets for a sixteenth of the points keep the folding at an eighth of the additions; 2^13 of them stay in cache.
  const unsigned bits = std::min<unsigned>(13, static_cast<unsigned>(std::bit_width(points.size())) - 4);
  std::vector<uint16_t> random(std::min(points.size(), kRandomBlock));
  Buckets<F> buckets(bits);
  const auto mask = static_cast<uint32_t>(buckets.size() - 1);
  for (unsigned tests = 0; tests < kSubgroupTests; tests += bits) {
    buckets.clear();
    for (size_t begin = 0; begin < points.size(); begin += random.size()) {
      const auto block = points.subspan(begin, std::min(random.size(), points.size() - begin));
      CUZK_TRY(random_bytes({reinterpret_cast<uint8_t*>(random.data()), block.size() * sizeof(uint16_t)}));
      for (size_t i = 0; i < block.size(); i++) buckets.add(random[i] & mask, block[i]);
    }
    buckets.finish();
    if (!buckets.subset_sums_inside()) return false;
  }
  return true;
}

}  // namespace

template <class F>
Result<size_t> first_outside_subgroup(std::span<const Affine<F>> points) {
  if (points.size() <= kSmallBatch) {
    for (size_t i = 0; i < points.size(); i++) {
      if (!in_subgroup(points[i])) return i;
    }
    return points.size();
  }
  CUZK_TRY_ASSIGN(bool inside, all_inside(points));
  if (inside) return points.size();
  size_t half = points.size() / 2;
  CUZK_TRY_ASSIGN(size_t lower, first_outside_subgroup(points.first(half)));
  if (lower < half) return lower;
  CUZK_TRY_ASSIGN(size_t upper, first_outside_subgroup(points.subspan(half)));
  return half + upper;
}

template Result<size_t> first_outside_subgroup<Fp>(std::span<const Affine<Fp>>);
template Result<size_t> first_outside_subgroup<Fp2>(std::span<const Affine<Fp2>>);

}  // namespace cuzk::groth16
