#include "filecoin/post_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "filecoin/post_testing.h"

namespace cuzk::filecoin {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A window request of three sectors, and what it is made of.
class PostSource : public ::testing::Test {
 protected:
  exec::Pool pool_{2};
  const PostShape shape_ = post_shape(PostKind::kWindow, 2048).value();
  const PostInput input_ = testing::made_up_post(PostKind::kWindow, 2048, 3, cuzk::testing::seed(), pool_);
  std::vector<Bytes> files_;
  PostRequest request_;

  void SetUp() override {
    for (const PostSectorProof& sector : input_.sectors) files_.push_back(write_post_proof(sector, shape_));
    request_.proof = input_.proof;
    request_.randomness = input_.randomness;
    request_.prover_id = input_.prover_id;
    request_.vanilla_proofs.assign(files_.begin(), files_.end());
  }
  std::string fault() {
    auto source = make_window_source(request_, pool_);
    EXPECT_FALSE(source);
    if (source) return "";
    EXPECT_EQ(source.error().code, Code::kInvalidInput);
    return source.error().message;
  }
};

TEST_F(PostSource, SortsSectors) {
  std::ranges::reverse(request_.vanilla_proofs);
  EXPECT_EQ(parse_post(request_).value().sectors, input_.sectors);
  auto source = make_window_source(request_, pool_);
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->circuit_id(), "window-2KiB");
  EXPECT_EQ((*source)->partitions(), 2u);
  const r1cs::Circuit circuit = (*source)->compile().value();
  for (uint32_t k = 0; k < 2; k++) {
    EXPECT_EQ(testing::first_unsatisfied(**source, k, circuit, pool_), circuit.num_constraints);
  }
  EXPECT_EQ((*source)->public_inputs(2).error().code, Code::kInvalidInput);
  EXPECT_EQ((*source)->synthesise(2, circuit, r1cs::testing::room_for(circuit)).error().code, Code::kInvalidInput);
  const r1cs::Circuit other = compile_post(post_shape(PostKind::kWindow, 4096).value());
  EXPECT_EQ((*source)->synthesise(0, other, r1cs::testing::room_for(other)).error().code, Code::kInternal);
}

// The chain puts a good sector in place of a faulty one; the verifier counts it once.
TEST_F(PostSource, RepeatedSectorsCountOnce) {
  request_.vanilla_proofs.push_back(files_[0]);
  EXPECT_EQ(parse_post(request_).value().sectors, input_.sectors);
  Bytes other = files_[0];
  other[60]++;  // the root of the first path
  request_.vanilla_proofs.back() = other;
  EXPECT_EQ(fault(),
            fmt::format("sector {} is there twice, with different vanilla proofs", input_.sectors[0].sector_id));
}

TEST_F(PostSource, OnePartition) {
  request_.partition = 3;
  EXPECT_EQ(fault(), "3 vanilla proofs, but a partition of StackedDrgWindow2KiBV1_2 holds 2 sectors");
  request_.vanilla_proofs.pop_back();
  EXPECT_EQ(parse_post(request_).value().first_partition, 3u);
  EXPECT_TRUE(make_window_source(request_, pool_));
  // Under the older versions the sectors would be challenged elsewhere.
  request_.proof = registered_post(5).value();
  EXPECT_EQ(make_window_source(request_, pool_).error().code, Code::kUnsatisfied);
}

TEST_F(PostSource, WrongRequestsAreNamed) {
  EXPECT_EQ(make_winning_source(request_, pool_).error().message, "StackedDrgWindow2KiBV1_2 is no winning PoSt");
  const PostRequest good = request_;
  auto spoilt = [&](auto&& spoil) {
    request_ = good;
    spoil();
    return fault();
  };
  EXPECT_EQ(spoilt([&] { request_.randomness = request_.randomness.first(31); }),
            "randomness must be exactly 32 bytes, got 31");
  const Bytes32 too_large = [] {
    Bytes32 bytes;
    bytes.fill(0xff);
    return bytes;
  }();
  EXPECT_THAT(spoilt([&] { request_.randomness = too_large; }), StartsWith("randomness is not below the field order"));
  EXPECT_THAT(spoilt([&] { request_.prover_id = too_large; }), StartsWith("prover_id is not below"));
  EXPECT_EQ(spoilt([&] { request_.vanilla_proofs.clear(); }), "there is no vanilla proof");
  EXPECT_EQ(spoilt([&] { request_.vanilla_proofs[2] = request_.vanilla_proofs[2].first(100); }),
            fmt::format("vanilla proof 2 is cut short: 100 bytes of {}", files_[2].size()));
  EXPECT_THAT(spoilt([&] { request_.proof = registered_post(11).value(); }),
              StartsWith("vanilla proof 0 is cut short"));
  files_[1][48] = 11;
  EXPECT_EQ(spoilt([] {}), "vanilla proof 1: inclusion_proofs has 11 entries, not 10");
}

TEST_F(PostSource, FalseProofsAreUnsatisfied) {
  files_[1][60 + 64 + 8 + 8]++;  // the first sibling of the first path
  EXPECT_EQ(make_window_source(request_, pool_).error().code, Code::kUnsatisfied);
  auto source = make_window_source(request_, pool_, VanillaCheck::kNone);
  ASSERT_TRUE(source) << source.error().message;
  const r1cs::Circuit circuit = (*source)->compile().value();
  EXPECT_LT(testing::first_unsatisfied(**source, 0, circuit, pool_), circuit.num_constraints);
}

