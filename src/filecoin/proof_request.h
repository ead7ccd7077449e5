#pragma once
// A proof as clients ask for it (wire.md 1.2, 1.5, 1.8), and what is to be proved then.

#include <memory>
#include <vector>

#include "base/bytes.h"
#include "exec/pool.h"
#include "groth16/circuit_source.h"

namespace cuzk::filecoin {

// Numbers of cuzk.v1.ProofKind.
enum class ProofKind : int { kPorep = 1, kUpdate = 2, kWindowPost = 3, kWinningPost = 4 };

// Views into the message; each kind reads the fields it needs.
struct ProofRequest {
  ProofKind kind = ProofKind::kPorep;
  uint64_t registered_proof = 0;  // PoSt and update; a C1 names its own
  uint64_t sector_bytes = 0;      // as the client states it; 0: not at all
  uint64_t sector_number = 0, miner_id = 0;
  ByteSpan vanilla_proof;                       // PoRep: C1
  std::vector<ByteSpan> vanilla_proofs;         // PoSt: one a sector; update: one a partition
  ByteSpan randomness;                          // PoSt
  uint32_t partition_index = 0;                 // WindowPoSt
  ByteSpan comm_r_old, comm_r_new, comm_d_new;  // update
};

// Parsed and natively checked on the pool, which outlives the source. An error's message begins as clients expect it:
// "C1 parse failed: ", "WindowPoSt check failed: ".
Result<std::shared_ptr<const groth16::CircuitSource>> make_source(const ProofRequest& request, exec::Pool& pool);

}  // namespace cuzk::filecoin
