#include "groth16/subgroup_batch.h"

#include <bit>
#include <vector>

#include "curve/encoding.h"
#include "groth16/random.h"

namespace cuzk::groth16 {
namespace {

// Below this many points, one test each is as fast.
constexpr size_t kSmallBatch = 256;

// The c subset sums of one pass. Folding the upper half of the buckets onto the lower leaves the sum over the top bit
// in the upper half's total, and the buckets of the other bits below.
template <class F>
bool subset_sums_inside(std::vector<Xyzz<F>>& buckets) {
  for (size_t half = buckets.size() / 2; half > 0; half /= 2) {
    Xyzz<F> sum = Xyzz<F>::infinity();
    for (size_t i = half; i < 2 * half; i++) {
      sum += buckets[i];
      buckets[i - half] += buckets[i];
    }
    if (!in_subgroup(sum.to_affine())) return false;
  }
  return true;
}

template <class F>
Result<bool> all_inside(std::span<const Affine<F>> points) {
  // Buckets for a sixteenth of the points keep the folding at an eighth of the additions; 2^13 of them stay in cache.
  const unsigned bits = std::min<unsigned>(13, static_cast<unsigned>(std::bit_width(points.size())) - 4);
  std::vector<uint16_t> random(points.size());
  std::vector<Xyzz<F>> buckets(size_t{1} << bits);
  for (unsigned tests = 0; tests < kSubgroupTests; tests += bits) {
    CUZK_TRY(random_bytes({reinterpret_cast<uint8_t*>(random.data()), random.size() * sizeof(uint16_t)}));
    buckets.assign(buckets.size(), Xyzz<F>::infinity());
    for (size_t i = 0; i < points.size(); i++) buckets[random[i] & (buckets.size() - 1)] += points[i];
    if (!subset_sums_inside(buckets)) return false;
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
