#include "filecoin/update_vanilla.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/allocation_testing.h"
#include "filecoin/update_check.h"
#include "filecoin/update_testing.h"

namespace cuzk::filecoin {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr uint64_t kGiB = uint64_t{1} << 30;

TEST(UpdateShapes, Counts) {  // spec E.1, E.2, G.6
  for (const UpdateShape& shape : update_shapes()) {
    SCOPED_TRACE(format_size(shape.sector_bytes));
    EXPECT_EQ(shape.nodes * 32, shape.sector_bytes);
    EXPECT_LE(shape.digests() * shape.challenges_per_digest() * shape.random_bits(), 254 * shape.digests());
    EXPECT_GE(shape.digests() * shape.challenges_per_digest(), shape.challenges);
    EXPECT_EQ(shape.digests() == 1, shape.sector_bytes < uint64_t{512} << 20);
    EXPECT_EQ(shape.h(), shape.sector_bytes < uint64_t{1} << 20 ? 1u : 10u);
    const auto sector = porep_shape(shape.sector_bytes);
    EXPECT_EQ(shape.tree, sector ? sector->tree : (TreeShape{8, 4, 0}));
  }
  const UpdateShape shape = update_shape(32 * kGiB).value();
  EXPECT_EQ(shape.random_bits(), 26u);
  EXPECT_EQ(shape.challenges_per_digest(), 9u);
  EXPECT_EQ(shape.digests(), 10u);
  EXPECT_EQ(shape.apex_height(), 19u);
  EXPECT_EQ(update_proof_bytes(shape), 561768u);
  EXPECT_EQ(update_shape(uint64_t{512} << 20)->digests(), 8u);
  EXPECT_THAT(update_shape(kGiB).error().message, HasSubstr("1GiB"));
}

TEST(UpdateShapes, RegisteredNumbers) {  // spec G.7
  const char* sizes[] = {"2KiB", "8MiB", "512MiB", "32GiB", "64GiB"};
  for (uint64_t number = 0; number < 5; number++) {
    EXPECT_EQ(format_size(registered_update(number)->sector_bytes), sizes[number]);
  }
  EXPECT_EQ(registered_update(5).error().code, Code::kInvalidInput);
}

TEST(UpdateVectors, ReadWrittenCheckedAndTheirInputs) {
  CUZK_SKIP_WITHOUT_VECTORS();
  exec::Pool pool(2);
  size_t partitions = 0;
  for (const std::filesystem::path& path : testing::update_vectors()) {
    SCOPED_TRACE(path);
    auto update = read_update(path);
    ASSERT_TRUE(update) << update.error().message;
    Status status = check_update(*update, pool);
    EXPECT_TRUE(status) << status.error().message;
    const nlohmann::json expected = testing::read_json(path);
    for (uint32_t k = 0; k < update->shape.partitions; k++) {
      const auto inputs = update_public_inputs(update->shape, update->statement, k).value();
      ASSERT_EQ(inputs.size(), expected["public_inputs"][k].size());
      for (size_t i = 0; i < inputs.size(); i++)
        EXPECT_EQ(inputs[i], testing::from_hex_number(expected["public_inputs"][k][i]));
      if (!update->partitions[k]) continue;
      partitions++;
      const Bytes file = testing::read_file(path.parent_path() / expected["partition_proofs"][k]);
      EXPECT_EQ(file.size(), update_proof_bytes(update->shape));
      EXPECT_EQ(write_update_proof(update->shape, *update->partitions[k]), file);
    }
  }
  EXPECT_GE(partitions, 22u);
}

TEST(UpdateVectors, PublicInputsOfTheProof) {
  CUZK_SKIP_WITHOUT_VECTORS();
  const nlohmann::json proof = testing::read_json(cuzk::testing::vectors() / "proofs" / "update-2KiB.json");
  const SectorUpdate update = read_update(cuzk::testing::vectors() / "seal" / "2KiB" / "update.json").value();
  const std::vector<Fr> inputs = update_public_inputs(update.shape, update.statement, proof["partition"]).value();
  ASSERT_EQ(inputs.size(), proof["public_inputs"].size());
  for (size_t i = 0; i < inputs.size(); i++) EXPECT_EQ(inputs[i], testing::from_hex_number(proof["public_inputs"][i]));
}

// A made-up update of two partitions, with base and sub trees.
class Update : public ::testing::Test {
 protected:
  exec::Pool pool_{2};
  const SectorUpdate whole_ = synthetic_update(update_shape(16384).value(), cuzk::testing::seed(), pool_);
  SectorUpdate update_ = whole_;
  const UpdateShape& shape_ = whole_.shape;

