#include "filecoin/update_synthetic.h"

#include "filecoin/synthetic_trees.h"
#include "gadgets/merkle.h"
#include "hash/sha256.h"

namespace cuzk::filecoin {
namespace {

using synthetic::bytes;
using synthetic::element;
using synthetic::poseidon;

constexpr uint64_t kKinds = 16;

// A node of kind k has the kinds 5k + 1 + 2^(height mod 3) side (mod kKinds) below it, which stand at that height. So
// the 2, 4 or 8 nodes below a node of a Poseidon tree, whose levels end at multiples of 3, are all of different kinds.
uint64_t kind_below(uint64_t kind, unsigned height, uint64_t side) {
  return (5 * kind + 1 + (side << height % 3)) % kKinds;
}
// The kind of a node at height `to` below one at height `from`; the bits of its index say which.
uint64_t descend(uint64_t kind, unsigned from, unsigned to, uint64_t index) {
  for (unsigned height = from; height-- > to;) kind = kind_below(kind, height, index >> (height - to) & 1);
  return kind;
}

// A tree in which a level has kKinds different nodes, so that each leaf can be opened.
class KindTree {
 public:
  // `leaves` by kind.
  KindTree(std::vector<Bytes32> leaves, std::vector<unsigned> arities, gadgets::NodeHash hash)
      : arities_(std::move(arities)), heights_{0} {
    nodes_.push_back(std::move(leaves));
    for (size_t level = 0; level < arities_.size(); level++) {
      heights_.push_back(heights_[level] + static_cast<unsigned>(std::countr_zero(arities_[level])));
      std::vector<Bytes32>& row = nodes_.emplace_back();
      for (uint64_t kind = 0; kind < kKinds; kind++) {
        const std::vector<Bytes32> below = children(level, kind);
        row.push_back(hash == gadgets::NodeHash::kSha256 ? hash::sha256_node(below[0], below[1]) : poseidon(below));
      }
    }
  }

  unsigned height() const { return heights_.back(); }
  const Bytes32& node(size_t level, uint64_t kind) const { return nodes_[level][kind]; }

  // From a leaf up to the top of the tree, which is of that kind there. Bits of the index above the tree do not count.
  MerkleProof proof(uint64_t leaf, uint64_t kind = 0) const {
    MerkleProof out;
    out.root = nodes_.back()[kind];
    out.path.resize(arities_.size());
    for (size_t level = arities_.size(); level-- > 0;) {
      PathElement& element = out.path[level];
      element.index = leaf >> heights_[level] & (arities_[level] - 1);
      element.hashes = children(level, kind);
      element.hashes.erase(element.hashes.begin() + static_cast<ptrdiff_t>(element.index));
      kind = descend(kind, heights_[level + 1], heights_[level], element.index);
    }
    out.leaf = nodes_[0][kind];
    return out;
  }

 private:
  std::vector<Bytes32> children(size_t level, uint64_t kind) const {
    std::vector<Bytes32> out;
    for (uint64_t i = 0; i < arities_[level]; i++)
      out.push_back(nodes_[level][descend(kind, heights_[level + 1], heights_[level], i)]);
    return out;
  }

