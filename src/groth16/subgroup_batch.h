#pragma once
// Membership of many points in the subgroup of order r, at about seven additions a point instead of a scalar
// multiplication each.
//
// The bucket test of Bellare, Garay, Rabin 1998, "Fast batch verification for modular exponentiation and digital
// signatures", section 4: a random subset of points that are not all in the subgroup has a sum outside it with
// probability at least 1/2. One pass throws every point into one of 2^c random buckets; the c subsets "bit j of the
// bucket is set" are then c independent tests for one addition a point. At least kSubgroupTests of them are made, with
// bits from the operating system.

#include <span>

#include "base/result.h"
#include "curve/bls12_381.h"

namespace cuzk::groth16 {

inline constexpr unsigned kSubgroupTests = 64;

// Index of the first point outside the subgroup, or points.size() where all are inside, wrong with probability at most
// 2^-64. The points must be on the curve. Single-threaded.
template <class F>
Result<size_t> first_outside_subgroup(std::span<const Affine<F>> points);

extern template Result<size_t> first_outside_subgroup<Fp>(std::span<const Affine<Fp>>);
extern template Result<size_t> first_outside_subgroup<Fp2>(std::span<const Affine<Fp2>>);

}  // namespace cuzk::groth16
