#include "groth16/subgroup_batch.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "curve/encoding.h"
#include "groth16/random.h"
#include "msm/sums.h"

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

// Sums of points by bucket. Every bucket is a lane, and a round adds the next point of each; lanes are in order of
// their numbers of points, so a round takes the first of them.
template <class F>
class Buckets {
 public:
  Buckets(std::span<const Affine<F>> points, unsigned bits)
      : points_(points),
        order_(points.size()),
        workspace_(workspace_bytes(size_t{1} << bits)),
        sums_(make_sums(workspace_, size_t{1} << bits)),
        out_(size_t{1} << bits) {}

  static uint64_t bytes(size_t points, unsigned bits) {
    const size_t lanes = size_t{1} << bits;
    return points * sizeof(uint32_t) + workspace_bytes(lanes) + lanes * (sizeof(Xyzz<F>) + 3 * sizeof(uint32_t));
  }

  // bucket(i) of point i, below 2^bits.
  template <class Bucket>
  std::vector<Xyzz<F>>& sum(Bucket bucket) {
    std::vector<uint32_t> ends(out_.size()), lanes(out_.size());
    for (size_t i = 0; i < points_.size(); i++) ends[bucket(i)]++;
    const std::vector<uint32_t> counts = ends;
    uint32_t begin = 0;
    for (uint32_t& end : ends) begin += std::exchange(end, begin);
    for (size_t i = 0; i < points_.size(); i++) order_[ends[bucket(i)]++] = static_cast<uint32_t>(i);

    std::iota(lanes.begin(), lanes.end(), 0);
    std::sort(lanes.begin(), lanes.end(), [&](uint32_t a, uint32_t b) { return counts[a] > counts[b]; });
    sums_.clear();
    size_t active = lanes.size(), chosen = 0;
    for (uint32_t round = 0; active > 0 || chosen > 0; round++) {
      while (active > 0 && counts[lanes[active - 1]] <= round) active--;
      for (size_t i = 0; i < active; i++) sums_.next[i] = order_[ends[lanes[i]] - counts[lanes[i]] + round];
      std::fill(sums_.next.begin() + static_cast<ptrdiff_t>(active), sums_.next.end(), kNoPoint);
      if (chosen > 0) sums_.add_chosen(points_.data(), sums_.blocks_of(chosen));
      std::swap(sums_.choice, sums_.next);
      chosen = active;
    }
    for (size_t i = 0; i < lanes.size(); i++) out_[lanes[i]] = Xyzz<F>::from_affine(sums_.get(i));
    return out_;
  }

 private:
  static uint64_t workspace_bytes(size_t lanes) {
    msm::Carver counter;
    msm::Sums<F>(counter, lanes);
    return counter.bytes();
  }
  static msm::Sums<F> make_sums(std::span<std::byte> workspace, size_t lanes) {
    msm::Carver carver(workspace);
    return msm::Sums<F>(carver, lanes);
  }

  std::span<const Affine<F>> points_;
  std::vector<uint32_t> order_;  // points by bucket
  std::vector<std::byte> workspace_;
  msm::Sums<F> sums_;
  std::vector<Xyzz<F>> out_;
};

// Buckets for a sixteenth of the points keep the folding small; the lanes of 2^13 fit in a second-level cache.
unsigned bucket_bits(size_t points) {
  return static_cast<unsigned>(std::clamp(static_cast<int>(std::bit_width(points)) - 4, 1, 13));
}

template <class F>
Result<bool> all_inside(std::span<const Affine<F>> points) {
  const unsigned bits = bucket_bits(points.size());
  const uint32_t mask = (uint32_t{1} << bits) - 1;
  std::vector<uint16_t> random(points.size());
  Buckets<F> buckets(points, bits);
  for (unsigned tests = 0; tests < kSubgroupTests; tests += bits) {
    CUZK_TRY(random_bytes({reinterpret_cast<uint8_t*>(random.data()), random.size() * sizeof(uint16_t)}));
    if (!subset_sums_inside(buckets.sum([&](size_t i) { return random[i] & mask; }))) return false;
  }
  return true;
}

}  // namespace

uint64_t subgroup_batch_bytes(size_t points) {
  return points * sizeof(uint16_t) + Buckets<Fp2>::bytes(points, bucket_bits(points));
}

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
