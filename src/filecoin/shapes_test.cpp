#include "filecoin/shapes.h"

#include <gtest/gtest.h>

namespace cuzk::filecoin {
namespace {

TEST(Shapes, PathsReachEveryLeaf) {
  ASSERT_EQ(porep_shapes().size(), 10u);
  for (const PorepShape& shape : porep_shapes()) {
    SCOPED_TRACE(shape.sector_bytes);
    uint64_t leaves = 1;
    for (unsigned arity : path_arities(shape)) leaves *= arity;
    EXPECT_EQ(leaves, shape.nodes);
    EXPECT_EQ(shape.nodes * kNodeBytes, shape.sector_bytes);
    EXPECT_EQ(uint64_t{1} << shape.log2_nodes(), shape.nodes);
    // filecoin-spec C.1: 2 or 176 challenges are the least; 26 or 2253 where non-interactive.
    const bool network = shape.layers == 11;
    EXPECT_GE(shape.challenges_per_partition * shape.partitions, network ? 176u : 2u);
    EXPECT_GE(shape.challenges_per_partition * shape.non_interactive_partitions, network ? 2253u : 26u);
  }
}

TEST(Shapes, NetworkSizes) {
  const PorepShape shape32 = *porep_shape(uint64_t{32} << 30), shape64 = *porep_shape(uint64_t{64} << 30);
  EXPECT_EQ(path_arities(shape32), std::vector<unsigned>(10, 8));
  std::vector<unsigned> expected(10, 8);
  expected.push_back(2);
  EXPECT_EQ(path_arities(shape64), expected);
  EXPECT_EQ(shape32.log2_nodes(), 30u);
  EXPECT_EQ(shape64.log2_nodes(), 31u);
}

TEST(Shapes, OtherSizesAreRefused) {
  for (uint64_t size : {uint64_t{0}, uint64_t{2047}, uint64_t{1024}, uint64_t{8192}, ~uint64_t{0}}) {
    const auto shape = porep_shape(size);
    ASSERT_FALSE(shape) << size;
    EXPECT_EQ(shape.error().code, Code::kInvalidInput);
    EXPECT_NE(shape.error().message.find("16MiB"), std::string::npos) << shape.error().message;
  }
}

TEST(RegisteredProof, NumbersAndNames) {  // filecoin-spec G.7
  const char* sizes[] = {"2KiB", "8MiB", "512MiB", "32GiB", "64GiB"};
  struct Group {
    const char* suffix;
    ApiVersion api;
    ChallengeKind challenges;
    unsigned small_partitions, large_partitions;
  };
  const Group groups[] = {
      {"V1", ApiVersion::kV1_0, ChallengeKind::kInteractive, 1, 10},
      {"V1_1", ApiVersion::kV1_1, ChallengeKind::kInteractive, 1, 10},
      {"V1_1_Feat_SyntheticPoRep", ApiVersion::kV1_2, ChallengeKind::kSynthetic, 1, 10},
      {"V1_2_Feat_NonInteractivePoRep", ApiVersion::kV1_2, ChallengeKind::kNonInteractive, 13, 126},
  };
  for (unsigned number = 0; number < 20; number++) {
    const Group& group = groups[number / 5];
    const std::string name = std::string("StackedDrg") + sizes[number % 5] + group.suffix;
    const RegisteredProof proof = registered_proof(name).value();
    EXPECT_EQ(proof.name, name);
    EXPECT_EQ(proof.number, number);
    EXPECT_EQ(registered_proof(number).value().name, name);
    EXPECT_EQ(format_size(proof.sector_bytes), sizes[number % 5]);
    EXPECT_EQ(proof.api, group.api);
    EXPECT_EQ(proof.challenges, group.challenges);
    EXPECT_EQ(proof.partitions, number % 5 < 3 ? group.small_partitions : group.large_partitions);
    Bytes32 porep_id{};
    porep_id[0] = static_cast<uint8_t>(number);
    EXPECT_EQ(proof.porep_id, porep_id);
    EXPECT_FALSE(unregistered_proof(name));
  }
  EXPECT_EQ(registered_proof(uint64_t{20}).error().code, Code::kInvalidInput);
  for (const char* name : {"", "StackedDrg", "StackedDrg2KiBV1_3", "stackedDrg2KiBV1", "StackedDrg16KiBV1_1"}) {
    ASSERT_FALSE(registered_proof(name)) << name;
    EXPECT_EQ(registered_proof(name).error().code, Code::kInvalidInput);
  }
}

TEST(RegisteredProof, UnregisteredOnesAreNamedAlike) {
  const RegisteredProof proof = unregistered_proof("StackedDrg16KiBV1_1").value();
  EXPECT_EQ(to_hex(proof.porep_id), "ff537461636b656444726731364b694256315f31000000000000000000000000");
  EXPECT_FALSE(proof.number);
  EXPECT_EQ(proof.sector_bytes, 16384u);
  EXPECT_EQ(proof.api, ApiVersion::kV1_1);
  EXPECT_EQ(unregistered_proof("StackedDrg2KiBV1_2").value().api, ApiVersion::kV1_2);
  for (const char* name : {"", "StackedDrg3KiBV1", "StackedDrg16KiBV1_1_Feat_SyntheticPoRep", "StackedDrg16KiB"}) {
    EXPECT_FALSE(unregistered_proof(name)) << name;
  }
}

}  // namespace
}  // namespace cuzk::filecoin
