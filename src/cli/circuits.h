#pragma once
// Circuits by kind and sector size, for the commands that need no sector.

#include "cli/commands.h"
#include "r1cs/circuit.h"

namespace cuzk::cli {

Result<r1cs::Circuit> compile_circuit(const CircuitOptions& options);

}  // namespace cuzk::cli
