#include "filecoin/porep_circuit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "filecoin/porep_testing.h"
#include "filecoin/synthetic.h"

namespace cuzk::filecoin {
namespace {

using testing::expect_reference;
using testing::expect_vector;
using testing::expect_witness;

// The other sizes are in porep_circuit_slow_test.cpp.
TEST(PorepCircuit, TwoKibiByteVectors) {
  CUZK_SKIP_WITHOUT_VECTORS();
  exec::Pool pool(2);
  r1cs::Circuit circuit = compile_porep(porep_shape(2048).value());
  expect_reference({"2KiB", 40, 2685673, 2687921, "2c120b1125bd531d5a62b11932b2ae0e0cb47f455cea582994f97534e296bb42"},
                   expect_vector("porep-2KiB", circuit, pool));
  expect_witness("porep-2KiB", testing::read_file(cuzk::testing::vectors() / "seal" / "2KiB" / "c1.json"), pool);
}

// Spec H.4: 37 parents of 256 bits and a replica id of 256 bits, constant layer 3 and node 22.
TEST(PorepCircuit, LabelDigest) {
  using Cs = r1cs::Recorder;
  exec::Pool pool(2);
  Cs cs;
  std::vector<gadgets::Bits<Cs>> blocks(kLabelParents + 1, gadgets::Bits<Cs>(256));
  for (auto& block : blocks) gadgets::alloc_bits<Cs>(cs, 0, block);
  gadgets::Bits<Cs> replica_id = std::move(blocks.back()), node;
  blocks.pop_back();
  for (int i = 0; i < 64; i++) node.push_back(gadgets::Bit<Cs>::constant(22 >> std::min(i, 31) & 1));
  porep_circuit::label(cs, replica_id, blocks, 3, node);
  expect_reference({"label", 1, 531505, 532025, "0759ddd2645a276700fad35fe3125ec00ac1c96ee74bdab68cc2edc81f8d301e"},
                   r1cs::digest(std::move(cs).finish("label"), pool));
}

// A made-up sector satisfies every row; one wrong value breaks one.
TEST(PorepCircuit, SyntheticSectorsSatisfy) {
  exec::Pool pool(2);
  const PorepShape shape = porep_shape(2048).value();
  const r1cs::Circuit circuit = compile_porep(shape);
  SealCommit commit = synthetic_porep(2048, cuzk::testing::seed(), pool).value();
  const auto first_unsatisfied = [&] {
    const r1cs::Witness witness = r1cs::testing::make_witness(circuit);
    EXPECT_TRUE(assign_porep(circuit, shape, porep_values(shape, commit, 0).value(), witness));
    return r1cs::first_unsatisfied(r1cs::WitnessView(circuit, witness), pool);
  };
  EXPECT_EQ(first_unsatisfied(), circuit.num_constraints);

  commit.partitions[0][1].exp_parents[3].column.rows[0][5] ^= 1;
  EXPECT_LT(first_unsatisfied(), circuit.num_constraints);
}

TEST(PorepCircuit, WrongValuesAreNamed) {
  exec::Pool pool(2);
  const PorepShape shape = porep_shape(2048).value();
  const SealCommit good = synthetic_porep(2048, 1, pool).value();
  EXPECT_TRUE(porep_values(shape, good, 0));
  auto message = [&](auto&& spoil) {
    SealCommit bad = good;
    spoil(bad);
    auto values = porep_values(shape, bad, 0);
    EXPECT_FALSE(values);
    return values ? "" : values.error().message;
  };
  Bytes32 too_large;
  too_large.fill(0xff);
  EXPECT_THAT(message([&](SealCommit& c) { c.comm_d = too_large; }), ::testing::HasSubstr("comm_d"));
  EXPECT_THAT(message([&](SealCommit& c) { c.partitions[0][1].c_x.inclusion.path[0].hashes[2] = too_large; }),
              ::testing::HasSubstr("challenge 1: c_x"));
  EXPECT_THAT(message([&](SealCommit& c) { c.partitions[0][0].comm_d.path.pop_back(); }),
              ::testing::HasSubstr("comm_d path"));
  EXPECT_THAT(message([&](SealCommit& c) { c.partitions[0][0].drg_parents.pop_back(); }),
              ::testing::HasSubstr("parents"));
  EXPECT_THAT(message([&](SealCommit& c) { c.partitions[0][0].exp_parents[7].column.rows.pop_back(); }),
              ::testing::HasSubstr("layers"));
  EXPECT_THAT(message([&](SealCommit& c) { c.partitions[0].pop_back(); }), ::testing::HasSubstr("challenges"));
  EXPECT_THAT(message([&](SealCommit& c) { c.partitions.clear(); }), ::testing::HasSubstr("partition 0 is missing"));
}

}  // namespace
}  // namespace cuzk::filecoin
