#include "filecoin/synthetic.h"

#include <algorithm>
#include <map>

#include "field/fields.h"
#include "filecoin/challenges.h"
#include "filecoin/graph.h"
#include "filecoin/labels.h"
#include "hash/poseidon.h"
#include "hash/sha256.h"

namespace cuzk::filecoin {
namespace {

// Values that depend on the seed, a purpose and a place alone; as numbers below 2^254, so in every domain.
class Random {
 public:
  explicit Random(uint64_t seed) : seed_(seed) {}

  Bytes32 operator()(std::string_view purpose, uint64_t row = 0, uint64_t column = 0) const {
    std::array<uint8_t, 24> place;
    store_le(place.data(), seed_);
    store_le(place.data() + 8, row);
    store_le(place.data() + 16, column);
    hash::Sha256 hash;
    hash.update(as_bytes("cuzk synthetic sector "));
    hash.update(place);
    hash.update(as_bytes(purpose));
    Bytes32 out = hash.finish();
    out[31] &= 0x3f;
    return out;
  }

 private:
  uint64_t seed_;
};

Fr element(const Bytes32& bytes) { return *Fr::from_bytes_le(bytes); }  // our own values, below r
Bytes32 bytes(const Fr& value) {
  Bytes32 out;
  value.to_bytes_le(out);
  return out;
}
Bytes32 poseidon(std::span<const Bytes32> preimage) {
  std::array<Fr, hash::kPoseidonMaxWidth> values;
  std::ranges::transform(preimage, values.begin(), element);
  return bytes(hash::poseidon(std::span(values).first(preimage.size())));
}

// tree_d. A level has kKinds different nodes: kind k of a level has the kinds 3k + 1 and 5k + 2 (mod kKinds) of the level
// below as children. Both maps are bijections and never agree, since 2k + 1 is odd; so siblings differ everywhere, every
// leaf can be opened, and the root costs kKinds hashes a level.
class DataTree {
 public:
  DataTree(unsigned levels, const Random& random) : nodes_(levels + 1, std::vector<Bytes32>(kKinds)) {
    for (size_t kind = 0; kind < kKinds; kind++) nodes_[0][kind] = random("data", kind);
    for (size_t level = 1; level <= levels; level++) {
      for (size_t kind = 0; kind < kKinds; kind++) {
        nodes_[level][kind] = hash::sha256_node(nodes_[level - 1][child(kind, 0)], nodes_[level - 1][child(kind, 1)]);
      }
    }
  }

  const Bytes32& root() const { return nodes_.back()[0]; }

  MerkleProof proof(uint64_t leaf) const {
    MerkleProof out;
    out.root = root();
    out.path.resize(nodes_.size() - 1);
    size_t kind = 0;
    for (size_t level = out.path.size(); level-- > 0;) {
      const uint64_t side = leaf >> level & 1;
      out.path[level] = {{nodes_[level][child(kind, 1 - side)]}, side};
      kind = child(kind, side);
    }
    out.leaf = nodes_[0][kind];
    return out;
  }

 private:
  static constexpr size_t kKinds = 64;
  static size_t child(size_t kind, uint64_t side) { return (side == 0 ? 3 * kind + 1 : 5 * kind + 2) % kKinds; }

  std::vector<std::vector<Bytes32>> nodes_;  // [level][kind], leaves first
};

// A Poseidon tree of which some leaves are known; every subtree without one is a random value.
class SparseTree {
 public:
  using Node = std::pair<uint64_t, Bytes32>;  // index in its level, value

  // `leaves` in order of index, at least one.
  SparseTree(std::vector<Node> leaves, std::vector<unsigned> arities, const Random& random, std::string_view purpose,
             exec::Pool& pool)
      : arities_(std::move(arities)), random_(random), purpose_(purpose) {
    levels_.push_back(std::move(leaves));
    for (size_t level = 0; level < arities_.size(); level++) {
      std::vector<Node> parents;
      for (const Node& node : levels_[level]) {
        const uint64_t index = node.first / arities_[level];
        if (parents.empty() || parents.back().first != index) parents.emplace_back(index, Bytes32{});
      }
      pool.for_each_chunk(parents.size(), 16, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; i++) parents[i].second = poseidon(children(level, parents[i].first));
      });
      levels_.push_back(std::move(parents));
    }
  }

  const Bytes32& root() const { return levels_.back().front().second; }

  MerkleProof proof(uint64_t leaf) const {
    MerkleProof out;
    out.root = root();
    out.leaf = node(0, leaf);
    uint64_t index = leaf;
    for (size_t level = 0; level < arities_.size(); level++) {
      PathElement& element = out.path.emplace_back();
      element.hashes = children(level, index / arities_[level]);
      element.index = index % arities_[level];
      element.hashes.erase(element.hashes.begin() + static_cast<ptrdiff_t>(element.index));
      index /= arities_[level];
    }
    return out;
  }

 private:
  // The nodes of a level that lie below node `parent` of the next.
  std::vector<Bytes32> children(size_t level, uint64_t parent) const {
    std::vector<Bytes32> out;
    for (unsigned i = 0; i < arities_[level]; i++) out.push_back(node(level, parent * arities_[level] + i));
    return out;
  }
  Bytes32 node(size_t level, uint64_t index) const {
    auto found = std::ranges::lower_bound(levels_[level], index, {}, &Node::first);
    if (found != levels_[level].end() && found->first == index) return found->second;
    return random_(purpose_, level, index);
  }

  std::vector<unsigned> arities_;
  const Random& random_;
  std::string_view purpose_;
  std::vector<std::vector<Node>> levels_;  // leaves first
};

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

// All nodes that the challenges open. Labels are random but for challenged nodes, whose follow layer by layer and, as DRG
// parents lie below their child, in order of nodes.
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
