#include "filecoin/labels.h"

#include "hash/sha256.h"

namespace cuzk::filecoin {

Bytes32 label(const Bytes32& replica_id, uint32_t layer, uint64_t node, std::span<const Bytes32> parents) {
  std::array<uint8_t, 32> position{};
  store_be(position.data(), layer);
  store_be(position.data() + 4, node);
  hash::Sha256 hash;
  hash.update(replica_id);
  hash.update(position);
  for (const Bytes32& parent : parents) hash.update(parent);
  Bytes32 out = hash.finish();
  out[31] &= 0x3f;
  return out;
}

std::vector<std::vector<Bytes32>> label_sector(const Graph& graph, unsigned layers, const Bytes32& replica_id) {
  std::vector<std::vector<Bytes32>> labels(layers, std::vector<Bytes32>(graph.nodes()));
  for (unsigned layer = 0; layer < layers; layer++) {
    std::vector<Bytes32>& current = labels[layer];
    for (uint64_t node = 0; node < graph.nodes(); node++) {
      std::vector<Bytes32> parents;
      if (node > 0) {
        for (uint64_t parent : graph.drg_parents(node)) parents.push_back(current[parent]);
        if (layer > 0) {
          for (uint64_t parent : graph.expander_parents(node)) parents.push_back(labels[layer - 1][parent]);
        }
        for (size_t i = 0; parents.size() < kLabelParents; i++) parents.push_back(Bytes32(parents[i]));
      }
      current[node] = label(replica_id, layer + 1, node, parents);
    }
  }
  return labels;
}

}  // namespace cuzk::filecoin
