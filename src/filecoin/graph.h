#pragma once
// The graph of stacked DRG sealing: which nodes are hashed into a node's label (filecoin-spec C.9).

#include <array>
#include <cstdint>

#include "base/bytes.h"
#include "filecoin/shapes.h"

namespace cuzk::filecoin {

class Graph {
 public:
  // `nodes` is a power of two, at least 2.
  Graph(uint64_t nodes, ApiVersion api, const Bytes32& porep_id);

  uint64_t nodes() const { return nodes_; }
  // Nodes of the same layer, all below `node` (nodes 0 and 1: all zero). 0.2 us.
  std::array<uint64_t, kDrgDegree> drg_parents(uint64_t node) const;
  // Nodes of the layer before, anywhere in it. 13 us, nearly all of it in BLAKE2b.
  std::array<uint64_t, kExpanderDegree> expander_parents(uint64_t node) const;

 private:
  // A pseudorandom permutation of [0, 8 nodes): unbalanced Feistel network, three rounds, cycle walking.
  uint64_t permute(uint64_t value) const;

  uint64_t nodes_;
  ApiVersion api_;
  Bytes32 drg_key_;  // the last four bytes are overwritten by the node
  std::array<uint64_t, 3> feistel_keys_;
  unsigned half_bits_;  // smallest h >= 1 with 4^h >= 8 nodes
};

}  // namespace cuzk::filecoin
