#pragma once
// Many independent affine additions, dozens of which share one inversion (Montgomery's trick): 5M + 1S each,
// against 8M + 2S for an addition to an XYZZ bucket. Complete: missing and infinite operands, equal and opposite
// points.

#include "curve/cuda/point.cuh"

namespace cuzk::msm {

using device::load, device::store;

// How one addition is done, from its operands.
enum class Sum : uint8_t { kSlope, kTangent, kFirst, kSecond, kInfinity };

template <class F>
__device__ __forceinline__ Sum classify(const Affine<F>& p, const Affine<F>& q) {
  if (p.is_infinity()) return Sum::kSecond;
  if (q.is_infinity()) return Sum::kFirst;
  if (p.x != q.x) return Sum::kSlope;
  return p.y == q.y && !p.y.is_zero() ? Sum::kTangent : Sum::kInfinity;
}

// False for all but one in 2^30 of the additions that have a slope; the rest take a closer look.
__device__ __forceinline__ uint32_t low_limb(const device::Fp& x) { return x.limbs[0]; }
__device__ __forceinline__ uint32_t low_limb(const device::Fp2& x) { return x.c0.limbs[0]; }
template <class F>
__device__ __forceinline__ bool may_be_special(const F& x1, const F& x2, const F& difference) {
  return low_limb(difference) == 0 || low_limb(x1) == 0 || low_limb(x2) == 0;
}

// Where the points of many independent sums are, and which belong together. One type for all, so that there is one
// kernel for each field: what is not told apart by types is told apart by pointers, at no cost beside the arithmetic.
template <class F>
struct Sums {
  static constexpr uint32_t kNegated = uint32_t{1} << 31;  // in values
  static constexpr uint32_t kAlone = uint32_t{1} << 31;    // in pairs

  const Affine<F>* points;
  const uint32_t* values = nullptr;  // element i is points[values[i]], negated with kNegated; or points[i]

  // Sum j adds elements pairs[j] and pairs[j] + 1, or with kAlone is the first.
  const uint32_t* pairs = nullptr;
  // Or sum j adds element r of a block of 2 * half and element r + half.
  uint64_t half = 0;
  // Or sum j adds elements 2j and 2j + 1, where both are below count.
  uint64_t count = 0;

  struct Operands {
    uint32_t first, second;  // of points, with kNegated
    bool has_second;
  };
  __device__ __forceinline__ Operands operands(uint64_t j) const {
    uint64_t i = 2 * j, step = 1;
    bool has_second = i + 1 < count;
    if (pairs) {
      i = pairs[j] & ~kAlone;
      has_second = !(pairs[j] & kAlone);
    } else if (half > 0) {
      i = j / half * 2 * half + j % half;
      step = half;
      has_second = true;
    }
    const auto element = [&](uint64_t at) { return values ? values[at] : static_cast<uint32_t>(at); };
    return {element(i), has_second ? element(i + step) : 0, has_second};
  }
  __device__ __forceinline__ F x(uint32_t place) const { return load(&points[place & ~kNegated].x); }
  __device__ __forceinline__ Affine<F> point(uint32_t place) const {
    Affine<F> p = load(points + (place & ~kNegated));
    if (place & kNegated) p.y = -p.y;
    return p;
  }
};

// Each thread makes up to kMostEach sums with an inversion of its own: one costs as much as 35 products when all lanes
// make one. Sharing it in a block, by a product tree in shared memory, was slower (3.38 against 3.50 G additions/s at
// 32 each on an H200), and more of them gain little (3.71 at 64, 3.75 at 128).
constexpr unsigned kAddThreads = 128, kMostEach = 64;

// out[j] = first + second (or first alone) for j < count. Each thread makes `each` <= kMostEach sums, with consecutive
// threads on consecutive j. x is read twice: for the product of the denominators and for the sum. Where the operands of
// the next sum are is read while this one is made, so that only one load waits for another.
template <class F>
__global__ __launch_bounds__(kAddThreads) void add_pairs(Sums<F> sums, uint64_t count, unsigned each, Affine<F>* out) {
  const uint64_t first = uint64_t{blockIdx.x} * kAddThreads * each + threadIdx.x;
  if (first >= count) return;
  const uint64_t left = (count - first + kAddThreads - 1) / kAddThreads;
  const unsigned mine = left < each ? static_cast<unsigned>(left) : each;
  const auto operands = [&](unsigned i) { return sums.operands(first + uint64_t{i} * kAddThreads); };
  F prefix[kMostEach];  // in local memory: products of the denominators before
  F product = F::one();
  auto next = operands(0);
#pragma unroll 1
  for (unsigned i = 0; i < mine; i++) {
    const auto at = next;
    if (i + 1 < mine) next = operands(i + 1);
    prefix[i] = product;
    if (!at.has_second) continue;
    const F x1 = sums.x(at.first), x2 = sums.x(at.second);
    F denominator = x2 - x1;
    if (may_be_special(x1, x2, denominator)) {
      const Affine<F> p = sums.point(at.first);
      const Sum kind = classify(p, sums.point(at.second));
      if (kind != Sum::kSlope && kind != Sum::kTangent) continue;
      if (kind == Sum::kTangent) denominator = p.y.dbl();
    }
    product = product * denominator;
  }
  F inverse = product.inverse();
#pragma unroll 1
  for (unsigned i = mine; i-- > 0;) {
    const auto at = next;
    if (i > 0) next = operands(i - 1);
    Affine<F>* const to = out + first + uint64_t{i} * kAddThreads;
    const Affine<F> p = sums.point(at.first);
    if (!at.has_second) {
      store(to, p);
      continue;
    }
    const Affine<F> q = sums.point(at.second);
    F numerator = q.y - p.y, denominator = q.x - p.x;
    if (may_be_special(p.x, q.x, denominator)) {
      const Sum kind = classify(p, q);
      if (kind == Sum::kTangent) {
        numerator = p.x.square();
        numerator = numerator.dbl() + numerator;
        denominator = p.y.dbl();
      } else if (kind != Sum::kSlope) {
        store(to, kind == Sum::kFirst ? p : kind == Sum::kSecond ? q : Affine<F>::infinity());
        continue;
      }
    }
    const F slope = numerator * (inverse * prefix[i]);
    inverse = inverse * denominator;
    const F x = slope.square() - p.x - q.x;
    store(to, Affine<F>{x, slope * (p.x - x) - p.y});
  }
}

}  // namespace cuzk::msm
