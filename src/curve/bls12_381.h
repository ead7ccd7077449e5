#pragma once
// The two groups of BLS12-381: E(Fp): y^2 = x^3 + 4 and E'(Fp2): y^2 = x^3 + 4(1 + u), both of prime order r in the
// subgroup that matters.

#include "curve/point.h"
#include "field/tower.h"

namespace cuzk {

using G1Affine = Affine<Fp>;
using G1 = Xyzz<Fp>;
using G2Affine = Affine<Fp2>;
using G2 = Xyzz<Fp2>;

// The standard generators (draft-irtf-cfrg-pairing-friendly-curves 4.2.1).
const G1Affine& g1_generator();
const G2Affine& g2_generator();

}  // namespace cuzk
