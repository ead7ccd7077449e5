#pragma once
// Made-up sectors: vanilla proofs that hold without anything having been sealed.

#include <string>

#include "base/result.h"
#include "exec/pool.h"
#include "filecoin/vanilla.h"

namespace cuzk::filecoin {

// The C1 output of a made-up sector that passes check_vanilla and satisfies the circuit, at any size; equal arguments
// give equal bytes. `registered_proof` is a name as in spec G.7 with interactive challenges: synthetic and
// non-interactive challenges depend on comm_r, which depends on them in turn unless the sector is really sealed
// (kUnimplemented). 32 GiB takes 0.8 s of one core and 25 MB.
//
// How: the data tree has 64 kinds of node a level, so that every leaf can be opened before the challenges, which depend
// on its root, are known. The column and replica trees hold the nodes that proofs touch; every other subtree is one
// random value. Labels of challenged nodes follow from those of their parents, others are random.
Result<SealCommit> synthetic_porep(std::string_view registered_proof, uint64_t seed, exec::Pool& pool);
// The same for a sector size, with the api version in use on the network, "StackedDrg32GiBV1_1".
Result<SealCommit> synthetic_porep(uint64_t sector_bytes, uint64_t seed, exec::Pool& pool);

}  // namespace cuzk::filecoin
