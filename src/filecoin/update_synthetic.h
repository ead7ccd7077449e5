#pragma once
// Updates of made-up sectors.

#include "exec/pool.h"
#include "filecoin/update_vanilla.h"

namespace cuzk::filecoin {

// All partitions of an update that passes check_update and satisfies the circuit, at any size; equal arguments give
// equal proofs. 32 GiB takes 4 s of one core and 20 MB.
//
// How: challenges depend on comm_r_new, so every leaf of all three trees must be open to them. The trees have 16 kinds
// of node a level; a leaf of the new replica also depends on its high bits through rho, so that part of the tree is
// made 2^h times.
SectorUpdate synthetic_update(const UpdateShape& shape, uint64_t seed, exec::Pool& pool);

}  // namespace cuzk::filecoin
