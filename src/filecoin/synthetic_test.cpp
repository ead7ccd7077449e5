#include "filecoin/synthetic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/testing.h"
#include "filecoin/c1.h"
#include "filecoin/check.h"

namespace cuzk::filecoin {
namespace {

using ::testing::HasSubstr;

Bytes text_of(const SealCommit& commit) {
  Bytes text;
  Status status = write_c1(commit, C1Form::kBare, [&](std::string_view piece) {
    text.insert(text.end(), piece.begin(), piece.end());
    return Status();
  });
  EXPECT_TRUE(status) << status.error().message;
  return text;
}

TEST(Synthetic, PassesTheNativeCheck) {
  exec::Pool pool;
  for (const char* size : {"2KiB", "4KiB", "16KiB", "32KiB", "8MiB", "16MiB", "512MiB", "1GiB"}) {
    auto commit = synthetic_porep(*parse_size(size), cuzk::testing::seed(), pool);
    ASSERT_TRUE(commit) << commit.error().message;
    EXPECT_EQ(commit->registered_proof, fmt::format("StackedDrg{}V1_1", size));
    Status status = check_vanilla(*commit, pool);
    EXPECT_TRUE(status) << size << ": " << status.error().message;
    EXPECT_TRUE(parse_c1(text_of(*commit)));
  }
}

// Small sectors over many seeds: challenges that are each other's parents, or equal.
TEST(Synthetic, PassesForEverySeedAndVersion) {
  exec::Pool pool;
  auto random = cuzk::testing::rng(5);
  for (const char* name : {"StackedDrg2KiBV1", "StackedDrg2KiBV1_1", "StackedDrg2KiBV1_2", "StackedDrg4KiBV1"}) {
    for (int round = 0; round < 15; round++) {
      const uint64_t seed = random();
      auto commit = synthetic_porep(name, seed, pool);
      ASSERT_TRUE(commit) << commit.error().message;
      Status status = check_vanilla(*commit, pool);
      EXPECT_TRUE(status) << name << ", seed " << seed << ": " << status.error().message;
    }
  }
}

TEST(Synthetic, IsAFunctionOfItsArguments) {
  exec::Pool one(1), four(4);
  const Bytes text = text_of(*synthetic_porep(uint64_t{8} << 20, 7, one));
  EXPECT_EQ(text, text_of(*synthetic_porep(uint64_t{8} << 20, 7, four)));
  EXPECT_NE(text, text_of(*synthetic_porep(uint64_t{8} << 20, 8, four)));
}

// A path whose siblings equal its own nodes would not notice a wrong index bit.
TEST(Synthetic, SiblingsDiffer) {
  exec::Pool pool;
  const SealCommit commit = *synthetic_porep(uint64_t{512} << 20, cuzk::testing::seed(), pool);
  for (const ChallengeProof& challenge : commit.partitions[0]) {
    std::set<Bytes32> nodes;
    for (const PathElement& element : challenge.comm_d.path) nodes.insert(element.hashes[0]);
    nodes.insert(challenge.comm_d.leaf);
    EXPECT_EQ(nodes.size(), 25u);
  }
}

TEST(Synthetic, SaysWhatItCannotDo) {
  exec::Pool pool(1);
  for (const char* name : {"StackedDrg2KiBV1_1_Feat_SyntheticPoRep", "StackedDrg32GiBV1_2_Feat_NonInteractivePoRep"}) {
    auto commit = synthetic_porep(name, 1, pool);
    ASSERT_FALSE(commit);
    EXPECT_EQ(code_name(commit.error().code), "unimplemented");
    EXPECT_THAT(commit.error().message, HasSubstr("comm_r"));
  }
  EXPECT_FALSE(synthetic_porep(3072, 1, pool));
  EXPECT_FALSE(synthetic_porep("StackedDrg3KiBV1", 1, pool));
}

}  // namespace
}  // namespace cuzk::filecoin
