#include "filecoin/synthetic_trees.h"

#include <algorithm>

#include "hash/poseidon.h"
#include "hash/sha256.h"

namespace cuzk::filecoin::synthetic {

Bytes32 Random::operator()(std::string_view purpose, uint64_t row, uint64_t column) const {
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

Fr element(const Bytes32& bytes) { return *Fr::from_bytes_le(bytes); }
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

DataTree::DataTree(unsigned levels, const Random& random) : nodes_(levels + 1, std::vector<Bytes32>(kKinds)) {
  for (size_t kind = 0; kind < kKinds; kind++) nodes_[0][kind] = random("data", kind);
  for (size_t level = 1; level <= levels; level++) {
    for (size_t kind = 0; kind < kKinds; kind++) {
      nodes_[level][kind] = hash::sha256_node(nodes_[level - 1][child(kind, 0)], nodes_[level - 1][child(kind, 1)]);
    }
  }
}

MerkleProof DataTree::proof(uint64_t leaf) const {
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

SparseTree::SparseTree(std::vector<Node> leaves, std::vector<unsigned> arities, const Random& random,
                       std::string_view purpose, exec::Pool& pool)
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

MerkleProof SparseTree::proof(uint64_t leaf) const {
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

std::vector<Bytes32> SparseTree::children(size_t level, uint64_t parent) const {
  std::vector<Bytes32> out;
  for (unsigned i = 0; i < arities_[level]; i++) out.push_back(node(level, parent * arities_[level] + i));
  return out;
}

Bytes32 SparseTree::node(size_t level, uint64_t index) const {
  auto found = std::ranges::lower_bound(levels_[level], index, {}, &Node::first);
  if (found != levels_[level].end() && found->first == index) return found->second;
  return random_(purpose_, level, index);
}

}  // namespace cuzk::filecoin::synthetic
