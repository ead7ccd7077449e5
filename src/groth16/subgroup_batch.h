#pragma once
// Membership of many points in the subgroup of order r, at about five additions a point instead of a scalar
// multiplication each.
//
// The bucket test of Bellare, Garay, Rabin 1998, "Fast batch verification for modular exponentiation and digital
// signatures", section 4. A pass throws every point into one of 2^c random buckets; the c subsets "bit j of the bucket
// is set" are then c tests for one addition a point. At least kSubgroupTests of them are made in all, with bits from
// the operating system.
//
// Bound. Let a point P be outside. Whatever the bits of the other points, the sum of a subset is inside for at most one
// of the two values of P's bit, or P would be the difference of two points inside. The bits of P are independent, so
// all tests pass with probability at most 2^-kSubgroupTests. That holds for any cofactor: coefficients from more than
// two values would not do better, as two points in one bucket may cancel, so a pass never tells more than log2 of its
// buckets.

#include <span>

#include "base/result.h"
#include "curve/bls12_381.h"

namespace cuzk::groth16 {

inline constexpr unsigned kSubgroupTests = 64;
// The workspace of a call with so many points or fewer, in G1 or G2.
uint64_t subgroup_batch_bytes(size_t points);

// Index of the first point outside the subgroup, or points.size() where all are inside, wrong with probability at most
// 2^-64. The points must be on the curve. Single-threaded; best on a million points or more at once. kResourceExhausted
// where the workspace is less than subgroup_batch_bytes().
template <class F>
Result<size_t> first_outside_subgroup(std::span<const Affine<F>> points, std::span<std::byte> workspace);

extern template Result<size_t> first_outside_subgroup<Fp>(std::span<const Affine<Fp>>, std::span<std::byte>);
extern template Result<size_t> first_outside_subgroup<Fp2>(std::span<const Affine<Fp2>>, std::span<std::byte>);

}  // namespace cuzk::groth16
