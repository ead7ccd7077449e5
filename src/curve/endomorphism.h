#pragma once
// The constants of the curves and of the endomorphisms that tell their subgroups of order r apart, for host and device.
// Scott 2021, "A note on group membership tests for G1, G2 and GT on BLS pairing-friendly curves".

#include "curve/bls12_381.h"

namespace cuzk {

// b of y^2 = x^3 + b.
template <class F>
inline constexpr F kCurveB = {};
template <>
inline constexpr Fp kCurveB<Fp> = Fp::from_u64(4);
template <>
inline constexpr Fp2 kCurveB<Fp2> = {Fp::from_u64(4), Fp::from_u64(4)};

// |z| of the curve parameter z = -0xd201000000010000, from which p = (z - 1)^2 (z^4 - z^2 + 1)/3 + z and r = z^4 - z^2
// + 1.
inline constexpr uint64_t kAbsZ = 0xd201000000010000;

// A primitive cube root of unity in Fp, (-1 - sqrt(-3))/2; of the two, the one for which (x, y) -> (beta x, y)
// multiplies the subgroup by -z^2 (the other multiplies by z^2 - 1).
inline constexpr Fp kBeta = *Fp::from_canonical({0x2e01fffffffefffe, 0xde17d813620a0002, 0xddb3a93be6f89688,
                                                 0xba69c6076a0f77ea, 0x5f19672fdf76ce51, 0x0000000000000000});
// psi = (untwist, p-th power, twist): (x, y) -> (conj(x)/W^2, conj(y)/W^3) with W = xi^((p-1)/6) multiplies the
// subgroup by z. As W^6 = xi^(p-1) = -u, W^12 = -1.
namespace endomorphism {
inline constexpr Fp2 kW3 = kFrobeniusW * kFrobeniusW * kFrobeniusW, kW9 = kW3 * kW3 * kW3;
}
inline constexpr Fp2 kPsiX = -(endomorphism::kW9 * kFrobeniusW), kPsiY = -endomorphism::kW9;

}  // namespace cuzk
