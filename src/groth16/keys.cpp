#include "groth16/keys.h"

namespace cuzk::groth16 {

Lengths lengths_of(const r1cs::Circuit& circuit) {
  uint64_t b = circuit.density.b_inputs_count + circuit.density.b_aux_count;
  return {.ic = circuit.num_inputs,
          .h = (uint64_t{1} << r1cs::log2_domain(circuit)) - 1,
          .l = circuit.num_aux,
          .a = circuit.num_inputs + circuit.density.a_aux_count,
          .b_g1 = b,
          .b_g2 = b};
}

Lengths lengths_of(const Parameters& p) {
  return {p.vk.ic.size(), p.h.size(), p.l.size(), p.a.size(), p.b_g1.size(), p.b_g2.size()};
}

}  // namespace cuzk::groth16
