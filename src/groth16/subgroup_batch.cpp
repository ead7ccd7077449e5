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

// Sums of points by bucket. Buckets are summed in groups, a lane each: a round adds the next point of every bucket of
// the group. They are in order of their numbers of points, so a round takes the first of them and leaves no gaps.
template <class F>
class Buckets {
 public:
  Buckets(std::span<const Affine<F>> points, unsigned bits)
      : points_(points),
        order_(points.size()),
        workspace_(workspace_bytes(bits)),
        sums_(make_sums(workspace_, bits)),
        out_(size_t{1} << bits) {}

  static uint64_t bytes(size_t points, unsigned bits) {
    return points * sizeof(uint32_t) + workspace_bytes(bits) + ((sizeof(Xyzz<F>) + 3 * sizeof(uint32_t)) << bits);
  }

  // bucket(i) of point i, below 2^bits.
  template <class Bucket>
  std::vector<Xyzz<F>>& sum(Bucket bucket) {
    std::vector<uint32_t> counts(out_.size()), ends(out_.size()), sorted(out_.size());
    for (size_t i = 0; i < points_.size(); i++) counts[bucket(i)]++;
    std::exclusive_scan(counts.begin(), counts.end(), ends.begin(), uint32_t{0});
    for (size_t i = 0; i < points_.size(); i++) order_[ends[bucket(i)]++] = static_cast<uint32_t>(i);

    std::iota(sorted.begin(), sorted.end(), 0);
    std::sort(sorted.begin(), sorted.end(), [&](uint32_t a, uint32_t b) { return counts[a] > counts[b]; });
    for (size_t begin = 0; begin < sorted.size(); begin += group(sorted.size())) {
      const auto buckets = std::span(sorted).subspan(begin, group(sorted.size()));
      sum_group(buckets, [&](uint32_t b) { return std::span(order_).subspan(ends[b] - counts[b], counts[b]); });
    }
    return out_;
  }

 private:
  // Lanes that stay in a second-level cache with what their additions need.
  static size_t group(size_t buckets) { return std::min<size_t>(buckets, std::is_same_v<F, Fp> ? 1024 : 512); }
  static uint64_t workspace_bytes(unsigned bits) {
    msm::Carver counter;
    msm::Sums<F>(counter, group(size_t{1} << bits));
    return counter.bytes();
  }
  static msm::Sums<F> make_sums(std::span<std::byte> workspace, unsigned bits) {
    msm::Carver carver(workspace);
    return msm::Sums<F>(carver, group(size_t{1} << bits));
  }

  // Sums each bucket's points, list(bucket), whose lengths do not grow.
  template <class List>
  void sum_group(std::span<const uint32_t> buckets, List list) {
    sums_.clear();
    size_t active = buckets.size(), chosen = 0;
    for (size_t round = 0; active > 0 || chosen > 0; round++) {
      while (active > 0 && list(buckets[active - 1]).size() <= round) active--;
      for (size_t i = 0; i < active; i++) sums_.next[i] = list(buckets[i])[round];
      std::fill(sums_.next.begin() + static_cast<ptrdiff_t>(active), sums_.next.end(), kNoPoint);
      if (chosen > 0) sums_.add_chosen(points_.data(), sums_.blocks_of(chosen));
      std::swap(sums_.choice, sums_.next);
      chosen = active;
    }
    for (size_t i = 0; i < buckets.size(); i++) out_[buckets[i]] = Xyzz<F>::from_affine(sums_.get(i));
  }

  std::span<const Affine<F>> points_;
  std::vector<uint32_t> order_;  // points by bucket
  std::vector<std::byte> workspace_;
  msm::Sums<F> sums_;
  std::vector<Xyzz<F>> out_;
};

// Buckets for a sixteenth of the points keep the folding small; more than 2^13 would save no pass until there are 2^16.
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
