#include "filecoin/post_circuit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "filecoin/post_testing.h"

namespace cuzk::filecoin {
namespace {

using testing::expect_reference;
using testing::Reference;

// The other sizes are in post_slow_test.cpp.
TEST(PostCircuit, ReferenceDigests) {
  exec::Pool pool(2);
  auto of_size = [](PostKind kind, uint64_t bytes, unsigned sectors = 0) {
    PostShape shape = post_shape(kind, bytes).value();
    if (sectors > 0) shape.sectors = sectors;
    return shape;
  };
  constexpr uint64_t kGiB = uint64_t{1} << 30;
  const std::pair<PostShape, Reference> cases[] = {
      {testing::post_test_shape(64, {8, 0, 0}, 3, 5),
       {"8-0-0, 3 x 5", 19, 17067, 16869, "aabc663ba989f3613ad4d3f9a623ea354ad306dc951d848e57e4bdcd9096675c"}},
      {testing::post_test_shape(256, {8, 4, 0}, 3, 5),
       {"8-4-0, 3 x 5", 19, 22917, 22674, "07af760cb42b557f0a8db088081c672c6bc40d091804130de322a982d2d0ddcc"}},
      {testing::post_test_shape(512, {8, 4, 2}, 3, 5),
       {"8-4-2, 3 x 5", 19, 27642, 27384, "1eb841edd9d456958e19edc409325f3851824527ca2153594ff6e3eda5a64800"}},
      {testing::post_test_shape(64, {8, 0, 0}, 2, 5),
       {"8-0-0, 2 x 5", 13, 11378, 11246, "eb4032cb850e60a7782553d3a9431eb10f5b718c0c7450cf1eb0a1db9db97c73"}},
      {testing::post_test_shape(kGiB, {8, 0, 0}, 5, 10),
       {"8-0-0, 2^30, 5 x 10", 56, 270120, 266665, "21612c68b85a21112f5d7d878f7c4ce2670c3c6f54aab0eb60d691af1c4a9032"}},
      {of_size(PostKind::kWindow, 32 * kGiB, 1),
       {"window 32GiB 1 sector", 12, 54024, 53333, "968589037c1d354c4343a4aa9420877d57795335b069bc024547067884795960"}},
      {of_size(PostKind::kWindow, 64 * kGiB, 1),
       {"window 64GiB 1 sector", 12, 57174, 56473, "09b8fd87a12e907d761509ecc4bf1d57a7b1aa27a494fbdd1e248939464505a6"}},
  };
  for (const auto& [shape, expected] : cases) expect_reference(expected, r1cs::digest(compile_post(shape), pool));
}

TEST(PostCircuit, VectorsOfSmallSectors) {
  CUZK_SKIP_WITHOUT_VECTORS();
  exec::Pool pool(2);
  for (const char* kind : {"winning", "window"}) {
    for (const char* size : {"2KiB", "32KiB"}) {
      const auto path = cuzk::testing::vectors() / "seal" / size / fmt::format("{}.json", kind);
      auto source = make_post_source_from_json(path, pool);
      ASSERT_TRUE(source) << source.error().message;
      const std::string name = fmt::format("{}-{}", kind, size);
      EXPECT_EQ((*source)->circuit_id(), name);
      testing::expect_vector(name, (*source)->compile().value(), pool);
      testing::expect_witness(name, **source, pool);
    }
  }
}

TEST(PostCircuit, MadeUpSectorsSatisfy) {
  exec::Pool pool(2);
  auto random = cuzk::testing::rng(1);
  const std::tuple<PostKind, const char*, size_t> cases[] = {{PostKind::kWinning, "2KiB", 1},
                                                             {PostKind::kWindow, "2KiB", 1},
                                                             {PostKind::kWindow, "4KiB", 2},
                                                             {PostKind::kWindow, "32KiB", 3},
                                                             {PostKind::kWindow, "1GiB", 5}};
  for (const auto& [kind, size, sectors] : cases) {
    SCOPED_TRACE(size);
    PostInput input = testing::made_up_post(kind, parse_size(size).value(), sectors, random(), pool);
    auto source = make_post_source(input, pool);
    ASSERT_TRUE(source) << source.error().message;
    EXPECT_EQ((*source)->partitions(), (sectors + 1) / 2);
    const r1cs::Circuit circuit = (*source)->compile().value();
    for (uint32_t k = 0; k < (*source)->partitions(); k++) {
      EXPECT_EQ(testing::first_unsatisfied(**source, k, circuit, pool), circuit.num_constraints);
    }
    // One wrong value breaks a row.
    input.sectors[0].inclusion[1].path[0].hashes[2][5] ^= 1;
    source = make_post_source(input, pool, VanillaCheck::kNone);
    EXPECT_LT(testing::first_unsatisfied(**source, 0, circuit, pool), circuit.num_constraints);
  }
}

// Instances and bindings are few: a path is one instance.
TEST(PostCircuit, StaysSmall) {
  PostShape shape = post_shape(PostKind::kWindow, uint64_t{32} << 30).value();
  shape.sectors = 20;
  const r1cs::Circuit circuit = compile_post(shape);
  EXPECT_EQ(circuit.instances.size(), 20u * 11);
  EXPECT_EQ(circuit.templates.size(), 2u);
}

// The same witness whatever the number of threads.
TEST(PostCircuit, ThreadsDoNotMatter) {
  exec::Pool one(1), four(4);
  const PostShape shape = post_shape(PostKind::kWinning, 4096).value();
  const PostInput input = testing::made_up_post(PostKind::kWinning, 4096, 1, cuzk::testing::seed(), one);
  const r1cs::Circuit circuit = compile_post(shape);
  const r1cs::Witness expected = r1cs::testing::make_witness(circuit), witness = r1cs::testing::make_witness(circuit);
  ASSERT_TRUE(assign_post(circuit, shape, input.sectors, one, expected));
  ASSERT_TRUE(assign_post(circuit, shape, input.sectors, four, witness));
  EXPECT_TRUE(std::ranges::equal(witness.inputs, expected.inputs));
  EXPECT_TRUE(std::ranges::equal(witness.bits, expected.bits));
  EXPECT_TRUE(std::ranges::equal(witness.fields, expected.fields));
}

TEST(PostCircuit, WrongValuesAreNamed) {
  exec::Pool pool(2);
  const PostShape shape = post_shape(PostKind::kWindow, 2048).value();
  const r1cs::Circuit circuit = compile_post(shape);
  const std::vector<PostSectorProof> good =
      testing::made_up_post(PostKind::kWindow, 2048, 2, cuzk::testing::seed(), pool).sectors;
  const std::string second = fmt::format("sector {}: ", good[1].sector_id);
  auto message = [&](auto&& spoil) {
    std::vector<PostSectorProof> bad = good;
    spoil(bad);
    const Status assigned = assign_post(circuit, shape, bad, pool, r1cs::testing::make_witness(circuit));
    EXPECT_FALSE(assigned);
    return assigned ? "" : assigned.error().message;
  };
  using ::testing::StartsWith;
  Bytes32 too_large;
  too_large.fill(0xff);
  EXPECT_THAT(message([&](auto& s) { s[1].comm_c = too_large; }), StartsWith(second + "comm_c is not"));
  EXPECT_THAT(message([&](auto& s) { s[1].inclusion[7].leaf = too_large; }), StartsWith(second + "challenge 7: ff"));
  EXPECT_THAT(message([&](auto& s) { s[1].inclusion[9].path.pop_back(); }),
              StartsWith(second + "challenge 9: its path has 1 levels"));
  EXPECT_THAT(message([&](auto& s) { s[1].inclusion[9].path[1].index = 8; }),
              StartsWith(second + "challenge 9: its path has no arity-8 node at level 1"));
  EXPECT_THAT(message([&](auto& s) { s[1].inclusion.pop_back(); }), StartsWith(second + "9 inclusion proofs"));
  EXPECT_THAT(message([&](auto& s) { s.push_back(s[0]); }), StartsWith("3 sectors in a partition"));
  EXPECT_THAT(message([&](auto& s) { s.clear(); }), StartsWith("0 sectors in a partition"));
}

}  // namespace
}  // namespace cuzk::filecoin
