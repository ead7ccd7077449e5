#pragma once
// Every circuit by its kind and sector size.

#include <string>

#include "base/result.h"
#include "r1cs/circuit.h"

namespace cuzk::filecoin {

// "porep", "winning", "window" or "update"; kInvalidInput for another, or a size that the kind does not have.
Result<r1cs::Circuit> compile_circuit(std::string_view kind, uint64_t sector_bytes);

// Name of the published parameters, without extension, of a circuit id such as "window-32GiB".
Result<std::string> parameter_name(std::string_view circuit_id);

}  // namespace cuzk::filecoin
