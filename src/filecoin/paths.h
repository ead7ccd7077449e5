#pragma once
// Merkle paths of vanilla proofs: checked natively (spec C.10), and as the values that a circuit takes.

#include <span>
#include <string_view>

#include "filecoin/vanilla.h"
#include "gadgets/merkle.h"

namespace cuzk::filecoin {

// What a native check answers: kUnsatisfied.
template <class... Args>
tl::unexpected<Error> wrong(fmt::format_string<Args...> format, Args&&... args) {
  return fail(Code::kUnsatisfied, format, std::forward<Args>(args)...);
}

// A node value as a field element; kUnsatisfied where it is not below r.
Result<Fr> field_element(const Bytes32& bytes);
// The hashes of preimages of one number, 2, 4, 8 or 11, of node values with the Merkle tag of that number, as many at a
// time as a processor has lanes; kUnsatisfied where a value is not below r.
std::vector<Result<Bytes32>> poseidon_nodes(std::span<const std::span<const Bytes32>> preimages);
Result<Bytes32> poseidon_node(std::span<const Bytes32> preimage);

// Whether a path leads from its proof's leaf, standing at `index`, to `root`; kUnsatisfied says what is wrong.
// `arities` has one entry a level, leaf level first.
struct PathCheck {
  const MerkleProof* proof;
  uint64_t index;
  const Bytes32* root;
};
Status check_sha256_path(const PathCheck& path, std::span<const unsigned> arities);  // all of them 2
// A status for each path, their hashes made as in poseidon_nodes.
std::vector<Status> check_poseidon_paths(std::span<const PathCheck> paths, std::span<const unsigned> arities);

// The status of a check, with the check's name in front where it failed.
Status named(Status status, std::string_view check);
template <class... Args>
Status named(Status status, fmt::format_string<Args...> check, Args&&... args) {
  return status ? status : named(std::move(status), std::string_view(fmt::format(check, std::forward<Args>(args)...)));
}

struct PathValues {
  Fr leaf;
  std::vector<gadgets::PathLevel> levels;
};
// kInvalidInput where the path has another form than `arities` say, or a value is not below r.
Result<PathValues> path_values(const MerkleProof& proof, std::span<const unsigned> arities);

// The leaf that a path of this form stands at.
uint64_t leaf_index(std::span<const gadgets::PathLevel> levels, std::span<const unsigned> arities);

}  // namespace cuzk::filecoin
