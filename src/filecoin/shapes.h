#pragma once
// What a sector size and a registered proof fix: trees, layers, challenges, partitions, API version (filecoin-spec C.1,
// G.7).

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace cuzk::filecoin {

inline constexpr unsigned kNodeBytes = 32;
inline constexpr unsigned kDrgDegree = 6, kExpanderDegree = 8;
// Parent labels hashed into a label: the 6 or 14 parents, repeated.
inline constexpr unsigned kLabelParents = 37;

// Arities of a Poseidon tree; 0 = level absent. Equal slices of the leaves form base trees, `sub` of their roots one
// sub tree, `top` sub roots the whole.
struct TreeShape {
  unsigned base, sub, top;
  bool operator==(const TreeShape&) const = default;
};

// The sector's leaves and trees, for PoRep, PoSt and update alike.
struct PorepShape {
  uint64_t sector_bytes;
  uint64_t nodes;  // leaves of every tree, a power of two
  TreeShape tree;  // of tree_c and tree_r_last; tree_d is always binary
  unsigned layers;
  unsigned challenges_per_partition;
  unsigned partitions;                  // interactive and synthetic
  unsigned non_interactive_partitions;  // the same circuit, more often

  unsigned log2_nodes() const { return static_cast<unsigned>(std::countr_zero(nodes)); }
};

// The ten sizes of C.1, ascending.
const std::vector<PorepShape>& porep_shapes();
// kInvalidInput where there is no such sector size; the message lists those there are.
Result<PorepShape> porep_shape(uint64_t sector_bytes);

// Arities along a leaf's path to the root in the Poseidon trees: base levels, then sub, then top. Bits of the leaf
// index come in the same order, least significant first.
std::vector<unsigned> path_arities(uint64_t nodes, const TreeShape& tree);
inline std::vector<unsigned> path_arities(const PorepShape& shape) { return path_arities(shape.nodes, shape.tree); }

enum class ApiVersion { kV1_0, kV1_1, kV1_2 };
// How challenges are drawn (C.8).
enum class ChallengeKind { kInteractive, kSynthetic, kNonInteractive };

// A kind of seal, as C1 files name it.
struct RegisteredProof {
  std::string name;                // "StackedDrg32GiBV1_1"
  std::optional<uint64_t> number;  // the network's; none where it registers no such proof
  uint64_t sector_bytes;
  ApiVersion api;
  ChallengeKind challenges;
  unsigned partitions;
  Bytes32 porep_id;  // seeds the graph and enters the replica id
};

// The network's seal proofs, 0 to 19 (G.7); kInvalidInput for any other name or number.
Result<RegisteredProof> registered_proof(std::string_view name);
Result<RegisteredProof> registered_proof(uint64_t number);
// A combination of size, version and feature that the network does not register, named alike (the reference vectors
// hold such sectors); its porep id is byte 255 and then the name. kInvalidInput where the name has another form or does
// not fit into the id.
Result<RegisteredProof> unregistered_proof(std::string_view name);

}  // namespace cuzk::filecoin
