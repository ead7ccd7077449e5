#pragma once
// What made-up sectors are made of: values that follow from a seed, and trees of which only the opened paths exist.

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "exec/pool.h"
#include "field/fields.h"
#include "filecoin/vanilla.h"

namespace cuzk::filecoin::synthetic {

// Values that depend on the seed, a purpose and a place alone; as numbers below 2^254, so in every domain.
class Random {
 public:
  explicit Random(uint64_t seed) : seed_(seed) {}
  Bytes32 operator()(std::string_view purpose, uint64_t row = 0, uint64_t column = 0) const;

 private:
  uint64_t seed_;
};

Fr element(const Bytes32& bytes);  // of our own values, which are below r
Bytes32 bytes(const Fr& value);
Bytes32 poseidon(std::span<const Bytes32> preimage);

// tree_d. A level has kKinds different nodes: kind k of a level has the kinds 3k + 1 and 5k + 2 (mod kKinds) of the
// level below as children. Both maps are bijections and never agree, since 2k + 1 is odd; so siblings differ
// everywhere, every leaf can be opened, and the root costs kKinds hashes a level.
class DataTree {
 public:
  DataTree(unsigned levels, const Random& random);

  const Bytes32& root() const { return nodes_.back()[0]; }
  MerkleProof proof(uint64_t leaf) const;

 private:
  static constexpr size_t kKinds = 64;
  static size_t child(size_t kind, uint64_t side) { return (side == 0 ? 3 * kind + 1 : 5 * kind + 2) % kKinds; }

  std::vector<std::vector<Bytes32>> nodes_;  // [level][kind], leaves first
};

// A Poseidon tree of which some leaves are known; every subtree without one is a random value.
class SparseTree {
 public:
  using Node = std::pair<uint64_t, Bytes32>;  // index in its level, value

  // `leaves` in order of index, at least one. `random` and `purpose` must outlive the tree.
  SparseTree(std::vector<Node> leaves, std::vector<unsigned> arities, const Random& random, std::string_view purpose,
             exec::Pool& pool);

  const Bytes32& root() const { return levels_.back().front().second; }
  MerkleProof proof(uint64_t leaf) const;

 private:
  // The nodes of a level that lie below node `parent` of the next.
  std::vector<Bytes32> children(size_t level, uint64_t parent) const;
  Bytes32 node(size_t level, uint64_t index) const;

  std::vector<unsigned> arities_;
  const Random& random_;
  std::string_view purpose_;
  std::vector<std::vector<Node>> levels_;  // leaves first
};

}  // namespace cuzk::filecoin::synthetic