  void expect_failure(std::string_view message, Code code = Code::kUnsatisfied) {
    Status status = check_update(update_, pool_);
    ASSERT_FALSE(status) << "accepted, but should say: " << message;
    EXPECT_EQ(code_name(status.error().code), code_name(code));
    EXPECT_THAT(status.error().message, StartsWith(std::string(message)));
  }
  Bytes encoded() const { return write_update_proof(shape_, *whole_.partitions[1]); }
  std::string fault(ByteSpan bytes) const {
    auto proof = read_update_proof(shape_, bytes);
    EXPECT_FALSE(proof);
    return proof ? "" : proof.error().message;
  }
};

TEST_F(Update, SyntheticPasses) {
  Status status = check_update(whole_, pool_);
  EXPECT_TRUE(status) << status.error().message;
  exec::Pool one(1);
  EXPECT_EQ(synthetic_update(shape_, cuzk::testing::seed(), one).partitions, whole_.partitions);
  EXPECT_NE(synthetic_update(shape_, cuzk::testing::seed() + 1, one).statement, whole_.statement);
}

// A path whose siblings equal its own nodes would not notice a wrong index bit.
TEST_F(Update, SyntheticSiblingsDiffer) {
  for (const UpdateProof::Challenge& challenge : whole_.partitions[0]->challenges) {
    for (const MerkleProof* proof : {&challenge.r_old, &challenge.d_new, &challenge.r_new}) {
      std::vector<Bytes32> nodes = proof->path[0].hashes;
      nodes.push_back(proof->leaf);
      for (size_t level = 1; level < proof->path.size(); level++)
        nodes.insert(nodes.end(), proof->path[level].hashes.begin(), proof->path[level].hashes.end());
      std::ranges::sort(nodes);
      EXPECT_EQ(std::ranges::adjacent_find(nodes), nodes.end());
    }
  }
}

TEST_F(Update, NamesWhatIsWrong) {
  struct Case {
    std::function<void(UpdateProof&)> damage;  // of the second partition
    const char* message;
  };
  auto bump = [](Bytes32& value) { value[3] ^= 1; };
  const Case cases[] = {
      {[&](auto& p) { bump(p.comm_c); }, "partition 1: comm_r_old: is not the hash"},
      {[&](auto& p) { bump(p.challenges[0].r_old.root); }, "partition 1: comm_r_old: is not the hash"},
      {[&](auto& p) { bump(p.challenges[0].r_new.root); }, "partition 1: comm_r_new: is not the hash"},
      {[&](auto& p) { bump(p.apex_leaves[127]); }, "partition 1: apex_leafs: its path does not lead to its root"},
      {[&](auto& p) { bump(p.challenges[3].r_old.root); }, "partition 1, challenge 3: proof_r_old: its root is not"},
      {[&](auto& p) { bump(p.challenges[4].r_old.leaf); }, "partition 1, challenge 4: proof_r_old: its path does not"},
      {[&](auto& p) { p.challenges[5].r_old.path[2].index ^= 1; },
       "partition 1, challenge 5: proof_r_old: path[2] stands at"},
      {[&](auto& p) { bump(p.challenges[0].d_new.root); }, "partition 1, challenge 0: proof_d_new: its root is not"},
      {[&](auto& p) { bump(p.challenges[0].d_new.path[8].hashes[0]); },
       "partition 1, challenge 0: proof_d_new: its path does not"},
      {[&](auto& p) { bump(p.challenges[9].d_new.leaf); }, "partition 1, challenge 9: proof_d_new: its path does not"},
      {[&](auto& p) { bump(p.challenges[9].r_new.leaf); }, "partition 1, challenge 9: proof_r_new: its leaf is not"},
      {[&](auto& p) { bump(p.challenges[9].r_new.path[0].hashes[6]); },
       "partition 1, challenge 9: proof_r_new: its path does not"},
      {[&](auto& p) { bump(p.challenges[2].r_new.root); }, "partition 1, challenge 2: proof_r_new: its root is not"},
      {[&](auto& p) { std::swap(p.challenges[0], p.challenges[1]); },
       "partition 1, challenge 0: proof_r_old: path[0] stands at"},
      {[&](auto& p) { p.challenges[6].r_new.path.pop_back(); },
       "partition 1, challenge 6: proof_r_new: its path has 2 levels, not 3"},
  };
  for (const Case& one : cases) {
    update_ = whole_;
    one.damage(*update_.partitions[1]);
    expect_failure(one.message);
  }
}

TEST_F(Update, NamesWhatIsWrongWithTheSector) {
  auto damaged = [&](auto damage, std::string_view message, Code code = Code::kUnsatisfied) {
    update_ = whole_;
    damage();
    expect_failure(message, code);
  };
  damaged([&] { update_.statement.comm_r_old[0] ^= 1; }, "partition 0: comm_r_old");
  damaged([&] { update_.statement.comm_r_new[0] ^= 1; }, "partition 0: comm_r_new");
  damaged([&] { update_.statement.comm_d_new[0] ^= 1; }, "partition 0, challenge 0: proof_d_new: its root is not");
  damaged([&] { update_.statement.comm_d_new.fill(0xff); }, "ffff");
  damaged([&] { std::swap(update_.partitions[0], update_.partitions[1]); }, "partition 0, challenge 0: proof_r_old");
  damaged([&] { update_.partitions.pop_back(); }, "an update of a 16KiB sector has 2 partitions, not 1",
          Code::kInvalidInput);
  damaged([&] { update_.partitions[1]->challenges.pop_back(); }, "partition 1: challenges", Code::kInvalidInput);
  damaged([&] { update_.partitions[1]->apex_leaves.pop_back(); }, "partition 1: challenges", Code::kInvalidInput);
  // What is missing is passed over, and the rest is checked.
  update_ = whole_;
  update_.partitions[0].reset();
  EXPECT_TRUE(check_update(update_, pool_));
  update_.partitions[1]->challenges[1].d_new.leaf[0] ^= 1;
  expect_failure("partition 1, challenge 1: proof_d_new");
}

TEST_F(Update, NoValueIsIdle) {
  auto random = cuzk::testing::rng(6);
  auto visit = [](UpdateProof& proof, const std::function<void(Bytes32&)>& value) {
    value(proof.comm_c);
    for (size_t i = 0; i < proof.apex_leaves.size(); i += 16) value(proof.apex_leaves[i]);
    UpdateProof::Challenge& challenge = proof.challenges[7];
    for (MerkleProof* path : {&challenge.r_old, &challenge.d_new, &challenge.r_new}) {
      value(path->root);
      value(path->leaf);
      for (PathElement& element : path->path) std::ranges::for_each(element.hashes, value);
    }
  };
  size_t values = 0;
  visit(*update_.partitions[0], [&](Bytes32&) { values++; });
  EXPECT_EQ(values, 1u + 8 + 3 * 2 + 2 * 21 + 9);
  for (size_t target = 0; target < values; target++) {
    update_ = whole_;
    size_t index = 0;
    visit(*update_.partitions[0], [&](Bytes32& value) {
      if (index++ == target) value[random() % 32] ^= static_cast<uint8_t>(1u << random() % 8);
    });
    Status status = check_update(update_, pool_);
    ASSERT_FALSE(status) << target;
    EXPECT_THAT(status.error().message, HasSubstr("partition 0"));
  }
}

TEST_F(Update, BincodeIsReadBack) {
  EXPECT_EQ(read_update_proof(shape_, encoded()).value(), *whole_.partitions[1]);
  Bytes longer = encoded();
  longer.push_back(1);  // which the reference ignores
  EXPECT_EQ(read_update_proof(shape_, longer).value(), *whole_.partitions[1]);
}

TEST_F(Update, Case59_CutShortBincodeIsNamed) {
  const Bytes whole = encoded();
  for (size_t size = 0; size < whole.size(); size += size < 6000 ? 1 : 97) {
    EXPECT_THAT(fault(ByteSpan(whole).first(size)), HasSubstr("is cut short")) << size;
  }
  EXPECT_THAT(fault(ByteSpan(whole).first(31)), StartsWith("comm_c is cut short: 31 bytes of 32"));
  EXPECT_THAT(fault(ByteSpan(whole).first(40 + 32 * 5 + 1)), StartsWith("apex_leafs[5] is cut short"));
  EXPECT_THAT(fault(ByteSpan(whole).first(whole.size() - 1)), StartsWith("challenge_proofs[9].proof_r_new.leaf is"));
}

TEST_F(Update, Case58_CountsBeyondTheBytes) {
  const UpdateShape large = update_shape(uint64_t{32} << 30).value();
  Bytes bytes = encoded();
  bytes.resize(32 + 100);
  store_le(bytes.data() + 32, uint64_t{UINT32_MAX});  // apex_leafs
  cuzk::testing::LargestAllocation largest;
  EXPECT_EQ(fault(bytes), "apex_leafs has 4294967295 entries, not 128");
  EXPECT_FALSE(read_update_proof(large, bytes));
  EXPECT_LT(largest.bytes(), size_t{1} << 20);
}

TEST_F(Update, DamagedBincodeIsNamed) {
  // Offsets: comm_c, the count and the 128 values of the apex, the count of challenges, then the first proof_r_old:
  // variant, count and levels of base_proof.
  const size_t apex = 32, challenges = apex + 8 + 128 * 32, r_old = challenges + 8, base = r_old + 4 + 8;
  auto with = [&](size_t offset, std::initializer_list<uint8_t> bytes) {
    Bytes damaged = encoded();
    std::ranges::copy(bytes, damaged.begin() + static_cast<ptrdiff_t>(offset));
    return fault(damaged);
  };
  EXPECT_THAT(with(31, {0xff}), StartsWith("comm_c is"));
  EXPECT_EQ(with(apex, {127}), "apex_leafs has 127 entries, not 128");
  EXPECT_EQ(with(apex + 7, {0x80}), "apex_leafs has 9223372036854775936 entries, not 128");
  EXPECT_THAT(with(apex + 8 + 3 * 32 + 31, {0x74}), HasSubstr("apex_leafs[3] is "));
  EXPECT_EQ(with(challenges, {11}), "challenge_proofs has 11 entries, not 10");
  EXPECT_EQ(with(r_old, {0}), "challenge_proofs[0].proof_r_old.variant is 0, not 1");
  EXPECT_EQ(with(r_old + 4, {3}), "challenge_proofs[0].proof_r_old.base_proof has 3 entries, not 2");
  EXPECT_EQ(with(base, {8}), "challenge_proofs[0].proof_r_old.base_proof[0].hashes has 8 entries, not 7");
  EXPECT_THAT(with(base + 8 + 6 * 32 + 31, {0xff}),
              StartsWith("challenge_proofs[0].proof_r_old.base_proof[0].hashes[6] is "));
  EXPECT_EQ(with(base + 8 + 7 * 32, {8}), "challenge_proofs[0].proof_r_old.base_proof[0].index is 8, not below 8");
}

}  // namespace
}  // namespace cuzk::filecoin
