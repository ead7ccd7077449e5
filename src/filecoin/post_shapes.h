#pragma once
// Proofs of spacetime: their circuits' shapes and the network's numbers (spec D.1, G.7, wire.md 1.9).

#include "filecoin/shapes.h"

namespace cuzk::filecoin {

enum class PostKind { kWinning, kWindow };
// "winning" or "window".
std::string_view post_kind_name(PostKind kind);

struct PostShape {
  PostKind kind;
  PorepShape sector;          // size, leaves and tree
  unsigned sectors;           // in one circuit
  unsigned challenges;        // of each of them
  unsigned proof_challenges;  // in the vanilla proof of one real sector

  // A Winning proof's challenges on its one sector are as many sectors of one challenge to the circuit.
  bool unrolled() const { return proof_challenges != challenges; }
};
// Winning: 66 sectors of 1 challenge; Window: 2 of 10 or, for 32 and 64 GiB, 2349 and 2300 of 10. kInvalidInput where
// there is no such sector size.
Result<PostShape> post_shape(PostKind kind, uint64_t sector_bytes);

// A kind of PoSt as requests name it.
struct RegisteredPost {
  std::string name;                // "StackedDrgWindow32GiBV1_2"
  std::optional<uint64_t> number;  // the network's; none where it registers no such proof
  PostKind kind;
  uint64_t sector_bytes;
  ApiVersion api;
};
// The network's PoSt proofs, 0 to 14; kInvalidInput for another number.
Result<RegisteredPost> registered_post(uint64_t number);
// Any sector size and version, registered or not; kInvalidInput where there is no such size or, for Winning, for a
// version other than 1.0, as the later rule would challenge one leaf 66 times.
Result<RegisteredPost> post_proof(PostKind kind, uint64_t sector_bytes, ApiVersion api);

// Reads "1.0.0", "1.1.0" or "1.2.0".
Result<ApiVersion> parse_api_version(std::string_view text);
std::string_view api_version_name(ApiVersion api);

}  // namespace cuzk::filecoin
