#include "filecoin/update_circuit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "filecoin/update_testing.h"

namespace cuzk::filecoin {
namespace {

using testing::expect_reference;
using testing::expect_vector;
using testing::expect_witness;
using testing::first_unsatisfied;

// The other sizes are in update_slow_test.cpp.
TEST(UpdateCircuit, TwoKibiByteVectors) {
  CUZK_SKIP_WITHOUT_VECTORS();
  exec::Pool pool(2);
  const r1cs::Circuit circuit = compile_update(update_shape(2048).value());
  expect_reference({"2KiB", 5, 1703569, 1705039, "c787aea9329f4525b3bcde14533b9b775654f6a9afe0a7c671783c8bd4f1f7a5"},
                   expect_vector("update-2KiB", circuit, pool));
  auto source = make_update_source_from_json(cuzk::testing::vectors() / "seal" / "2KiB" / "update.json", pool);
  ASSERT_TRUE(source) << source.error().message;
  expect_witness("update-2KiB", **source, pool);
}

nlohmann::json terms_of(const std::vector<r1cs::Term>& terms) {
  nlohmann::json out = nlohmann::json::array();
  for (const r1cs::Term& term : terms) {
    Bytes32 bytes;
    term.coefficient.to_bytes_be(bytes);
    const std::string digits = to_hex(bytes);
    out.push_back({fmt::format("{}{}", term.var.is_aux() ? 'a' : 'i', term.var.index()),
                   digits.substr(digits.find_first_not_of('0'))});
  }
  return out;
}

// The parts of the circuit, each term of each row.
TEST(UpdateCircuit, PartsAreTheReferences) {
  CUZK_SKIP_WITHOUT_VECTORS();
  const r1cs::Circuit circuit = compile_update(update_shape(2048).value());
  uint32_t rows = 0;
  for (const nlohmann::json& part : testing::read_json(cuzk::testing::vectors() / "gadgets" / "update.json")) {
    SCOPED_TRACE(part["name"]);
    const uint32_t first = part["first_constraint"], count = static_cast<uint32_t>(part["constraints"].size());
    circuit.for_each_row(first, first + count, [&](uint32_t index, const r1cs::Row& row) {
      EXPECT_EQ(nlohmann::json({terms_of(row.a), terms_of(row.b), terms_of(row.c)}),
                part["constraints"][index - first]);
      rows++;
    });
    if (HasFailure()) break;  // one wrong row makes thousands of lines
  }
  EXPECT_EQ(rows, 3958u);
}

// A made-up sector satisfies every row; one wrong value breaks one.
TEST(UpdateCircuit, SyntheticSectorsSatisfy) {
  exec::Pool pool(2);
  const UpdateShape shape = update_shape(1024).value();
  const r1cs::Circuit circuit = compile_update(shape);
  const SectorUpdate update = synthetic_update(shape, cuzk::testing::seed(), pool);
  EXPECT_EQ(first_unsatisfied(update, 0, circuit, pool), circuit.num_constraints);
  const std::function<void(UpdateProof&)> damages[] = {
      [](auto& p) { p.comm_c[0] ^= 1; },
      [](auto& p) { p.apex_leaves[7][0] ^= 1; },
      [](auto& p) { p.challenges[0].r_old.leaf[0] ^= 1; },
      [](auto& p) { p.challenges[4].d_new.leaf[0] ^= 1; },
      [](auto& p) { p.challenges[9].d_new.path[0].hashes[0][0] ^= 1; },
      [](auto& p) { p.challenges[9].r_old.path[1].hashes[2][0] ^= 1; },
      [](auto& p) { p.challenges[9].r_new.path[0].hashes[6][0] ^= 1; },
  };
  for (const auto& damage : damages) {
    SectorUpdate damaged = update;
    damage(*damaged.partitions[0]);
    EXPECT_LT(first_unsatisfied(damaged, 0, circuit, pool), circuit.num_constraints);
  }
}

TEST(UpdateCircuit, WrongValuesAreNamed) {
  exec::Pool pool(2);
  const SectorUpdate good = synthetic_update(update_shape(1024).value(), 1, pool);
  EXPECT_TRUE(update_values(good, 0));
  auto message = [&](auto&& spoil) {
    SectorUpdate bad = good;
    spoil(bad, *bad.partitions[0]);
    auto values = update_values(bad, 0);
    EXPECT_FALSE(values);
    return values ? "" : values.error().message;
  };
  using ::testing::StartsWith;
  Bytes32 large;
  large.fill(0xff);
  EXPECT_THAT(message([&](auto& u, auto&) { u.statement.comm_d_new = large; }),
              StartsWith("partition 0: comm_d_new: f"));
  EXPECT_THAT(message([&](auto&, auto& p) { p.comm_c = large; }), StartsWith("partition 0: comm_c: f"));
  EXPECT_THAT(message([&](auto&, auto& p) { p.apex_leaves[3] = large; }), StartsWith("partition 0: apex_leafs: f"));
  EXPECT_THAT(message([&](auto&, auto& p) { p.challenges[2].r_new.path[0].hashes[1] = large; }),
              StartsWith("partition 0: challenge 2: proof_r_new: f"));
  EXPECT_THAT(message([&](auto&, auto& p) { p.challenges[1].d_new.path.pop_back(); }),
              StartsWith("partition 0: challenge 1: proof_d_new: its path has 4 levels, not 5"));
  EXPECT_THAT(message([&](auto&, auto& p) { p.challenges.pop_back(); }), StartsWith("partition 0: 9 challenges"));
  EXPECT_THAT(message([&](auto&, auto& p) { p.apex_leaves.clear(); }),
              StartsWith("partition 0: 10 challenges and 0 apex"));
  EXPECT_THAT(message([&](auto& u, auto&) { u.partitions.clear(); }), StartsWith("partition 0: its vanilla proof is"));
}

}  // namespace
}  // namespace cuzk::filecoin
