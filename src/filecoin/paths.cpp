#include "filecoin/paths.h"

#include <algorithm>

#include "hash/poseidon.h"
#include "hash/sha256.h"

namespace cuzk::filecoin {
Result<Fr> field_element(const Bytes32& bytes) {
  auto value = Fr::from_bytes_le(bytes);
  if (!value) return wrong("{} is not a canonical field element", to_hex(bytes));
  return *value;
}

Result<Bytes32> poseidon_node(std::span<const Bytes32> preimage) {
  std::array<Fr, hash::kPoseidonMaxWidth> values;
  for (size_t i = 0; i < preimage.size(); i++) {
    CUZK_TRY_ASSIGN(values[i], field_element(preimage[i]));
  }
  Bytes32 digest;
  hash::poseidon(std::span(values).first(preimage.size())).to_bytes_le(digest);
  return digest;
}

Status check_path(const MerkleProof& proof, uint64_t index, const Bytes32& root, std::span<const unsigned> arities,
                  gadgets::NodeHash hash) {
  if (proof.root != root) return wrong("its root is not the tree's");
  if (proof.path.size() != arities.size())
    return wrong("its path has {} levels, not {}", proof.path.size(), arities.size());
  Bytes32 node = proof.leaf;
  uint64_t rest = index;
  for (size_t level = 0; level < arities.size(); level++) {
    const unsigned arity = arities[level];
    const PathElement& element = proof.path[level];
    if (element.hashes.size() + 1 != arity)
      return wrong("path[{}] has {} siblings, not {}", level, element.hashes.size(), arity - 1);
    if (element.index != rest % arity) {
      return wrong("path[{}] stands at {}, but leaf {} is below {}", level, element.index, index, rest % arity);
    }
    std::array<Bytes32, 8> children;
    std::copy(element.hashes.begin(), element.hashes.end(), children.begin());
    std::copy_backward(children.begin() + element.index, children.begin() + arity - 1, children.begin() + arity);
    children[element.index] = node;
    if (hash == gadgets::NodeHash::kSha256) {
      node = hash::sha256_node(children[0], children[1]);
    } else {
      CUZK_TRY_ASSIGN(node, poseidon_node(std::span(children).first(arity)));
    }
    rest /= arity;
  }
  return node == root ? Status() : wrong("its path does not lead to its root");
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
