#pragma once
// Native check of a sector update's vanilla proofs before anything is proved (spec E.2).

#include "exec/pool.h"
#include "filecoin/update_vanilla.h"

namespace cuzk::filecoin {

// Whether the circuits of all partitions can be satisfied and verify: both comm_r, the challenges that comm_r_new
// gives, every Merkle path, the encoding of every challenged node, and that the apex leaves are those of comm_d_new.
// kUnsatisfied names partition, challenge and check of the first failure, such as "partition 3, challenge 7:
// proof_r_new: ..."; kInvalidInput for counts that are not the shape's. Partitions that are missing are passed over.
// Challenges are spread over the pool, 0.8 ms each at 32 GiB.
Status check_update(const SectorUpdate& update, exec::Pool& pool);

}  // namespace cuzk::filecoin
