#include "filecoin/challenges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "field/fields.h"

namespace cuzk::filecoin {
namespace {

using Nodes = std::vector<uint64_t>;

Bytes32 filled(uint8_t byte) {
  Bytes32 out;
  out.fill(byte);
  return out;
}
Bytes32 field_bytes(uint64_t value) {
  Bytes32 out;
  Fr::from_u64(value).to_bytes_le(out);
  return out;
}
Nodes head(Nodes nodes, size_t count) {
  nodes.resize(count);
  return nodes;
}

// The statement of the vectors of filecoin-spec C.8.
PorepStatement statement() {
  PorepStatement out{{}, {}, filled(7), filled(0x42)};
  std::iota(out.replica_id.begin(), out.replica_id.end(), uint8_t{0});
  out.comm_r[31] = 1;
  return out;
}
Nodes challenges(const char* name, uint32_t partition) {
  const RegisteredProof proof = registered_proof(name).value();
  return porep_challenges(proof, porep_shape(proof.sector_bytes).value(), statement(), partition);
}

TEST(Challenges, Interactive) {
  EXPECT_EQ(challenges("StackedDrg2KiBV1_1", 0), (Nodes{16, 7}));
  const Nodes first = challenges("StackedDrg32GiBV1_1", 0);
  EXPECT_EQ(first.size(), 18u);
  EXPECT_EQ(head(first, 4), (Nodes{412917262, 966745717, 764840266, 172237107}));
  EXPECT_EQ(head(challenges("StackedDrg32GiBV1_1", 9), 4), (Nodes{746785654, 679868246, 263777340, 110593039}));
}

TEST(Challenges, NonInteractive) {
  EXPECT_EQ(challenges("StackedDrg2KiBV1_2_Feat_NonInteractivePoRep", 12), (Nodes{30, 2}));
  EXPECT_EQ(head(challenges("StackedDrg32GiBV1_2_Feat_NonInteractivePoRep", 125), 4),
            (Nodes{348113028, 695302035, 983781787, 874699896}));
}

TEST(Challenges, Synthetic) {
  const SyntheticChallenges synthetic(1024, field_bytes(55), field_bytes(101), 21);
  const Nodes all = {178, 297, 869, 211, 875, 477, 94,  781, 124, 332, 856,
                     801, 176, 692, 429, 691, 290, 204, 986, 210, 973};
  EXPECT_EQ(synthetic.generate(0, 21), all);
  EXPECT_EQ(synthetic.generate(5, 3), Nodes(all.begin() + 5, all.begin() + 8));
  const Nodes selected = {176, 781, 801, 986, 290, 211, 692, 856, 986, 332};
  EXPECT_EQ(synthetic.select(filled(1), 0, 10), selected);
  EXPECT_EQ(synthetic.select(filled(1), 7, 3), Nodes(selected.begin() + 7, selected.end()));
  EXPECT_EQ(SyntheticChallenges(1024, {}, {}).size(), 1024u);
  EXPECT_EQ(SyntheticChallenges(uint64_t{1} << 30, {}, {}).size(), uint64_t{1} << 18);
}

TEST(Challenges, ReachAllNodesButTheFirst) {
  const Nodes drawn = interactive_challenges(64, filled(3), filled(4), 0, 4000);
  std::vector<bool> seen(64);
  for (uint64_t node : drawn) seen.at(node) = true;
  EXPECT_FALSE(seen[0]);
  EXPECT_EQ(std::ranges::count(seen, true), 63);
}

TEST(Identity, ReplicaId) {
  Bytes32 prover{};
  prover[0] = 0xe8, prover[1] = 0x07;
  EXPECT_EQ(prover_id(1000), prover);
  Bytes32 comm_d = filled(2);
  comm_d[31] = 0;
  EXPECT_EQ(to_hex(replica_id(prover_id(1000), 1, filled(1), comm_d, registered_proof(uint64_t{8}).value().porep_id)),
            "bdc73b7bbb39de0306f03083fc1fa81e9bd9f424d232babb91e4c9b2e242af1b");
}

TEST(Identity, ProverIdIsAVarint) {
  auto bytes = [](std::initializer_list<uint8_t> head_bytes) {
    Bytes32 out{};
    std::ranges::copy(head_bytes, out.begin());
    return out;
  };
  EXPECT_EQ(prover_id(0), bytes({0}));
  EXPECT_EQ(prover_id(127), bytes({127}));
  EXPECT_EQ(prover_id(128), bytes({0x80, 1}));
  EXPECT_EQ(prover_id(~uint64_t{0}), bytes({255, 255, 255, 255, 255, 255, 255, 255, 255, 1}));
}

}  // namespace
}  // namespace cuzk::filecoin
