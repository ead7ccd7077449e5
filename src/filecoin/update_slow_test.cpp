// Every size's circuit whole, and witnesses up to a production partition's.

#include <gtest/gtest.h>

#include "filecoin/update_check.h"
#include "filecoin/update_testing.h"

namespace cuzk::filecoin {
namespace {

using testing::expect_reference;
using testing::expect_vector;
using testing::expect_witness;
using testing::Reference;

constexpr uint64_t kMiB = uint64_t{1} << 20, kGiB = uint64_t{1} << 30;

const Reference kReferences[] = {
    {"1KiB", 5, 1247309, 1248389, "9aa72227dad454f80a1ccbe181a4cae6d74c61eefde0323939b9df51d1f800b4"},
    {"2KiB", 5, 1703569, 1705039, "c787aea9329f4525b3bcde14533b9b775654f6a9afe0a7c671783c8bd4f1f7a5"},
    {"4KiB", 5, 2163189, 2165109, "ec26a8b7d5c248e9f958fdf76a30fed2c27802e1786e6e9bc8fe02796e6a98f3"},
    {"8KiB", 5, 2618009, 2620359, "eec9a4e731edafe069668d6a2041d1c8b4a3164d5465f1af2f5bd2867eac3fcb"},
    {"16KiB", 5, 6293944, 6300021, "95a1d46c7000ac6634072da5fa76d2c6faf4f399e8e2b25bd2c2266913c1ddaa"},
    {"32KiB", 5, 6753564, 6760091, "6a4de18617ff15850d2f183cfd81a8ff7b06a84855cd425e1f85ff838ac6a215"},
    {"8MiB", 5, 9998039, 10007503, "ee2b98435ff8e35305acee8e08f1428bf5d19dd1164174a356e150c11df28ae4"},
    {"16MiB", 5, 10457659, 10467573, "ab5a6323b917d1d7d733b642b8489517cf22136a4c7b74f1730a61d768aad0bf"},
    {"512MiB", 5, 57401314, 57450479, "d9f9e8c5646d12ad5a07ce7967df4e19fd998a0439a3eb1585baf51559b24751"},
    {"32GiB", 5, 80978488, 81049499, "ed11b3af5ba3ae6e1e9e56122c31c51507edb6516c97baf1893a97da69517634"},
    {"64GiB", 5, 84931220, 85006101, "8854cef703f930ed25d91a7e818524f3e4c67bb2393ba3c70fbfb0b1572c96af"},
};

// Against filecoin-spec H.4, and against the vectors where they have the size.
TEST(UpdateSlow, Circuits) {
  CUZK_SKIP_WITHOUT_VECTORS();
  exec::Pool pool(2);
  ASSERT_EQ(std::size(kReferences), update_shapes().size());
  for (const Reference& expected : kReferences) {
    const r1cs::Circuit circuit = compile_update(update_shape(parse_size(expected.name).value()).value());
    EXPECT_LE(circuit.bytes(), 64 * kMiB);
    const std::string name = fmt::format("update-{}", expected.name);
    const bool has_vector = std::filesystem::exists(cuzk::testing::vectors() / "r1cs" / (name + ".json"));
    expect_reference(expected, has_vector ? expect_vector(name, circuit, pool) : r1cs::digest(circuit, pool));
  }
}

TEST(UpdateSlow, WitnessVectors) {
  CUZK_SKIP_WITHOUT_VECTORS();
  exec::Pool pool(2);
  const std::pair<const char*, const char*> cases[] = {
      {"4KiB", "seal/4KiB"}, {"16KiB", "seal/16KiB"}, {"32KiB", "seal/32KiB"}, {"sparse-32GiB-p5", "sparse/32GiB"}};
  for (const auto& [name, sector] : cases) {
    auto source = make_update_source_from_json(cuzk::testing::vectors() / sector / "update.json", pool);
    ASSERT_TRUE(source) << source.error().message;
    expect_witness(fmt::format("update-{}", name), **source, pool);
  }
}

TEST(UpdateSlow, SyntheticSectors) {
  exec::Pool pool(2);
  for (const UpdateShape& shape : update_shapes()) {
    SCOPED_TRACE(format_size(shape.sector_bytes));
    const SectorUpdate update = synthetic_update(shape, cuzk::testing::seed(), pool);
    const Status status = check_update(update, pool);
    EXPECT_TRUE(status) << status.error().message;
    if (shape.sector_bytes > 8 * kMiB) continue;
    const r1cs::Circuit circuit = compile_update(shape);
    EXPECT_EQ(testing::first_unsatisfied(update, shape.partitions - 1, circuit, pool), circuit.num_constraints);
  }
}

TEST(UpdateSlow, ProductionWitness) {
  exec::Pool pool(2);
  const UpdateShape shape = update_shape(64 * kGiB).value();
  const SectorUpdate update = synthetic_update(shape, cuzk::testing::seed(), pool);
  const r1cs::Circuit circuit = compile_update(shape);
  EXPECT_EQ(testing::first_unsatisfied(update, 11, circuit, pool), circuit.num_constraints);
}

}  // namespace
}  // namespace cuzk::filecoin
