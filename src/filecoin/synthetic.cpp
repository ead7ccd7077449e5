#include "filecoin/synthetic.h"

#include <algorithm>
#include <map>

#include "filecoin/challenges.h"
#include "filecoin/graph.h"
#include "filecoin/labels.h"
#include "filecoin/synthetic_trees.h"

namespace cuzk::filecoin {
namespace {

using synthetic::bytes, synthetic::element, synthetic::poseidon;
using synthetic::DataTree, synthetic::Random, synthetic::SparseTree;

// A node that proofs open: its labels, and for a challenged one what they are made of.
struct Opened {
  std::vector<Bytes32> column;
  bool challenged = false;
  std::array<uint64_t, kDrgDegree> drg{};
  std::array<uint64_t, kExpanderDegree> expander{};
};
using OpenedNodes = std::map<uint64_t, Opened>;  // by node

// The 37 labels that are hashed into a challenged node's label of a layer, counted from 1 (C.9).
std::vector<Bytes32> label_parents(const OpenedNodes& nodes, const Opened& node, uint32_t layer) {
  std::vector<Bytes32> out;
  for (uint64_t parent : node.drg) out.push_back(nodes.at(parent).column[layer - 1]);
  if (layer > 1) {
    for (uint64_t parent : node.expander) out.push_back(nodes.at(parent).column[layer - 2]);
  }
  for (size_t i = 0; out.size() < kLabelParents; i++) out.push_back(Bytes32(out[i]));
  return out;
}

// All nodes that the challenges open. Labels are random but for challenged nodes, whose follow layer by layer and, as
// DRG parents lie below their child, in order of nodes.
OpenedNodes open_nodes(std::span<const uint64_t> challenges, const Graph& graph, unsigned layers,
                       const Bytes32& replica_id, const Random& random) {
  OpenedNodes nodes;
  for (uint64_t challenge : challenges) {
    Opened& node = nodes[challenge];
    node.challenged = true;
    node.drg = graph.drg_parents(challenge);
    node.expander = graph.expander_parents(challenge);
    for (uint64_t parent : node.drg) nodes[parent];
    for (uint64_t parent : node.expander) nodes[parent];
  }
  for (auto& [index, node] : nodes) {
    for (uint32_t layer = 1; layer <= layers; layer++) node.column.push_back(random("label", layer, index));
  }
  for (uint32_t layer = 1; layer <= layers; layer++) {
    for (auto& [index, node] : nodes) {
      if (node.challenged) node.column[layer - 1] = label(replica_id, layer, index, label_parents(nodes, node, layer));
    }
  }
  return nodes;
}

struct Sector {
  const DataTree& data;
  const SparseTree &columns, &replica;
  const OpenedNodes& nodes;
  unsigned layers;
};

ColumnProof column_proof(const Sector& sector, uint64_t node) {
  return {{static_cast<uint32_t>(node), sector.nodes.at(node).column}, sector.columns.proof(node)};
}

ChallengeProof challenge_proof(const Sector& sector, uint64_t challenge) {
  const Opened& node = sector.nodes.at(challenge);
  ChallengeProof out;
  out.comm_d = sector.data.proof(challenge);
  out.comm_r_last = sector.replica.proof(challenge);
  out.c_x = column_proof(sector, challenge);
  for (uint64_t parent : node.drg) out.drg_parents.push_back(column_proof(sector, parent));
  for (uint64_t parent : node.expander) out.exp_parents.push_back(column_proof(sector, parent));
  for (uint32_t layer = 1; layer <= sector.layers; layer++) {
    out.labeling.push_back({label_parents(sector.nodes, node, layer), layer, challenge});
  }
  out.encoding = out.labeling.back();
  return out;
}

}  // namespace

Result<SealCommit> synthetic_porep(std::string_view registered_proof, uint64_t seed, exec::Pool& pool) {
  CUZK_TRY_ASSIGN(const RegisteredProof kind, seal_proof(registered_proof));
  CUZK_TRY_ASSIGN(const PorepShape shape, porep_shape(kind.sector_bytes));
  if (kind.challenges != ChallengeKind::kInteractive) {
    return fail(Code::kUnimplemented,
                "{} draws its challenges from comm_r, which a made-up sector cannot know before them; "
                "choose an interactive kind, such as StackedDrg{}V1_1",
                kind.name, format_size(kind.sector_bytes));
  }
  const Random random(seed);
  const DataTree data(shape.log2_nodes(), random);

  SealCommit commit;
  commit.registered_proof = kind.name;
  commit.sector_number = load_le<uint32_t>(random("sector number").data());
  commit.ticket = random("ticket");
  commit.seed = random("seed");
  commit.comm_d = data.root();
  const Bytes32 miner = prover_id(load_le<uint32_t>(random("miner").data()));
  commit.replica_id = replica_id(miner, *commit.sector_number, commit.ticket, commit.comm_d, kind.porep_id);

  const std::vector<uint64_t> challenges = interactive_challenges(
      shape.nodes, commit.replica_id, commit.seed, 0, size_t{shape.partitions} * shape.challenges_per_partition);
  const Graph graph(shape.nodes, kind.api, kind.porep_id);
  const OpenedNodes nodes = open_nodes(challenges, graph, shape.layers, commit.replica_id, random);

  std::vector<SparseTree::Node> columns, replica;
  for (const auto& [index, node] : nodes) {
    columns.emplace_back(index, poseidon(node.column));
    if (!node.challenged) continue;
    replica.emplace_back(index, bytes(element(node.column.back()) + element(data.proof(index).leaf)));
  }
  const SparseTree column_tree(std::move(columns), path_arities(shape), random, "column tree", pool);
  const SparseTree replica_tree(std::move(replica), path_arities(shape), random, "replica tree", pool);
  commit.comm_r = poseidon(std::array{column_tree.root(), replica_tree.root()});

  const Sector sector{data, column_tree, replica_tree, nodes, shape.layers};
  commit.partitions.assign(shape.partitions, std::vector<ChallengeProof>(shape.challenges_per_partition));
  pool.for_each(challenges.size(), [&](size_t i) {
    commit.partitions[i / shape.challenges_per_partition][i % shape.challenges_per_partition] =
        challenge_proof(sector, challenges[i]);
  });
  return commit;
}

Result<SealCommit> synthetic_porep(uint64_t sector_bytes, uint64_t seed, exec::Pool& pool) {
  return synthetic_porep(fmt::format("StackedDrg{}V1_1", format_size(sector_bytes)), seed, pool);
}

}  // namespace cuzk::filecoin
