#pragma once
// A PoRep as something to prove.

#include <memory>

#include "exec/pool.h"
#include "filecoin/c1.h"
#include "filecoin/check.h"
#include "groth16/circuit_source.h"

namespace cuzk::filecoin {

// From the output of seal commit phase 1, bare or wrapped. Errors are those of parse_c1 and check_vanilla.
Result<std::shared_ptr<const groth16::CircuitSource>> make_porep_source(ByteSpan c1, exec::Pool& pool,
                                                                        VanillaCheck check = VanillaCheck::kFull);

}  // namespace cuzk::filecoin
