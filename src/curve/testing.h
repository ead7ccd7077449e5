#pragma once
// Random points for tests and benchmarks.

#include "base/testing.h"
#include "curve/bls12_381.h"
#include "field/sqrt.h"

namespace cuzk::testing {

template <class F>
F random_element(std::mt19937_64& random) {
  if constexpr (std::is_same_v<F, Fp2>) {
    return {random_field<Fp>(random), random_field<Fp>(random)};
  } else {
    return random_field<F>(random);
  }
}

// A uniform point of the curve, hardly ever in the r-order subgroup.
template <class F>
Affine<F> random_curve_point(std::mt19937_64& random) {
  const F b = [] {
    if constexpr (std::is_same_v<F, Fp2>) return Fp2{Fp::from_u64(4), Fp::from_u64(4)};
    if constexpr (std::is_same_v<F, Fp>) return Fp::from_u64(4);
  }();
  for (;;) {
    F x = random_element<F>(random);
    if (auto y = sqrt(x * x * x + b)) return {x, random() % 2 ? *y : -*y};
  }
}

// A uniform point of the r-order subgroup.
inline G1Affine random_g1(std::mt19937_64& random) {
  return scalar_mul(G1::from_affine(g1_generator()), random_field<Fr>(random).canonical()).to_affine();
}
inline G2Affine random_g2(std::mt19937_64& random) {
  return scalar_mul(G2::from_affine(g2_generator()), random_field<Fr>(random).canonical()).to_affine();
}

}  // namespace cuzk::testing
