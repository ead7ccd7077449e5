#include "filecoin/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing.h"
#include "hash/poseidon.h"

namespace cuzk::filecoin {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

Bytes32 bytes_of(const Fr& value) {
  Bytes32 out;
  value.to_bytes_le(out);
  return out;
}

constexpr Bytes32 kNoElement = [] {
  Bytes32 out;
  out.fill(0xff);
  return out;
}();

// A path from the leaf at `index` up to the root that its siblings make, hashed one node at a time.
MerkleProof random_path(uint64_t index, std::span<const unsigned> arities, std::mt19937_64& random) {
  Fr node = testing::random_field<Fr>(random);
  MerkleProof proof{.leaf = bytes_of(node)};
  for (unsigned arity : arities) {
    PathElement& element = proof.path.emplace_back();
    element.index = index % arity;
    std::vector<Fr> children;
    for (unsigned i = 0; i < arity; i++) {
      children.push_back(i == element.index ? node : testing::random_field<Fr>(random));
      if (i != element.index) element.hashes.push_back(bytes_of(children.back()));
    }
    node = hash::poseidon(children);
    index /= arity;
  }
  proof.root = bytes_of(node);
  return proof;
}

// Around the number of lanes, with failures of all kinds between paths that hold.
TEST(PoseidonPaths, EachHasItsOwnStatus) {
  auto random = testing::rng();
  const unsigned arities[] = {8, 4, 2};
  constexpr uint64_t kLeaves = 64;
  const char* const kFaults[] = {nullptr,
                                 "is not a canonical field element",
                                 "its path does not lead to its root",
                                 "path[1] stands at",
                                 "is not a canonical field element",
                                 "path[0] has 6 siblings, not 7",
                                 "its path has 2 levels, not 3",
                                 "its root is not the tree's"};
  for (size_t count : {0, 1, 7, 8, 9, 17, 40}) {
    std::vector<MerkleProof> proofs;
    std::vector<Bytes32> roots;
    std::vector<PathCheck> paths;
    for (size_t i = 0; i < count; i++) {
      MerkleProof& proof = proofs.emplace_back(random_path(i % kLeaves, arities, random));
      roots.push_back(proof.root);
      if (i % 8 == 1) proof.leaf = kNoElement;
      if (i % 8 == 2) proof.path[2].hashes[0] = bytes_of(Fr::one());
      if (i % 8 == 3) proof.path[1].index ^= 1;
      if (i % 8 == 4) proof.path[2].hashes[0] = kNoElement;
      if (i % 8 == 5) proof.path[0].hashes.pop_back();
      if (i % 8 == 6) proof.path.pop_back();
      if (i % 8 == 7) proof.root[0] ^= 1;
    }
    for (size_t i = 0; i < count; i++) paths.push_back({&proofs[i], i % kLeaves, &roots[i]});
    const std::vector<Status> together = check_poseidon_paths(paths, arities);
    ASSERT_EQ(together.size(), count);
    for (size_t i = 0; i < count; i++) {
      SCOPED_TRACE(fmt::format("{} of {}", i, count));
      const Status& status = together[i];
      EXPECT_EQ(status.has_value(), i % 8 == 0);
      if (status) continue;
      EXPECT_EQ(status.error().code, Code::kUnsatisfied);
      EXPECT_THAT(status.error().message, HasSubstr(kFaults[i % 8]));
    }
  }
}

TEST(PoseidonNodes, AreThoseOfSingleHashes) {
  auto random = testing::rng();
  for (size_t arity : {2, 4, 8, 11}) {
    std::vector<std::vector<Bytes32>> preimages(11);
    std::vector<Bytes32> expected;
    for (auto& preimage : preimages) {
      std::vector<Fr> values;
      for (size_t i = 0; i < arity; i++) {
        values.push_back(testing::random_field<Fr>(random));
        preimage.push_back(bytes_of(values.back()));
      }
      expected.push_back(bytes_of(hash::poseidon(values)));
    }
    preimages[3].back() = kNoElement;
    const std::vector<std::span<const Bytes32>> spans(preimages.begin(), preimages.end());
    const std::vector<Result<Bytes32>> nodes = poseidon_nodes(spans);
    for (size_t i = 0; i < nodes.size(); i++) {
      if (i == 3) {
        EXPECT_THAT(nodes[i].error().message, EndsWith("is not a canonical field element"));
      } else {
        EXPECT_EQ(nodes[i].value(), expected[i]);
      }
    }
  }
  EXPECT_TRUE(poseidon_nodes({}).empty());
}

}  // namespace
}  // namespace cuzk::filecoin
