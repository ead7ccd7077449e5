#pragma once
// The vanilla proof of a PoSt, one a sector (spec D.4, G.5): read, written and checked natively.

#include <span>

#include "exec/pool.h"
#include "field/fields.h"
#include "filecoin/post_shapes.h"
#include "filecoin/vanilla.h"

namespace cuzk::filecoin {

// FallbackPoStSectorProof: openings of a sector's replica tree at its challenges.
struct PostSectorProof {
  uint64_t sector_id = 0;
  Bytes32 comm_r{}, comm_c{}, comm_r_last{};
  std::vector<MerkleProof> inclusion;  // in order of challenges
  bool operator==(const PostSectorProof&) const = default;
};

// Of exactly the shape's counts, arities and path lengths, every node value below r; kInvalidInput names the field.
// Bytes after the proof are ignored, as the reference does.
Result<PostSectorProof> read_post_proof(ByteSpan bincode, const PostShape& shape);
Bytes write_post_proof(const PostSectorProof& proof, const PostShape& shape);
size_t post_proof_bytes(const PostShape& shape);

// What a PoSt states in public. Sectors are in ascending order of id.
struct PostStatement {
  struct Sector {
    uint64_t id;
    Bytes32 comm_r;
  };
  Bytes32 randomness{};
  std::vector<Sector> sectors;
  uint32_t first_partition = 0;  // of a deadline; counts in challenges before version 1.2
};
// Proofs that the sectors need, each the circuit's number of them but for the last.
uint32_t post_partitions(const PostShape& shape, size_t sectors);
// The leaves that sector number `position` of the statement is challenged on, the vanilla proof's number of them (D.3).
std::vector<uint64_t> post_challenges(const PostShape& shape, ApiVersion api, const PostStatement& statement,
                                      size_t position);
// The inputs of a partition without ONE; the last sector fills up an incomplete one. kInvalidInput where there is no
// such partition or a comm_r is not below r.
Result<std::vector<Fr>> post_public_inputs(const PostShape& shape, ApiVersion api, const PostStatement& statement,
                                           uint32_t partition);

// Whether every sector's openings are those that the statement asks for. kUnsatisfied names sector and challenge of the
// first failure, such as "sector 5, challenge 7: its path does not lead to its root". Sectors are spread over the pool.
Status check_post(const PostShape& shape, ApiVersion api, const PostStatement& statement,
                  std::span<const PostSectorProof> proofs, exec::Pool& pool);

}  // namespace cuzk::filecoin
