#include "filecoin/update_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "filecoin/update_testing.h"

namespace cuzk::filecoin {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A request for a made-up sector, and its files in a folder that goes away with the test.
class UpdateSource : public ::testing::Test {
 protected:
  exec::Pool pool_{2};
  const SectorUpdate update_ = synthetic_update(update_shape(16384).value(), cuzk::testing::seed(), pool_);
  std::vector<Bytes> proofs_;
  UpdateRequest request_;
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      fmt::format("cuzk-{}-{}", ::getpid(), ::testing::UnitTest::GetInstance()->current_test_info()->name());

  void SetUp() override {
    for (const auto& proof : update_.partitions) proofs_.push_back(write_update_proof(update_.shape, *proof));
    const UpdateStatement& statement = update_.statement;
    request_ = {update_.shape, statement.comm_r_old, statement.comm_d_new, statement.comm_r_new, {}};
    request_.vanilla_proofs.assign(proofs_.begin(), proofs_.end());
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string fault(Code code = Code::kInvalidInput) {
    auto source = make_update_source(request_, pool_);
    EXPECT_FALSE(source);
    if (source) return "";
    EXPECT_EQ(code_name(source.error().code), code_name(code));
    return source.error().message;
  }
};

TEST_F(UpdateSource, IsWhatTheRequestSays) {
  auto source = make_update_source(request_, pool_);
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->circuit_id(), "update-16KiB");
  EXPECT_EQ((*source)->partitions(), 2u);
  EXPECT_EQ((*source)->public_inputs(1).value(), update_public_inputs(update_.shape, update_.statement, 1).value());
  EXPECT_EQ((*source)->public_inputs(2).error().code, Code::kInvalidInput);
  const r1cs::Circuit other = compile_update(update_shape(1024).value());
  EXPECT_EQ((*source)->synthesise(0, other, r1cs::testing::room_for(other)).error().code, Code::kInternal);
  EXPECT_EQ((*source)->synthesise(2, other, r1cs::testing::room_for(other)).error().code, Code::kInvalidInput);
}

TEST_F(UpdateSource, CountsAndLengthsComeFirst) {
  Bytes damaged = proofs_[0];
  damaged[31] = 0xff;
  request_.vanilla_proofs[0] = damaged;
  EXPECT_THAT(fault(), StartsWith("partition 0: comm_c is "));
  request_.vanilla_proofs[1] = ByteSpan(proofs_[1]).first(100);
  EXPECT_THAT(fault(), StartsWith("partition 1: its vanilla proof is cut short: 100 bytes of"));
  request_.vanilla_proofs.pop_back();
  EXPECT_EQ(fault(), "an update of a 16KiB sector has 2 vanilla proofs, one a partition, not 1");
  request_.vanilla_proofs.clear();
  EXPECT_THAT(fault(), HasSubstr("not 0"));
}

TEST_F(UpdateSource, CommitmentsAreElements) {
  request_.comm_d_new = request_.comm_d_new.first(31);
  EXPECT_EQ(fault(), "comm_d_new must be exactly 32 bytes, got 31");
  request_.comm_d_new = {};
  EXPECT_EQ(fault(), "comm_d_new must be exactly 32 bytes, got 0");
  Bytes32 too_large;
  too_large.fill(0xff);
  request_.comm_r_old = too_large;
  EXPECT_EQ(fault(), "comm_r_old is not below the field order");
}

TEST_F(UpdateSource, FalseProofsAreFound) {
  std::swap(request_.comm_r_old, request_.comm_r_new);
  EXPECT_THAT(fault(Code::kUnsatisfied), StartsWith("partition 0: comm_r_old"));
  EXPECT_TRUE(make_update_source(request_, pool_, VanillaCheck::kNone));
}

TEST_F(UpdateSource, FilesAreReadBack) {
  ASSERT_TRUE(write_update(update_, folder_));
  auto read = read_update(folder_ / "update.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->statement, update_.statement);
  EXPECT_EQ(read->partitions, update_.partitions);
  EXPECT_TRUE(make_update_source_from_json(folder_ / "update.json", pool_));

  // Without a file that partition has public inputs alone.
  std::filesystem::remove(folder_ / "update-0.vanilla");
  auto source = make_update_source_from_json(folder_ / "update.json", pool_);
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_TRUE((*source)->public_inputs(0));
  EXPECT_THAT((*source)->synthesise(0, r1cs::Circuit{}, r1cs::testing::room_for({})).error().message,
              StartsWith("partition 0: its vanilla proof is missing"));
}

// The names and the form are those of the vectors.
TEST_F(UpdateSource, FilesAreTheVectors) {
  CUZK_SKIP_WITHOUT_VECTORS();
  const std::filesystem::path sector = cuzk::testing::vectors() / "seal" / "16KiB";
  ASSERT_TRUE(write_update(read_update(sector / "update.json").value(), folder_));
  EXPECT_EQ(testing::read_json(folder_ / "update.json"), testing::read_json(sector / "update.json"));
  for (const char* name : {"update-0.vanilla", "update-1.vanilla"}) {
    EXPECT_EQ(testing::read_file(folder_ / name), testing::read_file(sector / name));
  }
}

TEST_F(UpdateSource, FaultsOfTheFilesAreNamed) {
  ASSERT_TRUE(write_update(update_, folder_));
  const nlohmann::json good = testing::read_json(folder_ / "update.json");
  auto message = [&](auto&& spoil, Code code = Code::kInvalidInput) {
    nlohmann::json bad = good;
    spoil(bad);
    std::ofstream(folder_ / "bad.json") << bad;
    auto update = read_update(folder_ / "bad.json");
    EXPECT_FALSE(update);
    if (update) return std::string();
    EXPECT_EQ(code_name(update.error().code), code_name(code));
    EXPECT_THAT(update.error().message, StartsWith((folder_ / "bad.json: ").string()));
    return update.error().message;
  };
  EXPECT_THAT(message([](auto& j) { j = 7; }), HasSubstr("no json object"));
  EXPECT_THAT(message([](auto& j) { j.erase("size"); }), HasSubstr("'size'"));
  EXPECT_THAT(message([](auto& j) { j["size"] = "3KiB"; }), HasSubstr("3KiB cannot be updated"));
  EXPECT_THAT(message([](auto& j) { j["h"] = 10; }), HasSubstr("'h'"));
  EXPECT_THAT(message([](auto& j) { j["comm_d_new"] = "00"; }), HasSubstr("comm_d_new must be exactly 32 bytes"));
  EXPECT_THAT(message([](auto& j) { j["comm_r_new"] = 5; }), HasSubstr("'comm_r_new'"));
  EXPECT_THAT(message([](auto& j) { j.erase("partition_proofs"); }), HasSubstr("'partition_proofs' is no list"));
  EXPECT_THAT(message([](auto& j) { j["partition_proofs"].erase(0); }), HasSubstr("names 1 files, not 2"));
  EXPECT_THAT(message([](auto& j) { j["partition_proofs"][1] = 4; }), HasSubstr("something else than names"));
  EXPECT_THAT(message([](auto& j) { j["partition_proofs"][1] = "../x"; }), HasSubstr("'../x' is no file beside"));
  std::filesystem::resize_file(folder_ / "update-1.vanilla", 40);
  EXPECT_THAT(message([](auto&) {}), HasSubstr("update-1.vanilla: apex_leafs[0] is cut short"));
  EXPECT_EQ(code_name(read_update(folder_ / "none.json").error().code), "not_found");
}

}  // namespace
}  // namespace cuzk::filecoin
