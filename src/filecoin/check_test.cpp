#include "filecoin/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "base/testing.h"
#include "field/fields.h"
#include "filecoin/c1.h"
#include "filecoin/synthetic.h"
#include "hash/poseidon.h"

namespace cuzk::filecoin {
namespace {

using ::testing::StartsWith;

SealCommit read_commit(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto commit = parse_c1(as_bytes(text));
  EXPECT_TRUE(commit) << path << ": " << commit.error().message;
  return commit ? *commit : SealCommit{};
}

TEST(CheckVectors, AcceptsEverySector) {
  CUZK_SKIP_WITHOUT_VECTORS();
  exec::Pool pool;
  size_t sectors = 0;
  for (const char* group : {"seal", "sparse"}) {
    for (const auto& entry : std::filesystem::directory_iterator(cuzk::testing::vectors() / group)) {
      const auto path = entry.path() / "c1-wrapped.json";
      if (!std::filesystem::exists(path)) continue;
      Status status = check_vanilla(read_commit(path), pool);
      EXPECT_TRUE(status) << path << ": " << status.error().message;
      sectors++;
    }
  }
  EXPECT_GE(sectors, 13u);
}

// The registered proof fixes graph and challenges; a sector sealed under another one does not pass.
TEST(CheckVectors, RefusesOtherKindsOfProof) {
  CUZK_SKIP_WITHOUT_VECTORS();
  exec::Pool pool;
  const auto seal = cuzk::testing::vectors() / "seal";
  SealCommit commit = read_commit(seal / "2KiB/c1.json");
  commit.registered_proof = "StackedDrg2KiBV1";
  EXPECT_THAT(check_vanilla(commit, pool).error().message,
              StartsWith("partition 0, challenge 0: drg_parents[0]: is the column"));
  commit.registered_proof = "StackedDrg2KiBV1_1_Feat_SyntheticPoRep";
  EXPECT_THAT(check_vanilla(commit, pool).error().message,
              StartsWith("partition 0, challenge 0: challenge: is for node"));
  commit.registered_proof = "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep";
  EXPECT_EQ(code_name(check_vanilla(commit, pool).error().code), "invalid_input");

  // Synthetic and non-interactive challenges depend on comm_r.
  for (const char* folder : {"2KiB-synthetic", "2KiB-ni"}) {
    commit = read_commit(seal / folder / "c1.json");
    commit.comm_r[0] ^= 1;
    EXPECT_THAT(check_vanilla(commit, pool).error().message,
                StartsWith("partition 0, challenge 0: challenge: is for node"));
  }
}

// A made-up sector with base, sub and top trees.
class Check : public ::testing::Test {
 protected:
  exec::Pool pool_{2};
  const SealCommit whole_ = synthetic_porep(32768, cuzk::testing::seed(), pool_).value();
  SealCommit commit_ = whole_;
  ChallengeProof& challenge(size_t i) { return commit_.partitions[0][i]; }

