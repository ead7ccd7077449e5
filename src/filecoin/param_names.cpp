#include "filecoin/param_names.h"

#include "hash/sha256.h"

namespace cuzk::filecoin {
namespace {

std::string name(std::string_view prefix, std::string_view identifier) {
  return fmt::format("v28-{}-{}", prefix, to_hex(hash::sha256(as_bytes(identifier))));
}

}  // namespace

std::string tree_name(const TreeShape& tree) {
  return fmt::format("merkletree-poseidon_hasher-{}-{}-{}", tree.base, tree.sub, tree.top);
}

std::string porep_parameter_name(const PorepShape& shape) {
  const std::string tree = tree_name(shape.tree);
  return name(
      fmt::format("stacked-proof-of-replication-{}-sha256_hasher", tree),
      fmt::format("layered_drgporep::PublicParams{{ graph: stacked_graph::StackedGraph{{expansion_degree: {} "
                  "base_graph: drgraph::BucketGraph{{size: {}; degree: {}; hasher: poseidon_hasher}} }}, "
                  "challenges: LayerChallenges {{ layers: {}, max_count: {} }}, tree: {} }}",
                  kExpanderDegree, shape.nodes, kDrgDegree, shape.layers, shape.challenges_per_partition, tree));
}

std::string post_parameter_name(const PorepShape& shape, unsigned challenges_per_sector, unsigned sectors) {
  return name(fmt::format("proof-of-spacetime-fallback-{}", tree_name(shape.tree)),
              fmt::format("FallbackPoSt::PublicParams{{sector_size: {}, challenge_count: {}, sector_count: {}}}",
                          shape.sector_bytes, challenges_per_sector, sectors));
}

std::string update_parameter_name(const PorepShape& shape) {
  return name(fmt::format("empty-sector-update-{}", tree_name(shape.tree)),
              fmt::format("empty_sector_update::PublicParams{{ sector_nodes: {} }}", shape.nodes));
}

}  // namespace cuzk::filecoin
