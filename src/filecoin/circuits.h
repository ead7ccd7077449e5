#pragma once
// Every circuit by its kind and sector size.

#include <string>

#include "base/result.h"
#include "r1cs/circuit.h"

namespace cuzk::filecoin {

// "porep", "winning", "window" or "update"; kInvalidInput for another, or a size that the kind does not have.
Result<r1cs::Circuit> compile_circuit(std::string_view kind, uint64_t sector_bytes);

// What a name of a circuit says: an id such as "window-32GiB", or the shorter form that clients have always used:
// porep-32g, wpost-32g, winning-32g, snap-32g. kNotFound "unknown circuit ID: NAME".
struct CircuitName {
  std::string kind;  // as compile_circuit takes it
  uint64_t sector_bytes;

  std::string id() const;
};
Result<CircuitName> parse_circuit_name(std::string_view name);

// Name of the published parameters, without extension, of a circuit id such as "window-32GiB".
Result<std::string> parameter_name(std::string_view circuit_id);

}  // namespace cuzk::filecoin