  void expect_failure(std::string_view message, Code code = Code::kUnsatisfied) {
    Status status = check_vanilla(commit_, pool_);
    ASSERT_FALSE(status) << "accepted, but should say: " << message;
    EXPECT_EQ(code_name(status.error().code), code_name(code));
    EXPECT_THAT(status.error().message, StartsWith(std::string(message)));
  }
};

TEST_F(Check, NamesWhatIsWrong) {
  struct Case {
    std::function<void(ChallengeProof&)> damage;  // of the second challenge
    const char* message;
  };
  const std::string second = "partition 0, challenge 1: ";
  auto bump = [](Bytes32& value) { value[3] ^= 1; };
  const Case cases[] = {
      {[&](auto& c) { c.labeling[0].node ^= 1; }, "challenge: is for node"},
      {[&](auto& c) { bump(c.comm_d.root); }, "comm_d_proofs: its root is not the tree's"},
      {[&](auto& c) { bump(c.comm_d.leaf); }, "comm_d_proofs: its path does not lead to its root"},
      {[&](auto& c) { bump(c.comm_d.path[9].hashes[0]); }, "comm_d_proofs: its path does not lead to its root"},
      {[&](auto& c) { c.comm_d.path[4].index ^= 1; }, "comm_d_proofs: path[4] stands at"},
      {[&](auto& c) { bump(c.comm_r_last.root); }, "comm_r: is not the hash of comm_c and comm_r_last"},
      {[&](auto& c) { bump(c.comm_r_last.leaf); }, "comm_r_last_proof: its path does not lead to its root"},
      {[&](auto& c) { bump(c.comm_r_last.path[3].hashes[0]); },
       "comm_r_last_proof: its path does not lead to its root"},
      {[&](auto& c) { c.comm_r_last.path[2].index ^= 1; }, "comm_r_last_proof: path[2] stands at"},
      {[&](auto& c) { bump(c.c_x.inclusion.root); }, "comm_r: is not the hash of comm_c and comm_r_last"},
      {[&](auto& c) { bump(c.c_x.column.rows[1]); }, "c_x: its column does not hash to its leaf"},
      {[&](auto& c) { c.c_x.column.index ^= 1; }, "c_x: is the column of node"},
      {[&](auto& c) { bump(c.c_x.inclusion.path[1].hashes[6]); },
       "c_x: inclusion_proof: its path does not lead to its root"},
      {[&](auto& c) { bump(c.drg_parents[5].column.rows[0]); }, "drg_parents[5]: its column does not hash to its leaf"},
      {[&](auto& c) { bump(c.drg_parents[2].inclusion.root); },
       "drg_parents[2]: inclusion_proof: its root is not the tree's"},
      {[&](auto& c) { c.drg_parents[0].column.index ^= 1; }, "drg_parents[0]: is the column of node"},
      {[&](auto& c) { bump(c.exp_parents[7].inclusion.leaf); }, "exp_parents[7]: its column does not hash to its leaf"},
      {[&](auto& c) { bump(c.exp_parents[3].inclusion.path[0].hashes[0]); },
       "exp_parents[3]: inclusion_proof: its path does not lead to its root"},
      {[&](auto& c) { std::swap(c.exp_parents[0], c.exp_parents[1]); }, "exp_parents[0]: is the column of node"},
      {[&](auto& c) { bump(c.labeling[0].parents[36]); },
       "labeling_proofs[0]: parents[36] is not in its parent's column"},
      {[&](auto& c) { bump(c.labeling[1].parents[13]); },
       "labeling_proofs[1]: parents[13] is not in its parent's column"},
      {[&](auto& c) { c.labeling[1].layer = 1; }, "labeling_proofs[1]: layer_index is 1, not 2"},
      {[&](auto& c) { c.labeling[1].node ^= 1; }, "labeling_proofs[1]: is for node"},
      {[&](auto& c) { bump(c.encoding.parents[0]); }, "encoding_proof: its parents are not those of the last layer"},
      {[&](auto& c) { c.encoding.layer = 1; }, "encoding_proof: layer_index is 1, not 2"},
      {[&](auto& c) { c.encoding.node ^= 1; }, "encoding_proof: is for node"},
  };
  for (const Case& one : cases) {
    commit_ = whole_;
    one.damage(challenge(1));
    expect_failure(second + one.message);
  }
}

TEST_F(Check, NamesWhatIsWrongWithTheSector) {
  auto damaged = [&](auto damage, std::string_view message, Code code = Code::kUnsatisfied) {
    commit_ = whole_;
    damage();
    expect_failure(message, code);
  };
  damaged([&] { commit_.seed[0] ^= 1; }, "partition 0, challenge 0: challenge: is for node");
  damaged([&] { commit_.replica_id[0] ^= 1; }, "partition 0, challenge 0: challenge: is for node");
  damaged([&] { commit_.comm_d[0] ^= 1; }, "partition 0, challenge 0: comm_d_proofs: its root is not the tree's");
  damaged([&] { commit_.comm_r[0] ^= 1; }, "partition 0, challenge 0: comm_r: is not the hash");
  damaged([&] { commit_.comm_r.fill(0xff); }, "ffff");
  damaged([&] { commit_.registered_proof = "StackedDrg9KiBV1"; }, "'StackedDrg9KiBV1'", Code::kInvalidInput);
  damaged([&] { commit_.partitions.emplace_back(); }, "StackedDrg32KiBV1_1 has 1 partitions, not 2",
          Code::kInvalidInput);
  damaged([&] { commit_.partitions[0].pop_back(); }, "partition 0 has 1 challenges, not 2", Code::kInvalidInput);
  for (auto damage : std::vector<std::function<void(ChallengeProof&)>>{
           [](auto& c) { c.labeling.clear(); },
           [](auto& c) { c.drg_parents.pop_back(); },
           [](auto& c) { c.exp_parents.pop_back(); },
           [](auto& c) { c.c_x.column.rows.clear(); },
           [](auto& c) { c.exp_parents[1].column.rows.emplace_back(); },
           [](auto& c) { c.labeling[0].parents.pop_back(); },
           [](auto& c) { c.encoding.parents.clear(); },
       }) {
    damaged([&] { damage(challenge(0)); }, "partition 0, challenge 0: parents, layers or columns are missing",
            Code::kInvalidInput);
  }
  damaged([&] { challenge(0).c_x.inclusion.path.pop_back(); },
          "partition 0, challenge 0: c_x: inclusion_proof: its path has 3 levels");
  damaged([&] { challenge(0).c_x.inclusion.path[0].hashes.pop_back(); },
          "partition 0, challenge 0: c_x: inclusion_proof: path[0] has 6 siblings");
}

// The first failure in order of challenges is told, whichever thread finds one first.
TEST_F(Check, TellsTheFirstFailure) {
  exec::Pool pool(4);
  challenge(0).encoding.layer = 1;  // the last check of its challenge
  challenge(1).comm_d.leaf[0] ^= 1;
  for (int round = 0; round < 20; round++) {
    EXPECT_THAT(check_vanilla(commit_, pool).error().message, StartsWith("partition 0, challenge 0: encoding_proof"));
  }
}

// Calls visit with every node value of a challenge.
void visit_values(ChallengeProof& proof, const std::function<void(Bytes32&)>& visit) {
  auto all = [&](std::vector<Bytes32>& values) { std::ranges::for_each(values, visit); };
  auto merkle = [&](MerkleProof& merkle_proof) {
    visit(merkle_proof.root);
    visit(merkle_proof.leaf);
    for (PathElement& element : merkle_proof.path) all(element.hashes);
  };
  auto column = [&](ColumnProof& column_proof) {
    all(column_proof.column.rows);
    merkle(column_proof.inclusion);
  };
  merkle(proof.comm_d);
  merkle(proof.comm_r_last);
  column(proof.c_x);
  std::ranges::for_each(proof.drg_parents, column);
  std::ranges::for_each(proof.exp_parents, column);
  for (LabelingProof& labeling : proof.labeling) all(labeling.parents);
  all(proof.encoding.parents);
}

TEST_F(Check, NoValueIsIdle) {
  auto random = cuzk::testing::rng(4);
  size_t values = 0;
  visit_values(challenge(0), [&](Bytes32&) { values++; });
  EXPECT_EQ(values, 2u + 10 + 2 + 22 + 15 * (2 + 2 + 22) + 3 * 37);
  for (size_t target = random() % 6; target < values; target += 1 + random() % 6) {  // another sample for every seed
    commit_ = whole_;
    const size_t i = random() % 2;
    size_t index = 0;
    visit_values(challenge(i), [&](Bytes32& value) {
      if (index++ == target) value[random() % 32] ^= static_cast<uint8_t>(1u << random() % 8);
    });
    Status status = check_vanilla(commit_, pool_);
    ASSERT_FALSE(status) << target;
    EXPECT_THAT(status.error().message, StartsWith(fmt::format("partition 0, challenge {}: ", i)));
  }
}

Bytes32 poseidon(const std::vector<Bytes32>& preimage) {
  std::vector<Fr> values;
  for (const Bytes32& value : preimage) values.push_back(*Fr::from_bytes_le(value));
  Bytes32 out;
  hash::poseidon(values).to_bytes_le(out);
  return out;
}

// The nodes on the way from a leaf to the root, both included.
std::vector<Bytes32> path_nodes(const MerkleProof& proof) {
  std::vector<Bytes32> out = {proof.leaf};
  for (const PathElement& element : proof.path) {
    std::vector<Bytes32> children = element.hashes;
    children.insert(children.begin() + static_cast<ptrdiff_t>(element.index), out.back());
    out.push_back(poseidon(children));
  }
  return out;
}

// Trees and comm_r made anew over a false replica value: only the encoding itself is left to object.
TEST_F(Check, EncodingIsRecomputed) {
  ChallengeProof& first = challenge(0);
  first.comm_r_last.leaf[0] ^= 1;
  first.comm_r_last.root = path_nodes(first.comm_r_last).back();
  commit_.comm_r = poseidon({first.c_x.inclusion.root, first.comm_r_last.root});
  expect_failure("partition 0, challenge 0: encoding_proof: label and data do not add up to the replica");
}

// Likewise over a false label of the first layer.
TEST_F(Check, LabelsAreRecomputed) {
  ChallengeProof& first = challenge(0);
  MerkleProof& changed = first.c_x.inclusion;
  first.c_x.column.rows[0][0] ^= 1;
  changed.leaf = poseidon(first.c_x.column.rows);
  const std::vector<Bytes32> nodes = path_nodes(changed);
  changed.root = nodes.back();
  for (std::vector<ColumnProof>* parents : {&first.drg_parents, &first.exp_parents}) {
    for (ColumnProof& parent : *parents) {
      // Where the two paths meet, the changed node is one of the parent's siblings.
      uint64_t here = parent.column.index, there = first.c_x.column.index;
      for (size_t level = 0; level < changed.path.size(); level++) {
        std::vector<Bytes32>& siblings = parent.inclusion.path[level].hashes;
        const uint64_t arity = siblings.size() + 1;
        if (here != there && here / arity == there / arity) {
          const uint64_t slot = there % arity - (there % arity > here % arity);
          siblings[slot] = nodes[level];
        }
        here /= arity;
        there /= arity;
      }
      parent.inclusion.root = changed.root;
    }
  }
  commit_.comm_r = poseidon({changed.root, first.comm_r_last.root});
  expect_failure("partition 0, challenge 0: labeling_proofs[0]: its label is not in the column of c_x");
}

}  // namespace
}  // namespace cuzk::filecoin
