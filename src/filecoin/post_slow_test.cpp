// Every size's circuit whole, every witness of the vectors, and a production partition within its memory.

#include <gtest/gtest.h>

#include <fstream>

#include "filecoin/post_testing.h"

namespace cuzk::filecoin {
namespace {

using testing::expect_reference;
using testing::expect_vector;
using testing::Reference;

constexpr uint64_t kGiB = uint64_t{1} << 30;

const Reference kWinning[] = {
    {"2KiB", 133, 91674, 90750, "ce8079a9875ac8fafc46902e0e2368fa997e7f2ffb2065d2666ef92bc3ca2f67"},
    {"4KiB", 133, 112464, 111474, "99c86f50417ffd8739082ed4e96d3c5d646eaa3606dbe12f62064930e7825dfc"},
    {"16KiB", 133, 127116, 125730, "bbcd05c49637e40d00663680b64fcfd48c41c42e3f2925e5ea175006d90c2daa"},
    {"32KiB", 133, 147906, 146454, "28a7a8c594184b93609dadbd879c8771634ee56a4683b597ec5364c910de0a6a"},
    {"8MiB", 133, 233442, 230670, "f76fd7ab1915553c8dbffbd06ef73bc77119d7b4e2e129534256b9abd952d38e"},
    {"16MiB", 133, 254232, 251394, "eb2fa2c64119ed32fb9ba8fee98b9942f278bf76f510623b841b3beb48255868"},
    {"512MiB", 133, 304326, 300630, "1edcd1f497a9d12871d3f692ec90c670d9f837b3e37c31958dbf2ea239c021df"},
    {"1GiB", 133, 325116, 321354, "8025545c76dc920fd2aa522dfb2589d031d1a9162786446f30a90f7e08da369a"},
    {"32GiB", 133, 375210, 370590, "f65cddbca7106bac1a8b92148badb4d96f488d56c233bd59b0d0a6919445cf4f"},
    {"64GiB", 133, 396000, 391314, "280879cc466ac3a629e7369617c7f774b28b9e39d39bcf56b896ff72d2481107"},
};
const Reference kSmallWindow[] = {
    {"2KiB", 23, 22128, 21866, "14279e1c38053fa35eab6f56dbf1c5ef337b533f2c42fd3d7b4e7a116796b331"},
    {"4KiB", 23, 28428, 28146, "5b7fa4aca3b7ea9abd3c67ccb313ad3a79fe423ec5eabfb2731ee671f6d4fa46"},
    {"16KiB", 23, 32868, 32466, "f107e04651b668b96f7337f7867f43c94e1e795cdc5f4eb586600f6a987abbab"},
    {"32KiB", 23, 39168, 38746, "a5355fd4db825440d37d7290f1c3242934a1dc30ff6035b1e2929333a17ce90b"},
    {"8MiB", 23, 65088, 64266, "ee6185d4d0e58fb6f56f11ebc105ec7a08829c99bbf18b91634e40d07abaee6f"},
    {"16MiB", 23, 71388, 70546, "5d36865b303139eae5c25b0e7c357bb603cd0466353d171d0f1df04d6b7d55ae"},
    {"512MiB", 23, 86568, 85466, "24ea17320d86130abde49b4eff2f6df38d8806b99018c5c2ac68930d951325c6"},
    {"1GiB", 23, 92868, 91746, "32284a17f9e7b7af306c147f57c5066c4a537da9cea4cb613885f39815dbea48"},
};
const Reference kProductionWindow[] = {
    {"32GiB", 25840, 126902376, 125279217, "1036a47757014fa295aee4d8539d43c45adaf71c80a4b17c1dba6eca41b0d54f"},
    {"64GiB", 25301, 131500200, 129887900, "c0067486fdc1ab0885e045ae7e61190ec4cdc979f939d08d67c3d06fc3c6f42c"},
};

// Against filecoin-spec H.4, and against the vectors where they have the size.
void expect_circuits(PostKind kind, std::span<const Reference> references) {
  exec::Pool pool(2);
  for (const Reference& expected : references) {
    const r1cs::Circuit circuit = compile_post(post_shape(kind, parse_size(expected.name).value()).value());
    EXPECT_LE(circuit.bytes(), uint64_t{64} << 20);
    const std::string name = fmt::format("{}-{}", post_kind_name(kind), expected.name);
    const bool has_vector = std::filesystem::exists(cuzk::testing::vectors() / "r1cs" / (name + ".json"));
    expect_reference(expected, has_vector ? expect_vector(name, circuit, pool) : r1cs::digest(circuit, pool));
  }
}

TEST(PostSlow, WinningCircuits) {
  CUZK_SKIP_WITHOUT_VECTORS();
  expect_circuits(PostKind::kWinning, kWinning);
}

TEST(PostSlow, SmallWindowCircuits) {
  CUZK_SKIP_WITHOUT_VECTORS();
  expect_circuits(PostKind::kWindow, kSmallWindow);
}

TEST(PostSlow, ProductionWindowCircuits) {
  CUZK_SKIP_WITHOUT_VECTORS();
  expect_circuits(PostKind::kWindow, kProductionWindow);
}

TEST(PostSlow, WitnessVectors) {
  CUZK_SKIP_WITHOUT_VECTORS();
  exec::Pool pool(2);
  for (const char* kind : {"winning", "window"}) {
    for (const char* size : {"2KiB", "4KiB", "16KiB", "32KiB"}) {
      auto source =
          make_post_source_from_json(cuzk::testing::vectors() / "seal" / size / fmt::format("{}.json", kind), pool);
      ASSERT_TRUE(source) << source.error().message;
      testing::expect_witness(fmt::format("{}-{}", kind, size), **source, pool);
    }
  }
}

TEST(PostSlow, MadeUpSectorsOfEverySize) {
  exec::Pool pool(2);
  for (const PorepShape& sector : porep_shapes()) {
    SCOPED_TRACE(format_size(sector.sector_bytes));
    for (PostKind kind : {PostKind::kWinning, PostKind::kWindow}) {
      PostInput input = testing::made_up_post(kind, sector.sector_bytes, 1, cuzk::testing::seed(), pool);
      auto source = make_post_source(std::move(input), pool);
      ASSERT_TRUE(source) << source.error().message;
      if (kind == PostKind::kWindow && sector.sector_bytes >= 32 * kGiB) continue;  // below
      const r1cs::Circuit circuit = (*source)->compile().value();
      EXPECT_EQ(testing::first_unsatisfied(**source, 0, circuit, pool), circuit.num_constraints);
    }
  }
}

// The most that this process has held at once.
uint64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    uint64_t kib = 0;
    status >> kib;
    return kib << 10;
  }
  return 0;
}

// A whole partition: 2,349 sectors, 127 million variables, each a field element.
TEST(PostSlow, ProductionWindowWitness) {
  exec::Pool pool(2);
  const PostShape shape = post_shape(PostKind::kWindow, 32 * kGiB).value();
  auto source = make_post_source(
      testing::made_up_post(PostKind::kWindow, 32 * kGiB, shape.sectors, cuzk::testing::seed(), pool), pool);
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->partitions(), 1u);
  const r1cs::Circuit circuit = (*source)->compile().value();
  const r1cs::Witness witness = (*source)->synthesise(0, circuit, r1cs::testing::room_for(circuit)).value();
  EXPECT_GT(peak_bytes(), r1cs::witness_bytes(circuit));
  EXPECT_LE(peak_bytes(), 5 * kGiB);
  EXPECT_EQ(std::vector<Fr>(witness.inputs.begin() + 1, witness.inputs.end()), (*source)->public_inputs(0).value());
  EXPECT_EQ(r1cs::first_unsatisfied(r1cs::WitnessView(circuit, witness), pool), circuit.num_constraints);
}

}  // namespace
}  // namespace cuzk::filecoin
