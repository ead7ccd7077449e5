#pragma once
// A sector update as something to prove.

#include <memory>

#include "filecoin/check.h"
#include "filecoin/update_input.h"
#include "groth16/circuit_source.h"

namespace cuzk::filecoin {

// Errors are those of check_update. A partition that is missing has public inputs but no witness.
Result<std::shared_ptr<const groth16::CircuitSource>> make_update_source(SectorUpdate update, exec::Pool& pool,
                                                                         VanillaCheck check = VanillaCheck::kFull);
// Also those of parse_update and read_update.
Result<std::shared_ptr<const groth16::CircuitSource>> make_update_source(const UpdateRequest& request, exec::Pool& pool,
                                                                         VanillaCheck check = VanillaCheck::kFull);
Result<std::shared_ptr<const groth16::CircuitSource>> make_update_source_from_json(
    const std::filesystem::path& json, exec::Pool& pool, VanillaCheck check = VanillaCheck::kFull);

}  // namespace cuzk::filecoin
