#include "filecoin/paths.h"

#include <algorithm>

#include "hash/poseidon.h"
#include "hash/sha256.h"

namespace cuzk::filecoin {
namespace {

constexpr unsigned kMaxTreeArity = 8;

// Poseidon hashes of preimages of one arity, each for somebody.
class Batch {
 public:
  Status add(size_t whose, std::span<const Bytes32> preimage) {
    std::array<Fr, hash::kPoseidonMaxWidth>& values = values_.emplace_back();
    for (size_t i = 0; i < preimage.size(); i++) {
      auto value = field_element(preimage[i]);
      if (!value) {
        values_.pop_back();
        return tl::unexpected(std::move(value).error());
      }
      values[i] = *value;
    }
    whose_.push_back(whose);
    arity_ = static_cast<unsigned>(preimage.size());
    return {};
  }
  // take(whose, digest) for each that was added.
  template <class Take>
  void hash(Take&& take) const {
    if (whose_.empty()) return;
    std::vector<const Fr*> preimages;
    for (const auto& values : values_) preimages.push_back(values.data());
    std::vector<Fr> digests(preimages.size());
    hash::poseidon_hasher(arity_).hash(hash::merkle_tag(arity_), preimages, {}, digests);
    for (size_t i = 0; i < digests.size(); i++) take(whose_[i], digests[i]);
  }

 private:
  unsigned arity_ = 0;
  std::vector<size_t> whose_;
  std::vector<std::array<Fr, hash::kPoseidonMaxWidth>> values_;
};

// All about a path but its hashes.
Status check_form(const PathCheck& path, std::span<const unsigned> arities) {
  const std::vector<PathElement>& levels = path.proof->path;
  if (path.proof->root != *path.root) return wrong("its root is not the tree's");
  if (levels.size() != arities.size()) return wrong("its path has {} levels, not {}", levels.size(), arities.size());
  uint64_t rest = path.index;
  for (size_t level = 0; level < levels.size(); level++) {
    const unsigned arity = arities[level];
    if (levels[level].hashes.size() + 1 != arity)
      return wrong("path[{}] has {} siblings, not {}", level, levels[level].hashes.size(), arity - 1);
    if (levels[level].index != rest % arity) {
      return wrong("path[{}] stands at {}, but leaf {} is below {}", level, levels[level].index, path.index,
                   rest % arity);
    }
    rest /= arity;
  }
  return {};
}

Status leads_to(const Bytes32& node, const PathCheck& path) {
  return node == *path.root ? Status() : wrong("its path does not lead to its root");
}

}  // namespace

Result<Fr> field_element(const Bytes32& bytes) {
  auto value = Fr::from_bytes_le(bytes);
  if (!value) return wrong("{} is not a canonical field element", to_hex(bytes));
  return *value;
}

std::vector<Result<Bytes32>> poseidon_nodes(std::span<const std::span<const Bytes32>> preimages) {
  std::vector<Result<Bytes32>> out(preimages.size());
  Batch batch;
  for (size_t i = 0; i < preimages.size(); i++) {
    Status status = batch.add(i, preimages[i]);
    if (!status) out[i] = tl::unexpected(std::move(status).error());
  }
  batch.hash([&](size_t i, const Fr& digest) { digest.to_bytes_le(*out[i]); });
  return out;
}

Result<Bytes32> poseidon_node(std::span<const Bytes32> preimage) {
  return std::move(poseidon_nodes({&preimage, 1})[0]);
}

Status check_sha256_path(const PathCheck& path, std::span<const unsigned> arities) {
  CUZK_TRY(check_form(path, arities));
  Bytes32 node = path.proof->leaf;
  for (const PathElement& element : path.proof->path) {
    const Bytes32& sibling = element.hashes[0];
    node = element.index == 0 ? hash::sha256_node(node, sibling) : hash::sha256_node(sibling, node);
  }
  return leads_to(node, path);
}

std::vector<Status> check_poseidon_paths(std::span<const PathCheck> paths, std::span<const unsigned> arities) {
  std::vector<Status> out;
  std::vector<Bytes32> nodes;
  for (const PathCheck& path : paths) {
    out.push_back(check_form(path, arities));
    nodes.push_back(path.proof->leaf);
  }
  for (size_t level = 0; level < arities.size(); level++) {
    Batch batch;
    for (size_t i = 0; i < paths.size(); i++) {
      if (!out[i]) continue;
      const PathElement& element = paths[i].proof->path[level];
      std::array<Bytes32, kMaxTreeArity> children;
      const auto place = children.begin() + element.index;
      std::copy(element.hashes.begin() + element.index, element.hashes.end(),
                std::copy_n(element.hashes.begin(), element.index, children.begin()) + 1);
      *place = nodes[i];
      out[i] = batch.add(i, std::span(children).first(arities[level]));
    }
    batch.hash([&](size_t i, const Fr& digest) { digest.to_bytes_le(nodes[i]); });
  }
  for (size_t i = 0; i < paths.size(); i++) {
    if (out[i]) out[i] = leads_to(nodes[i], paths[i]);
  }
  return out;
}

Status named(Status status, std::string_view check) {
  if (status) return status;
  return tl::unexpected<Error>(std::move(status).error().within(check));
}

Result<PathValues> path_values(const MerkleProof& proof, std::span<const unsigned> arities) {
  auto number = [](const Bytes32& bytes, Fr& out) -> Status {
    const std::optional<Fr> value = Fr::from_bytes_le(bytes);
    if (!value) return fail(Code::kInvalidInput, "{} is not a canonical field element", to_hex(bytes));
    out = *value;
    return {};
  };
  if (proof.path.size() != arities.size()) {
    return fail(Code::kInvalidInput, "its path has {} levels, not {}", proof.path.size(), arities.size());
  }
  PathValues out;
  CUZK_TRY(number(proof.leaf, out.leaf));
  out.levels.resize(arities.size());
  for (size_t level = 0; level < arities.size(); level++) {
    const PathElement& element = proof.path[level];
    if (element.hashes.size() + 1 != arities[level] || element.index >= arities[level]) {
      return fail(Code::kInvalidInput, "its path has no arity-{} node at level {}", arities[level], level);
    }
    out.levels[level].index = element.index;
    out.levels[level].siblings.resize(element.hashes.size());
    for (size_t i = 0; i < element.hashes.size(); i++)
      CUZK_TRY(number(element.hashes[i], out.levels[level].siblings[i]));
  }
  return out;
}

uint64_t leaf_index(std::span<const gadgets::PathLevel> levels, std::span<const unsigned> arities) {
  uint64_t index = 0;
  for (size_t level = levels.size(); level-- > 0;) index = index * arities[level] + levels[level].index;
  return index;
}

}  // namespace cuzk::filecoin
