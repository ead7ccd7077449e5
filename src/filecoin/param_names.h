#pragma once
// File names of the published parameters: a digest of what fixes the circuit (filecoin-spec F.7). Names come without
// extension; ".params" and ".vk" follow.

#include <string>

#include "filecoin/shapes.h"

namespace cuzk::filecoin {

// "merkletree-poseidon_hasher-8-8-0" for 32 GiB.
std::string tree_name(const TreeShape& tree);

std::string porep_parameter_name(const PorepShape& shape);
// Counts are the circuit's: WinningPoSt has 66 sectors of one challenge.
std::string post_parameter_name(const PorepShape& shape, unsigned challenges_per_sector, unsigned sectors);
std::string update_parameter_name(const PorepShape& shape);

}  // namespace cuzk::filecoin
