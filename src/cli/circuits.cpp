#include "cli/circuits.h"

#include "filecoin/porep_circuit.h"

namespace cuzk::cli {

Result<r1cs::Circuit> compile_circuit(const CircuitOptions& options) {
  if (options.kind != "porep")
    return fail(Code::kUnimplemented, "circuits of kind '{}' are not built yet", options.kind);
  // Non-interactive PoRep has the same circuit and only more partitions (filecoin-spec C.1).
  CUZK_TRY_ASSIGN(filecoin::PorepShape shape, filecoin::porep_shape(options.sector_bytes));
  return filecoin::compile_porep(shape);
}

}  // namespace cuzk::cli
