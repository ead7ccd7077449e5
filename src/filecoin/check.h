#pragma once
// Native check of a PoRep vanilla proof before anything is proved (spec C.10).

#include "base/result.h"
#include "exec/pool.h"
#include "filecoin/vanilla.h"

namespace cuzk::filecoin {

// kFull finds a false proof in milliseconds and names the check that failed; kNone leaves that to the circuit's rows.
enum class VanillaCheck { kNone, kFull };

// Whether the circuits of all partitions can be satisfied and verify: challenges derived from the seed (or, by the
// registered proof, synthetic or non-interactive), parents as the graph has them, every Merkle path, column hash,
// label, the encoding, and comm_r. kUnsatisfied names partition, challenge and check of the first failure in order of
// challenges, such as "partition 3, challenge 7, drg_parents[2]: ..."; kInvalidInput for an unknown registered proof or
// wrong counts. replica_id itself is not derived: the miner is not known here. Challenges are spread over the pool, 2.2
// ms each at 32 GiB on a core of a Xeon.
Status check_vanilla(const SealCommit& commit, exec::Pool& pool);

}  // namespace cuzk::filecoin
