#include "groth16/subgroup_batch.h"

#include <algorithm>
#include <bit>
#include <numeric>

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
bool subset_sums_inside(std::span<Xyzz<F>> buckets) {
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

// Buckets for a sixteenth of the points keep the folding small; more than 2^13 would save no pass until there are 2^16.
unsigned bucket_bits(size_t points) {
  return static_cast<unsigned>(std::clamp(static_cast<int>(std::bit_width(points)) - 4, 1, 13));
}

// The arrays of a test of so many points.
template <class F>
struct Memory {
  unsigned bits;
  std::span<uint16_t> random;
  std::span<uint32_t> order;                 // points by bucket
  std::span<uint32_t> counts, ends, sorted;  // by bucket; buckets by their numbers of points
  std::span<Xyzz<F>> buckets;
  msm::Sums<F> sums;

  Memory(size_t points, mem::Carver& memory)
      : bits(bucket_bits(points)),
        random(memory.take<uint16_t>(points)),
        order(memory.take<uint32_t>(points)),
        counts(memory.take<uint32_t>(size_t{1} << bits)),
        ends(memory.take<uint32_t>(size_t{1} << bits)),
        sorted(memory.take<uint32_t>(size_t{1} << bits)),
        buckets(memory.take<Xyzz<F>>(size_t{1} << bits)),
        sums(memory, group(size_t{1} << bits)) {}

  // Lanes that stay in a second-level cache with what their additions need.
  static size_t group(size_t buckets) { return std::min<size_t>(buckets, std::is_same_v<F, Fp> ? 1024 : 512); }
};

// Sums each bucket's points, list(bucket), whose lengths do not grow.
template <class F, class List>
void sum_group(std::span<const Affine<F>> points, std::span<const uint32_t> group, Memory<F>& memory, List list) {
  msm::Sums<F>& sums = memory.sums;
  sums.clear();
  size_t active = group.size(), chosen = 0;
  for (size_t round = 0; active > 0 || chosen > 0; round++) {
    while (active > 0 && list(group[active - 1]).size() <= round) active--;
    for (size_t i = 0; i < active; i++) sums.next[i] = list(group[i])[round];
    std::fill(sums.next.begin() + static_cast<ptrdiff_t>(active), sums.next.end(), kNoPoint);
    if (chosen > 0) sums.add_chosen(points.data(), sums.blocks_of(chosen));
    std::swap(sums.choice, sums.next);
    chosen = active;
  }
  for (size_t i = 0; i < group.size(); i++) memory.buckets[group[i]] = Xyzz<F>::from_affine(sums.get(i));
}

// Sums of points by bucket, bucket(i) of point i. Buckets are summed in groups, a lane each: a round adds the next
// point of every bucket of the group. They are in order of their numbers of points, so a round takes the first of them
// and leaves no gaps.
template <class F, class Bucket>
void sum_buckets(std::span<const Affine<F>> points, Memory<F>& memory, Bucket bucket) {
  const auto order = memory.order, counts = memory.counts, ends = memory.ends, sorted = memory.sorted;
  std::ranges::fill(counts, 0);
  for (size_t i = 0; i < points.size(); i++) counts[bucket(i)]++;
  std::exclusive_scan(counts.begin(), counts.end(), ends.begin(), uint32_t{0});
  for (size_t i = 0; i < points.size(); i++) order[ends[bucket(i)]++] = static_cast<uint32_t>(i);

  std::iota(sorted.begin(), sorted.end(), 0);
  std::sort(sorted.begin(), sorted.end(), [&](uint32_t a, uint32_t b) { return counts[a] > counts[b]; });
  const size_t group = Memory<F>::group(sorted.size());
  for (size_t begin = 0; begin < sorted.size(); begin += group) {
    sum_group(points, std::span<const uint32_t>(sorted).subspan(begin, group), memory,
              [&](uint32_t b) { return order.subspan(ends[b] - counts[b], counts[b]); });
  }
}

template <class F>
Result<bool> all_inside(std::span<const Affine<F>> points, std::span<std::byte> workspace) {
  mem::Carver carver(workspace);
  Memory<F> memory(points.size(), carver);
  const uint32_t mask = (uint32_t{1} << memory.bits) - 1;
  for (unsigned tests = 0; tests < kSubgroupTests; tests += memory.bits) {
    CUZK_TRY(random_bytes({reinterpret_cast<uint8_t*>(memory.random.data()), memory.random.size_bytes()}));
    sum_buckets(points, memory, [&](size_t i) { return memory.random[i] & mask; });
    if (!subset_sums_inside(memory.buckets)) return false;
  }
  return true;
}

}  // namespace

uint64_t subgroup_batch_bytes(size_t points) {
  mem::Carver in_g1, in_g2;
  Memory<Fp>(points, in_g1);
  Memory<Fp2>(points, in_g2);
  return std::max(in_g1.bytes(), in_g2.bytes());
}

template <class F>
Result<size_t> first_outside_subgroup(std::span<const Affine<F>> points, std::span<std::byte> workspace) {
  if (points.size() <= kSmallBatch) {
    for (size_t i = 0; i < points.size(); i++) {
      if (!in_subgroup(points[i])) return i;
    }
    return points.size();
  }
  if (const uint64_t bytes = subgroup_batch_bytes(points.size()); workspace.size() < bytes)
    return fail(Code::kResourceExhausted, "a test of {} points takes {} bytes of workspace, not {}", points.size(),
                bytes, workspace.size());
  CUZK_TRY_ASSIGN(bool inside, all_inside(points, workspace));
  if (inside) return points.size();
  size_t half = points.size() / 2;
  CUZK_TRY_ASSIGN(size_t lower, first_outside_subgroup(points.first(half), workspace));
  if (lower < half) return lower;
  CUZK_TRY_ASSIGN(size_t upper, first_outside_subgroup(points.subspan(half), workspace));
  return half + upper;
}

template Result<size_t> first_outside_subgroup<Fp>(std::span<const Affine<Fp>>, std::span<std::byte>);
template Result<size_t> first_outside_subgroup<Fp2>(std::span<const Affine<Fp2>>, std::span<std::byte>);

}  // namespace cuzk::groth16
