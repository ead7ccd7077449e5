#pragma once
// Identities of a sector's replica and the nodes a PoRep is challenged on (filecoin-spec C.8).

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "filecoin/shapes.h"

namespace cuzk::filecoin {

// The miner's actor id as an unsigned LEB128 varint, zero padded.
Bytes32 prover_id(uint64_t actor_id);

// Below 2^254 as a little-endian number, hence an element of Fr.
Bytes32 replica_id(const Bytes32& prover_id, uint64_t sector_number, const Bytes32& ticket, const Bytes32& comm_d,
                   const Bytes32& porep_id);

// Challenges `first`, first + 1, ... of a proof over all its partitions; every one in [1, nodes).
std::vector<uint64_t> interactive_challenges(uint64_t nodes, const Bytes32& replica_id, const Bytes32& seed,
                                             uint64_t first, size_t count);
std::vector<uint64_t> non_interactive_challenges(uint64_t nodes, const Bytes32& replica_id, const Bytes32& comm_r,
                                                 uint64_t first, size_t count);

// The challenges whose vanilla proofs are made before the seed is known, and the choice among them.
class SyntheticChallenges {
 public:
  static constexpr uint64_t kMost = uint64_t{1} << 18;
  // `size` of them; the network's is min(nodes, kMost).
  SyntheticChallenges(uint64_t nodes, const Bytes32& replica_id, const Bytes32& comm_r, uint64_t size);
  SyntheticChallenges(uint64_t nodes, const Bytes32& replica_id, const Bytes32& comm_r);

  uint64_t size() const { return size_; }
  // Synthetic challenges `first`, first + 1, ...
  std::vector<uint64_t> generate(uint64_t first, size_t count) const;
  // Those a seed selects for challenges `first`, first + 1, ... of the proof.
  std::vector<uint64_t> select(const Bytes32& seed, uint64_t first, size_t count) const;

 private:
  uint64_t nodes_, size_;
  Bytes32 replica_id_, key_;
};

// What a PoRep states in public; node values, little-endian.
struct PorepStatement {
  Bytes32 replica_id, comm_d, comm_r;
  Bytes32 seed;  // without effect where the proof is non-interactive
};

// The challenges of a partition, in the order in which the circuit takes them.
std::vector<uint64_t> porep_challenges(const RegisteredProof& proof, const PorepShape& shape,
                                       const PorepStatement& statement, uint32_t partition);

}  // namespace cuzk::filecoin
