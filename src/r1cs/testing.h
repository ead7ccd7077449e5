#pragma once
// Witnesses in tests. Used by tests only.

#include <algorithm>

#include "r1cs/witness.h"

namespace cuzk::r1cs::testing {

inline mem::Reservation room_for(const Circuit& circuit) { return mem::unbudgeted(witness_bytes(circuit)); }
inline Witness make_witness(const Circuit& circuit) { return Witness::make(circuit, room_for(circuit)).value(); }

inline Witness copy(const Circuit& circuit, const Assignment& from) {
  Witness to = make_witness(circuit);
  std::ranges::copy(from.inputs, to.inputs.begin());
  std::ranges::copy(from.bits, to.bits.begin());
  std::ranges::copy(from.fields, to.fields.begin());
  return to;
}

}  // namespace cuzk::r1cs::testing