TEST(WinningSource, IsOfOneSector) {
  exec::Pool pool(2);
  const PostInput input = testing::made_up_post(PostKind::kWinning, 16384, 1, cuzk::testing::seed(), pool);
  const Bytes file = write_post_proof(input.sectors[0], post_shape(PostKind::kWinning, 16384).value());
  PostRequest request{input.proof, input.randomness, input.prover_id, {file}, {}};
  auto source = make_winning_source(request, pool);
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->circuit_id(), "winning-16KiB");
  EXPECT_EQ((*source)->partitions(), 1u);
  EXPECT_EQ((*source)->public_inputs(0).value().size(), 132u);
  request.vanilla_proofs.push_back(file);
  EXPECT_EQ(make_winning_source(request, pool).error().message,
            "StackedDrgWinning16KiBV1 is of one sector, but there are 2 vanilla proofs");
  EXPECT_EQ(synthetic_post(input.proof, 2, 1, pool).error().code, Code::kInvalidInput);
  EXPECT_EQ(synthetic_post(registered_post(5).value(), 0, 1, pool).error().code, Code::kInvalidInput);
}

class PostFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path() / "cuzk-post-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
  exec::Pool pool_{2};
};

TEST_F(PostFiles, ReadWhatIsWritten) {
  for (PostKind kind : {PostKind::kWinning, PostKind::kWindow}) {
    const PostInput input = testing::made_up_post(kind, 4096, kind == PostKind::kWinning ? 1 : 3, 5, pool_);
    ASSERT_TRUE(write_post(input, folder_));
    const auto path = folder_ / fmt::format("{}.json", post_kind_name(kind));
    const PostInput again = read_post(path).value();
    EXPECT_EQ(again.sectors, input.sectors);
    EXPECT_EQ(again.proof.name, input.proof.name);
    EXPECT_EQ(again.randomness, input.randomness);
    EXPECT_EQ(again.prover_id, input.prover_id);
    EXPECT_TRUE(make_post_source_from_json(path, pool_));
    EXPECT_EQ(testing::made_up_post(kind, 4096, input.sectors.size(), 5, pool_).sectors, input.sectors);
    EXPECT_NE(testing::made_up_post(kind, 4096, input.sectors.size(), 6, pool_).sectors, input.sectors);
  }
  EXPECT_EQ(write_post(testing::made_up_post(PostKind::kWindow, 2048, 1, 5, pool_), folder_ / "nowhere").error().code,
            Code::kIo);
}

// The reference's file comes out as it went in.
TEST_F(PostFiles, AreTheReferencesFiles) {
  CUZK_SKIP_WITHOUT_VECTORS();
  for (const char* kind : {"winning", "window"}) {
    const auto path = cuzk::testing::vectors() / "seal/2KiB" / fmt::format("{}.json", kind);
    ASSERT_TRUE(write_post(read_post(path).value(), folder_));
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      EXPECT_EQ(testing::read_file(entry.path()), testing::read_file(path.parent_path() / entry.path().filename()))
          << entry.path();
    }
  }
}

TEST_F(PostFiles, WrongFilesAreNamed) {
  ASSERT_TRUE(write_post(testing::made_up_post(PostKind::kWindow, 2048, 1, 5, pool_), folder_));
  const nlohmann::json good = testing::read_json(folder_ / "window.json");
  const auto path = folder_ / "wrong.json";
  auto message = [&](const std::string& text) {
    std::ofstream(path) << text;
    auto input = read_post(path);
    EXPECT_FALSE(input) << text;
    return input ? "" : input.error().message;
  };
  for (const char* name : {"kind", "size", "api", "randomness", "prover_id", "sectors"}) {
    nlohmann::json json = good;
    json.erase(name);
    EXPECT_THAT(message(json.dump()), HasSubstr(name));
    json[name] = 7;
    EXPECT_THAT(message(json.dump()), HasSubstr(name));
  }
  auto with = [&](const char* name, const char* value) {
    nlohmann::json json = good;
    json[name] = value;
    return message(json.dump());
  };
  EXPECT_THAT(with("kind", "seal"), HasSubstr("neither winning nor window"));
  EXPECT_THAT(with("kind", "winning"), HasSubstr("WinningPoSt is of version 1.0.0"));
  EXPECT_THAT(with("size", "3KiB"), HasSubstr("no sector has 3KiB"));
  EXPECT_THAT(with("api", "2"), HasSubstr("'2' is no api version"));
  EXPECT_THAT(with("randomness", "00"), HasSubstr("randomness must be exactly 32 bytes, got 1"));
  EXPECT_THAT(with("randomness", "zz"), HasSubstr("randomness: "));
  nlohmann::json json = good;
  json["sectors"][0]["vanilla"] = "../window.json";
  EXPECT_THAT(message(json.dump()), HasSubstr("no file beside the json file"));
  json["sectors"][0]["vanilla"] = "absent.vanilla";
  EXPECT_THAT(message(json.dump()), HasSubstr("absent.vanilla' cannot be read"));
  json["sectors"][0] = 1;
  EXPECT_THAT(message(json.dump()), HasSubstr("no json object"));
  for (const char* text : {"", "[]", "{", "null", "{} {}"}) EXPECT_THAT(message(text), HasSubstr("no json object"));
  EXPECT_EQ(read_post(folder_ / "none.json").error().code, Code::kNotFound);
}

}  // namespace
}  // namespace cuzk::filecoin
