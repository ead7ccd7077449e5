#include "filecoin/post_vanilla.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/allocation_testing.h"
#include "filecoin/post_testing.h"
#include "hash/sha256.h"

namespace cuzk::filecoin {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(PostShapes, Counts) {  // spec D.1
  for (const PorepShape& sector : porep_shapes()) {
    const PostShape winning = post_shape(PostKind::kWinning, sector.sector_bytes).value();
    EXPECT_EQ(winning.sectors, 66u);
    EXPECT_EQ(winning.challenges, 1u);
    EXPECT_EQ(winning.proof_challenges, 66u);
    const PostShape window = post_shape(PostKind::kWindow, sector.sector_bytes).value();
    const std::string size = format_size(sector.sector_bytes);
    EXPECT_EQ(window.sectors * (1 + window.challenges), size == "32GiB" ? 25839u : size == "64GiB" ? 25300u : 22u);
  }
  EXPECT_EQ(post_shape(PostKind::kWindow, 1024).error().code, Code::kInvalidInput);
}

TEST(PostShapes, RegisteredNumbers) {  // spec G.7
  const char* sizes[] = {"2KiB", "8MiB", "512MiB", "32GiB", "64GiB"};
  for (uint64_t number = 0; number < 15; number++) {
    const RegisteredPost proof = registered_post(number).value();
    EXPECT_EQ(proof.number, number);
    EXPECT_EQ(proof.kind, number < 5 ? PostKind::kWinning : PostKind::kWindow);
    EXPECT_EQ(proof.api, number < 10 ? ApiVersion::kV1_0 : ApiVersion::kV1_2);
    EXPECT_EQ(format_size(proof.sector_bytes), sizes[number % 5]);
    EXPECT_EQ(proof.name, fmt::format("StackedDrg{}{}{}", number < 5 ? "Winning" : "Window", sizes[number % 5],
                                      number < 10 ? "V1" : "V1_2"));
  }
  EXPECT_EQ(registered_post(15).error().code, Code::kInvalidInput);
  EXPECT_FALSE(post_proof(PostKind::kWindow, 16384, ApiVersion::kV1_2).value().number);
  EXPECT_FALSE(post_proof(PostKind::kWinning, 2048, ApiVersion::kV1_2));
  EXPECT_FALSE(post_proof(PostKind::kWindow, 3000, ApiVersion::kV1_2));
  for (ApiVersion api : {ApiVersion::kV1_0, ApiVersion::kV1_1, ApiVersion::kV1_2}) {
    EXPECT_EQ(parse_api_version(api_version_name(api)).value(), api);
  }
  EXPECT_FALSE(parse_api_version("1.3.0"));
}

TEST(PostChallenges, SpecExample) {  // spec D.3
  PostStatement statement{{}, {{5, {}}}};
  statement.randomness.fill(0x42);
  statement.randomness[31] = 2;
  const std::vector<uint64_t> expected = {648379082, 389610372, 1069580769, 280784676};
  const uint64_t size = uint64_t{32} << 30;
  const PostShape winning = post_shape(PostKind::kWinning, size).value();
  const PostShape window = post_shape(PostKind::kWindow, size).value();
  std::vector<uint64_t> challenges = post_challenges(winning, ApiVersion::kV1_0, statement, 0);
  EXPECT_EQ(challenges.size(), 66u);
  for (ApiVersion api : {ApiVersion::kV1_0, ApiVersion::kV1_1, ApiVersion::kV1_2}) {
    const std::vector<uint64_t> of_window = post_challenges(window, api, statement, 0);
    EXPECT_EQ(of_window, std::vector<uint64_t>(challenges.begin(), challenges.begin() + 10));
  }
  challenges.resize(4);
  EXPECT_EQ(challenges, expected);
}

// Before version 1.2 a challenge depends on its place among all of the deadline's, from then on on the sector alone.
TEST(PostChallenges, VersionsDecideWhatTheyDependOn) {
  const PostShape shape = post_shape(PostKind::kWindow, uint64_t{512} << 20).value();
  PostStatement statement{{}, {{3, {}}, {4, {}}, {9, {}}}};
  statement.randomness.fill(7);
  auto leaf = [&](uint64_t sector, uint64_t index) {
    Bytes preimage(statement.randomness.begin(), statement.randomness.end());
    for (uint64_t value : {sector, index}) {
      for (int i = 0; i < 8; i++) preimage.push_back(static_cast<uint8_t>(value >> (8 * i)));
    }
    return load_le<uint64_t>(hash::sha256(preimage).data()) & (shape.sector.nodes - 1);
  };
  for (uint32_t first : {0u, 7u}) {
    statement.first_partition = first;
    for (uint64_t i = 0; i < 3; i++) {
      const auto old = post_challenges(shape, ApiVersion::kV1_1, statement, i);
      EXPECT_EQ(old, post_challenges(shape, ApiVersion::kV1_0, statement, i));
      const auto now = post_challenges(shape, ApiVersion::kV1_2, statement, i);
      const uint64_t partition = first + i / 2, position = i % 2;
      for (uint64_t n = 0; n < 10; n++) {
        EXPECT_EQ(old[n], leaf(statement.sectors[i].id, (partition * 2 + position) * 10 + n));
        EXPECT_EQ(now[n], leaf(statement.sectors[i].id, n));
      }
    }
  }
}

TEST(PostPublicInputs, TheLastSectorFillsUp) {
  exec::Pool pool(1);
  const PostShape shape = post_shape(PostKind::kWindow, 2048).value();
  const PostStatement statement = testing::made_up_post(PostKind::kWindow, 2048, 3, 1, pool).statement();
  const std::vector<Fr> last = post_public_inputs(shape, ApiVersion::kV1_0, statement, 1).value();
  ASSERT_EQ(last.size(), 22u);
  EXPECT_EQ(std::vector<Fr>(last.begin(), last.begin() + 11), std::vector<Fr>(last.begin() + 11, last.end()));
  EXPECT_EQ(last[0], Fr::from_bytes_le(statement.sectors[2].comm_r));
  EXPECT_FALSE(post_public_inputs(shape, ApiVersion::kV1_2, statement, 2));
  EXPECT_FALSE(post_public_inputs(shape, ApiVersion::kV1_2, {}, 0));
  EXPECT_FALSE(post_public_inputs(post_shape(PostKind::kWinning, 2048).value(), ApiVersion::kV1_0, {}, 0));
  PostStatement wrong = statement;
  wrong.sectors[1].comm_r.fill(0xff);
  EXPECT_THAT(post_public_inputs(shape, ApiVersion::kV1_2, wrong, 0).error().message, HasSubstr("comm_r"));
}

TEST(PostVectors, AreAccepted) {
  CUZK_SKIP_WITHOUT_VECTORS();
  exec::Pool pool(2);
  for (const auto& path : testing::post_vectors()) {
    SCOPED_TRACE(path);
    auto source = make_post_source_from_json(path, pool);
    ASSERT_TRUE(source) << source.error().message;
    const nlohmann::json json = testing::read_json(path);
    ASSERT_EQ((*source)->partitions(), json["partitions"]);
    for (uint32_t k = 0; k < (*source)->partitions(); k++) {
      std::vector<Fr> expected;
      for (const nlohmann::json& value : json["public_inputs"][k]) expected.push_back(testing::from_hex_number(value));
      EXPECT_EQ((*source)->public_inputs(k).value(), expected);
    }
    // The form of the files is the reference's.
    const PostInput input = read_post(path).value();
    const PostShape shape = post_shape(input.proof.kind, input.proof.sector_bytes).value();
    for (size_t i = 0; i < input.sectors.size(); i++) {
      EXPECT_EQ(post_challenges(shape, input.proof.api, input.statement(), i), json["sectors"][i]["challenges"]);
      const Bytes file = testing::read_file(path.parent_path() / json["sectors"][i]["vanilla"]);
      EXPECT_EQ(write_post_proof(input.sectors[i], shape), file);
      EXPECT_EQ(post_proof_bytes(shape), file.size());
    }
  }
}

TEST(PostVectors, ProofsOfTheReference) {
  CUZK_SKIP_WITHOUT_VECTORS();
  exec::Pool pool(2);
  for (const char* kind : {"winning", "window"}) {
    auto source =
        make_post_source_from_json(cuzk::testing::vectors() / "seal/2KiB" / fmt::format("{}.json", kind), pool);
    ASSERT_TRUE(source) << source.error().message;
    const auto file = testing::read_json(cuzk::testing::vectors() / "proofs" / fmt::format("{}-2KiB.json", kind));
    for (const nlohmann::json& proof : file.is_array() ? file : nlohmann::json::array({file})) {
      std::vector<Fr> expected;
      for (const nlohmann::json& value : proof["public_inputs"]) expected.push_back(testing::from_hex_number(value));
      EXPECT_EQ((*source)->public_inputs(proof["partition"]).value(), expected);
    }
  }
}

// A made-up pair of sectors with base, sub and top trees.
class PostProof : public ::testing::Test {
 protected:
  exec::Pool pool_{2};
  const PostShape shape_ = post_shape(PostKind::kWindow, 32768).value();
  const PostInput whole_ = testing::made_up_post(PostKind::kWindow, 32768, 2, cuzk::testing::seed(), pool_);
  const Bytes bytes_ = write_post_proof(whole_.sectors[1], shape_);
  const std::string second_ = fmt::format("sector {}: ", whole_.sectors[1].sector_id);