  std::vector<unsigned> arities_, heights_;  // heights: of each level's nodes, in bits of the leaf index
  std::vector<std::vector<Bytes32>> nodes_;  // [level][kind], leaves first
};

// tree_r_new: kinds for each value of the high bits up to the last level that does not span two of them; nodes above.
class NewReplicaTree {
 public:
  // leaf(high, kind) is a leaf's value.
  template <class Leaf>
  NewReplicaTree(const UpdateShape& shape, const synthetic::Random& random, exec::Pool& pool, Leaf leaf)
      : levels_(shape.log2_nodes()), high_height_(levels_ - shape.h()) {
    std::vector<unsigned> arities = path_arities(shape.nodes, shape.tree), below;
    unsigned height = 0;
    while (height + static_cast<unsigned>(std::countr_zero(arities[below.size()])) <= high_height_) {
      height += static_cast<unsigned>(std::countr_zero(arities[below.size()]));
      below.push_back(arities[below.size()]);
    }
    arities.erase(arities.begin(), arities.begin() + static_cast<ptrdiff_t>(below.size()));

    below_.resize(size_t{1} << shape.h());
    pool.for_each(below_.size(), [&](size_t high) {
      std::vector<Bytes32> leaves;
      for (uint64_t kind = 0; kind < kKinds; kind++) leaves.push_back(leaf(high, kind));
      below_[high].emplace(std::move(leaves), below, gadgets::NodeHash::kPoseidon);
    });
    std::vector<synthetic::SparseTree::Node> nodes;
    for (uint64_t node = 0; node < uint64_t{1} << (levels_ - height); node++)
      nodes.emplace_back(node, lower(node << height).node(below.size(), kind(node << height)));
    above_.emplace(std::move(nodes), std::move(arities), random, "new replica tree", pool);
  }

  const Bytes32& root() const { return above_->root(); }
  MerkleProof proof(uint64_t leaf) const {
    MerkleProof out = lower(leaf).proof(leaf, kind(leaf)), above = above_->proof(leaf >> lower(leaf).height());
    out.root = above.root;
    out.path.insert(out.path.end(), above.path.begin(), above.path.end());
    return out;
  }

 private:
  const KindTree& lower(uint64_t leaf) const { return *below_[leaf >> high_height_]; }
  // Of the lower tree's top above a leaf.
  uint64_t kind(uint64_t leaf) const {
    const unsigned height = lower(leaf).height();
    return descend(0, levels_, height, leaf >> height);
  }

  unsigned levels_, high_height_;
  std::vector<std::optional<KindTree>> below_;
  std::optional<synthetic::SparseTree> above_;
};

}  // namespace

SectorUpdate synthetic_update(const UpdateShape& shape, uint64_t seed, exec::Pool& pool) {
  const synthetic::Random random(seed);
  auto leaves = [&](std::string_view purpose) {
    std::vector<Bytes32> out;
    for (uint64_t kind = 0; kind < kKinds; kind++) out.push_back(random(purpose, kind));
    return out;
  };
  const std::vector<Bytes32> data = leaves("new data"), old = leaves("old replica");
  const KindTree tree_d(data, std::vector<unsigned>(shape.log2_nodes(), 2), gadgets::NodeHash::kSha256);
  const KindTree tree_r_old(old, path_arities(shape.nodes, shape.tree), gadgets::NodeHash::kPoseidon);
  const Bytes32 comm_c = random("comm_c");
  SectorUpdate out{shape, {}, {}};
  out.statement.comm_d_new = tree_d.proof(0).root;
  out.statement.comm_r_old = poseidon(std::array{comm_c, tree_r_old.proof(0).root});

  const Fr phi = update_phi(element(out.statement.comm_d_new), element(out.statement.comm_r_old));
  const NewReplicaTree tree_r_new(shape, random, pool, [&](uint64_t high, uint64_t kind) {
    return bytes(element(old[kind]) + element(data[kind]) * update_rho(phi, high));
  });
  out.statement.comm_r_new = poseidon(std::array{comm_c, tree_r_new.root()});

  out.partitions.resize(shape.partitions);
  pool.for_each(shape.partitions, [&](size_t k) {
    UpdateProof& proof = out.partitions[k].emplace();
    proof.comm_c = comm_c;
    for (uint64_t i = 0; i < shape.apex_leaves; i++) {
      const uint64_t kind = descend(0, shape.log2_nodes(), shape.apex_height(), k * shape.apex_leaves + i);
      proof.apex_leaves.push_back(tree_d.node(shape.apex_height(), kind));
    }
    for (uint64_t node : update_challenges(shape, element(out.statement.comm_r_new), static_cast<uint32_t>(k)))
      proof.challenges.push_back({tree_r_old.proof(node), tree_d.proof(node), tree_r_new.proof(node)});
  });
  return out;
}

}  // namespace cuzk::filecoin
