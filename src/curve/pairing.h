#pragma once
// The optimal ate pairing of BLS12-381, e: G1 x G2 -> the r-th roots of unity in Fp12.
//
// Every function here expects points of the r-order subgroups (curve/encoding.h checks them) or infinity.
//
// Sources: Vercauteren 2008 (optimal pairings); Aranha, Karabina, Longa, Gebotys, Lopez 2010 (steps of the Miller loop
// in homogeneous coordinates); Scott 2005 (products share squarings and the final exponentiation); Hayashida, Hayasaka,
// Teruya 2020 "Efficient final exponentiation via cyclotomic structure for pairings over families of elliptic curves".

#include <span>
#include <utility>

#include "curve/bls12_381.h"

namespace cuzk {

using PairingInput = std::pair<G1Affine, G2Affine>;

// Product of the Miller functions of all pairs, up to factors that the final exponentiation removes. A pair with
// infinity counts as one.
Fp12 miller_loop(std::span<const PairingInput> pairs);
// value^(3 (p^12 - 1)/r). The factor 3 is what the formula gives for free; it is prime to r, so e stays a pairing, and
// it is the value that other libraries give too. Zero maps to zero.
Fp12 final_exponentiation(const Fp12& value);

Fp12 pairing(const G1Affine& p, const G2Affine& q);
// True where the product of all e(P_i, Q_i) is one.
bool pairing_product_is_one(std::span<const PairingInput> pairs);

}  // namespace cuzk
