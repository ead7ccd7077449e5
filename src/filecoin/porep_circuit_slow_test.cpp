// Every size's circuit whole, and witnesses up to a production partition's.

#include <gtest/gtest.h>

#include <cstdlib>

#include "filecoin/porep_testing.h"

namespace cuzk::filecoin {
namespace {

using testing::expect_reference;
using testing::expect_vector;
using testing::expect_witness;
using testing::Reference;

PorepShape test_shape(uint64_t nodes, TreeShape tree) { return {32 * nodes, nodes, tree, 2, 1, 1, 1}; }

TEST(PorepCircuitSlow, ReferenceDigestsOfOneChallenge) {
  exec::Pool pool(2);
  const std::pair<PorepShape, Reference> cases[] = {
      {test_shape(8, {2, 0, 0}),
       {"2-0-0", 22, 1205053, 1206212, "e933e8bea2e68a3569205187f61c428770f083c7e7d2113babedb204b9429bc3"}},
      {test_shape(8, {8, 0, 0}),
       {"8-0-0", 22, 1198525, 1199620, "b9e22ee377bc73c4e08f679252c4f87948f5812be8c95358a6bf87a7279a785f"}},
      {test_shape(32, {8, 4, 0}),
       {"8-4-0", 22, 1295435, 1296576, "2bb32fe1d16325b1afe3f67f42148047406233e23eae86605f53247273706615"}},
      {test_shape(64, {8, 4, 2}),
       {"8-4-2", 22, 1345810, 1346982, "c9b69c85139ae04bac789fecb881052900c660c6337ab4b520eaa0c9f7293f75"}},
      {porep_shape(uint64_t{32} << 30).value(),
       {"32GiB", 22, 7232200, 7238236, "5d477993ad4d9f61d0bb3309e06fd6659635ddd6007f0b3fdf81feb9d4ed5ef6"}},
      {porep_shape(uint64_t{64} << 30).value(),
       {"64GiB", 22, 7282575, 7288642, "f76ab217216b44c128deeefe2982423a61a43517655eac6e7090da1ac0d52e3d"}},
  };
  for (const auto& [shape, expected] : cases) expect_reference(expected, r1cs::digest(compile_porep(shape, 1), pool));
}

TEST(PorepCircuitSlow, ReferenceDigestsOfSmallSectors) {
  exec::Pool pool(2);
  const std::pair<uint64_t, Reference> cases[] = {
      {uint64_t{16} << 20,
       {"16MiB", 40, 3943199, 3945741, "3f9771852d0d19d49761c876199520f0204ff8ff07281ef38247ad1e63fba34f"}},
      {uint64_t{1} << 30,
       {"1GiB", 40, 4521587, 4524245, "adf871d80ddc70fe9f406e12394fb8559a13fd95ff78eb351516c02929016588"}},
  };
  for (const auto& [size, expected] : cases) {
    expect_reference(expected, r1cs::digest(compile_porep(porep_shape(size).value()), pool));
  }
}

TEST(PorepCircuitSlow, VectorsOfSmallSectors) {
  CUZK_SKIP_WITHOUT_VECTORS();
  exec::Pool pool(2);
  const std::pair<uint64_t, Reference> cases[] = {
      {2048, {"2KiB", 40, 2685673, 2687921, "2c120b1125bd531d5a62b11932b2ae0e0cb47f455cea582994f97534e296bb42"}},
      {4096, {"4KiB", 40, 2786423, 2788733, "d5a90de3471d6cb4e52b8c98d4b87433e1d9f5dbf44a0afea62d4a4287097029"}},
      {16384, {"16KiB", 40, 2974867, 2977173, "6825ed63d62c7afbb8b1fb2d25691c057e124fd150b78ffca3eeb6f3b12eda6a"}},
      {32768, {"32KiB", 40, 3075617, 3077985, "98076e135128c2457e7463f283a92ccc597eaddac7dc439a5532d1f4fcb4009b"}},
      {uint64_t{8} << 20,
       {"8MiB", 40, 3842449, 3844929, "b1fe5a4629fb8fc6684d6c90d6f8d6d32e5bccf6bc9439e4e8a9758e579328db"}},
      {uint64_t{512} << 20,
       {"512MiB", 40, 4420837, 4423433, "c7ade8c93707968e967cce4507669258eab20ff010e6dc1827d55544ee671cbb"}},
  };
  for (const auto& [size, expected] : cases) {
    r1cs::Circuit circuit = compile_porep(porep_shape(size).value());
    expect_reference(expected, expect_vector(fmt::format("porep-{}", expected.name), circuit, pool));
    if (size == 2048) expect_vector("porep-ni-2KiB", circuit, pool);
  }
}

TEST(PorepCircuitSlow, WitnessVectors) {
  CUZK_SKIP_WITHOUT_VECTORS();
  exec::Pool pool(2);
  for (const std::string name : {"2KiB-v1.0", "2KiB-v1.2", "2KiB-synthetic", "4KiB", "16KiB", "32KiB", "8MiB"}) {
    expect_witness("porep-" + name, testing::read_file(cuzk::testing::vectors() / "seal" / name / "c1.json"), pool);
  }
}

// 13 partitions of the same circuit, challenged without a seed.
TEST(PorepCircuitSlow, NonInteractive) {
  CUZK_SKIP_WITHOUT_VECTORS();
  exec::Pool pool(2);
  const auto folder = cuzk::testing::vectors() / "seal" / "2KiB-ni";
  auto source = make_porep_source(testing::read_file(folder / "c1-wrapped.json"), pool);
  ASSERT_TRUE(source) << source.error().message;
  ASSERT_EQ((*source)->partitions(), 13u);
  const r1cs::Circuit circuit = (*source)->compile().value();
  for (uint32_t partition = 0; partition < 13; partition++) {
    const r1cs::Witness witness = (*source)->synthesise(partition, circuit, r1cs::testing::room_for(circuit)).value();
    EXPECT_EQ(r1cs::first_unsatisfied(r1cs::WitnessView(circuit, witness), pool), circuit.num_constraints) << partition;
    const std::vector<Fr> inputs = (*source)->public_inputs(partition).value();
    EXPECT_TRUE(std::equal(inputs.begin(), inputs.end(), witness.inputs.begin() + 1, witness.inputs.end()))
        << partition;
  }
}

TEST(PorepCircuitSlow, ProductionSectors) {
  CUZK_SKIP_WITHOUT_VECTORS();
  exec::Pool pool(2);
  const std::pair<uint64_t, Reference> cases[] = {
      {uint64_t{32} << 30,
       {"32GiB", 328, 130169893, 130278541, "a790207ea0435359e7d5f286563586e3f9a3a286c97af2440f65a4a18063d9cb"}},
      {uint64_t{64} << 30,
       {"64GiB", 328, 131076643, 131185849, "7686117961498d7849ede7429233254b20e3b149011eca8674ca8e9ab0655af6"}},
  };
  for (const auto& [size, expected] : cases) {
    r1cs::Circuit circuit = compile_porep(porep_shape(size).value());
    EXPECT_LE(circuit.bytes(), uint64_t{256} << 20);
    expect_reference(expected, expect_vector(fmt::format("porep-{}", expected.name), circuit, pool));
  }
}

TEST(PorepCircuitSlow, ProductionWitness) {
  CUZK_SKIP_WITHOUT_VECTORS();
  exec::Pool pool(2);
  const auto vectors = cuzk::testing::vectors();
  expect_witness("porep-sparse-512MiB", testing::read_file(vectors / "sparse" / "512MiB" / "c1-wrapped.json"), pool);

  const auto packed = vectors / "sparse" / "32GiB" / "c1.json.xz";
  const auto unpacked = std::filesystem::temp_directory_path() / fmt::format("cuzk-c1-{}.json", ::getpid());
  ASSERT_EQ(std::system(fmt::format("xz -dc {} > {}", packed.string(), unpacked.string()).c_str()), 0);
  const Bytes c1 = testing::read_file(unpacked);
  std::filesystem::remove(unpacked);
  expect_witness("porep-sparse-32GiB-p3", c1, pool);
}

}  // namespace
}  // namespace cuzk::filecoin