  Status check(const std::vector<PostSectorProof>& sectors) {
    return check_post(shape_, whole_.proof.api, whole_.statement(), sectors, pool_);
  }
  std::string fault_of(const std::function<void(PostSectorProof&)>& spoil) {
    std::vector<PostSectorProof> sectors = whole_.sectors;
    spoil(sectors[1]);
    Status status = check(sectors);
    EXPECT_FALSE(status);
    return status ? "" : status.error().message;
  }
};

TEST_F(PostProof, ReadsWhatItWrites) {
  EXPECT_EQ(bytes_.size(), post_proof_bytes(shape_));
  EXPECT_EQ(read_post_proof(bytes_, shape_).value(), whole_.sectors[1]);
  Bytes longer = bytes_;
  longer.push_back(1);
  EXPECT_EQ(read_post_proof(longer, shape_).value(), whole_.sectors[1]);
}

TEST_F(PostProof, Case59_CutShortAnywhere) {
  for (size_t size = 0; size < bytes_.size(); size++) {
    auto proof = read_post_proof(ByteSpan(bytes_).first(size), shape_);
    ASSERT_FALSE(proof) << size;
    EXPECT_EQ(proof.error().code, Code::kInvalidInput);
    EXPECT_THAT(proof.error().message, HasSubstr(" is cut short: "));
  }
}

// Whatever a byte is changed to, nothing but a value of the proof's form comes back.
TEST_F(PostProof, AnyByteMayBeWrong) {
  auto random = cuzk::testing::rng(2);
  for (size_t at = 0; at < bytes_.size(); at += 1 + random() % 64) {
    Bytes bytes = bytes_;
    bytes[at] ^= static_cast<uint8_t>(1 + random() % 255);
    auto proof = read_post_proof(bytes, shape_);
    if (!proof) {
      EXPECT_EQ(proof.error().code, Code::kInvalidInput);
      continue;
    }
    EXPECT_EQ(write_post_proof(*proof, shape_), bytes);
    EXPECT_FALSE(check({whole_.sectors[0], *proof})) << at;
  }
}

TEST_F(PostProof, Case58_CountsBeyondTheBytes) {
  const PostShape large = post_shape(PostKind::kWindow, uint64_t{32} << 30).value();
  for (const size_t at : {40, 48, 60}) {  // sectors, their proofs, levels of a path
    for (const uint64_t count : {uint64_t{UINT32_MAX}, UINT64_MAX}) {
      Bytes bytes(bytes_.begin(), bytes_.begin() + 100);
      store_le(bytes.data() + at, count);
      cuzk::testing::LargestAllocation largest;
      EXPECT_FALSE(read_post_proof(bytes, shape_));
      EXPECT_FALSE(read_post_proof(bytes, large));
      EXPECT_LT(largest.bytes(), size_t{1} << 20);
    }
  }
}

TEST_F(PostProof, NamesTheField) {
  auto message = [&](size_t at, uint64_t value) {
    Bytes bytes = bytes_;
    store_le(bytes.data() + at, value);
    auto proof = read_post_proof(bytes, shape_);
    EXPECT_FALSE(proof);
    return proof ? "" : proof.error().message;
  };
  const uint64_t most = ~uint64_t{0};
  EXPECT_EQ(message(40, 2), "sectors has 2 entries, not 1");
  EXPECT_EQ(message(48, most), "inclusion_proofs has 18446744073709551615 entries, not 10");
  EXPECT_THAT(message(32, most), StartsWith("comm_r is "));
  // The first path: variant, then base levels of 7 siblings, then a sub level and a top level.
  const size_t path = 56;
  EXPECT_THAT(message(path - 0, 0x300000001), StartsWith("inclusion_proofs[0].data.variant is 1, not 2"));
  EXPECT_THAT(message(path + 4, 9), StartsWith("inclusion_proofs[0].data.base_proof has 9 entries, not "));
  EXPECT_THAT(message(path + 12, 8), StartsWith("inclusion_proofs[0].data.base_proof[0].hashes has 8 entries, not 7"));
  EXPECT_THAT(message(path + 20 + 32 + 24, most), StartsWith("inclusion_proofs[0].data.base_proof[0].hashes[1] is "));
  EXPECT_THAT(message(path + 20 + 7 * 32, 8),
              StartsWith("inclusion_proofs[0].data.base_proof[0].index is 8, not below 8"));
  EXPECT_THAT(message(bytes_.size() - 8, most), StartsWith("comm_r_last is "));
}

TEST_F(PostProof, NamesWhatIsWrong) {
  auto bump = [](Bytes32& value) { value[3] ^= 1; };
  EXPECT_TRUE(check(whole_.sectors));
  EXPECT_EQ(fault_of([&](auto& s) { bump(s.comm_c); }), second_ + "comm_r is not the hash of comm_c and comm_r_last");
  EXPECT_EQ(fault_of([&](auto& s) { bump(s.comm_r); }), second_ + "comm_r is not the hash of comm_c and comm_r_last");
  EXPECT_EQ(fault_of([&](auto& s) { s.sector_id++; }), second_ + "its vanilla proof is of another sector");
  EXPECT_EQ(fault_of([&](auto& s) { bump(s.inclusion[4].root); }), second_ + "challenge 4: its root is not the tree's");
  EXPECT_EQ(fault_of([&](auto& s) { bump(s.inclusion[9].leaf); }),
            second_ + "challenge 9: its path does not lead to its root");
  EXPECT_THAT(fault_of([&](auto& s) { s.inclusion[0].path[2].index ^= 1; }),
              StartsWith(second_ + "challenge 0: path[2] stands at"));
  EXPECT_EQ(fault_of([&](auto& s) { s.inclusion.pop_back(); }), second_ + "9 inclusion proofs, not 10");
  EXPECT_THAT(fault_of([&](auto& s) { s.inclusion[3].path.pop_back(); }),
              StartsWith(second_ + "challenge 3: its path has"));
  EXPECT_FALSE(check({whole_.sectors[0]}));

  PostStatement other = whole_.statement();
  other.randomness[0] ^= 1;
  EXPECT_THAT(check_post(shape_, whole_.proof.api, other, whole_.sectors, pool_).error().message,
              HasSubstr(" challenge 0: path["));
}

TEST_F(PostProof, NoValueIsIdle) {
  auto random = cuzk::testing::rng(3);
  auto values = [](PostSectorProof& proof) {
    std::vector<std::pair<Bytes32*, std::string>> out = {
        {&proof.comm_r, ""}, {&proof.comm_c, ""}, {&proof.comm_r_last, ""}};
    for (size_t n = 0; n < proof.inclusion.size(); n++) {
      const std::string name = fmt::format("challenge {}: ", n);
      out.emplace_back(&proof.inclusion[n].root, name);
      out.emplace_back(&proof.inclusion[n].leaf, name);
      for (PathElement& element : proof.inclusion[n].path) {
        for (Bytes32& hash : element.hashes) out.emplace_back(&hash, name);
      }
    }
    return out;
  };
  std::vector<PostSectorProof> sectors = whole_.sectors;
  const auto all = values(sectors[1]);
  EXPECT_EQ(all.size(), 3u + 10 * (2 + 3 * 7 + 1));
  for (const auto& [value, name] : all) {
    const Bytes32 good = *value;
    (*value)[random() % 31] ^= static_cast<uint8_t>(1u << random() % 8);
    Status status = check(sectors);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Code::kUnsatisfied);
    EXPECT_THAT(status.error().message, StartsWith(second_ + name));
    *value = good;
  }
}

}  // namespace
}  // namespace cuzk::filecoin
