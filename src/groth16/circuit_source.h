#pragma once
// The seam between the circuits (filecoin) and whoever runs proofs (engine): neither knows the other.

#include <string>
#include <vector>

#include "base/result.h"
#include "exec/pool.h"
#include "r1cs/witness.h"

namespace cuzk::groth16 {

// A statement to prove, one circuit, one or more partitions. Methods are const and may be called from several threads.
class CircuitSource {
 public:
  virtual ~CircuitSource() = default;

  // Names the circuit and its parameters, such as "porep-2KiB"; equal ids mean equal circuits.
  virtual std::string circuit_id() const = 0;
  // Compiles the circuit; the caller keeps it (engine: circuit store).
  virtual Result<r1cs::Circuit> compile() const = 0;
  virtual uint32_t partitions() const = 0;
  // The verifier's inputs of a partition, without ONE.
  virtual Result<std::vector<Fr>> public_inputs(uint32_t partition) const = 0;
  // The values of a partition for the compiled circuit, inputs included. `to` is as Witness::make() makes it.
  virtual Status assign(uint32_t partition, const r1cs::Circuit& circuit, const r1cs::Assignment& to) const = 0;

  // The same in new memory, of r1cs::witness_bytes(circuit).
  Result<r1cs::Witness> synthesise(uint32_t partition, const r1cs::Circuit& circuit, mem::Reservation memory) const {
    CUZK_TRY_ASSIGN(r1cs::Witness witness, r1cs::Witness::make(circuit, std::move(memory)));
    CUZK_TRY(assign(partition, circuit, witness));
    return witness;
  }
};

}  // namespace cuzk::groth16
