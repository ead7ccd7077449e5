#pragma once
// Labels of stacked DRG sealing (filecoin-spec C.6, C.9).

#include <span>
#include <vector>

#include "base/bytes.h"
#include "filecoin/graph.h"

namespace cuzk::filecoin {

// The label of a node: `parents` are the 37 labels with their repeats, or none for node 0. Layers count from 1.
Bytes32 label(const Bytes32& replica_id, uint32_t layer, uint64_t node, std::span<const Bytes32> parents);

// All labels of all layers, layer 1 first, node by node: 32 bytes times nodes times layers. One thread, 5 us a
// label; for small sectors.
std::vector<std::vector<Bytes32>> label_sector(const Graph& graph, unsigned layers, const Bytes32& replica_id);

}  // namespace cuzk::filecoin
