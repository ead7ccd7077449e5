#pragma once
// The vanilla proof of a sector update (spec E.2, E.3, G.6). Node values are 32 bytes, little-endian.

#include <optional>

#include "field/fields.h"
#include "filecoin/update_shapes.h"
#include "filecoin/vanilla.h"

namespace cuzk::filecoin {

// What an update states in public.
struct UpdateStatement {
  Bytes32 comm_r_old{}, comm_d_new{}, comm_r_new{};
  bool operator==(const UpdateStatement&) const = default;
};

// Of one partition.
struct UpdateProof {
  struct Challenge {
    MerkleProof r_old, d_new, r_new;
    bool operator==(const Challenge&) const = default;
  };
  Bytes32 comm_c{};
  std::vector<Bytes32> apex_leaves;
  std::vector<Challenge> challenges;
  bool operator==(const UpdateProof&) const = default;
};

struct SectorUpdate {
  UpdateShape shape;
  UpdateStatement statement;
  // One a partition; none where a set of files lacks it, so that the others can be looked at.
  std::vector<std::optional<UpdateProof>> partitions;
};

// Bincode. Every count is the shape's and every node value below r; kInvalidInput names what is not, such as
// "challenge_proofs[3].proof_r_old.path[2].hashes[1] is ...".
size_t update_proof_bytes(const UpdateShape& shape);
Result<UpdateProof> read_update_proof(const UpdateShape& shape, ByteSpan bytes);
Bytes write_update_proof(const UpdateShape& shape, const UpdateProof& proof);

// Poseidon of two numbers under the tag of the update's randomness.
Fr update_digest(const Fr& x, const Fr& y);
// Of all nodes: phi.
inline Fr update_phi(const Fr& comm_d_new, const Fr& comm_r_old) { return update_digest(comm_d_new, comm_r_old); }
// Of the nodes with these high bits: rho. New replica = old replica + data * rho.
inline Fr update_rho(const Fr& phi, uint64_t high) { return update_digest(phi, Fr::from_u64(high)); }

// The nodes that a partition is challenged on, in the order in which the circuit takes them.
std::vector<uint64_t> update_challenges(const UpdateShape& shape, const Fr& comm_r_new, uint32_t partition);

// The first number that the circuit takes: the partition, and above it which of hs is in use, as one of six bits.
uint64_t update_selector(const UpdateShape& shape, uint32_t partition);
// The verifier's inputs of a partition, without ONE. kInvalidInput where there is no such partition or a value of the
// statement is not below r.
Result<std::vector<Fr>> update_public_inputs(const UpdateShape& shape, const UpdateStatement& statement,
                                             uint32_t partition);

}  // namespace cuzk::filecoin
