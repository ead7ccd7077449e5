#include "filecoin/public_inputs.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include "base/testing.h"

namespace cuzk::filecoin {
namespace {

using Json = simdjson::dom::element;

// Big-endian hex without leading zeros, as the vectors write field elements.
std::string value_hex(const Fr& value) {
  Bytes32 bytes;
  value.to_bytes_be(bytes);
  const std::string hex = to_hex(bytes);
  return hex.substr(std::min(hex.find_first_not_of('0'), hex.size() - 1));
}
std::vector<std::string> strings(simdjson::dom::array array) {
  std::vector<std::string> out;
  for (Json element : array) out.emplace_back(std::string_view(element));
  return out;
}
std::vector<std::string> value_hexes(const std::vector<Fr>& values) {
  std::vector<std::string> out;
  for (const Fr& value : values) out.push_back(value_hex(value));
  return out;
}
Bytes32 bytes_of(Json meta, std::string_view key) { return bytes32_from_hex(std::string_view(meta[key])).value(); }

struct Sector {
  RegisteredProof proof;
  PorepStatement statement;
  std::vector<std::vector<std::string>> inputs;  // by partition
};

Sector read_sector(const std::filesystem::path& folder) {
  simdjson::dom::parser parser;
  Json meta = parser.load((folder / "meta.json").string());
  const std::string_view name = meta["registered_proof"];
  auto proof = registered_proof(name);
  if (!proof) proof = unregistered_proof(name);
  Sector out{proof.value(),
             {bytes_of(meta, "replica_id"), bytes_of(meta, "comm_d"), bytes_of(meta, "comm_r"), bytes_of(meta, "seed")},
             {}};
  EXPECT_EQ(out.proof.porep_id, bytes_of(meta, "porep_id"));
  EXPECT_EQ(format_size(out.proof.sector_bytes), std::string_view(meta["size"]));
  EXPECT_EQ(out.proof.partitions, uint64_t(meta["partitions"]));
  for (Json partition : meta["public_inputs"].get_array()) out.inputs.push_back(strings(partition));
  EXPECT_EQ(out.inputs.size(), out.proof.partitions);
  EXPECT_EQ(replica_id(bytes_of(meta, "prover_id"), uint64_t(meta["sector_id"]), bytes_of(meta, "ticket"),
                       out.statement.comm_d, out.proof.porep_id),
            out.statement.replica_id);
  return out;
}

// Every partition of every sector in a folder; how many sectors there were.
size_t check_sectors(const std::filesystem::path& folder) {
  size_t sectors = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.is_directory()) continue;
    SCOPED_TRACE(entry.path().string());
    const Sector sector = read_sector(entry.path());
    for (uint32_t k = 0; k < sector.proof.partitions; k++) {
      EXPECT_EQ(value_hexes(porep_public_inputs(sector.proof, sector.statement, k).value()), sector.inputs[k]);
    }
    sectors++;
  }
  return sectors;
}

TEST(PublicInputs, OfSealedSectors) { EXPECT_EQ(check_sectors(CUZK_SOURCE_DIR "/tests/data/sectors"), 6u); }

TEST(PublicInputs, OfEveryReferenceSector) {
  CUZK_SKIP_WITHOUT_VECTORS();
  EXPECT_GE(check_sectors(testing::vectors() / "seal") + check_sectors(testing::vectors() / "sparse"), 14u);
}

// The circuit's own inputs, with ONE, and the ones that the reference proofs were made and verified with.
TEST(PublicInputs, OfReferenceWitnessesAndProofs) {
  CUZK_SKIP_WITHOUT_VECTORS();
  struct Case {
    const char *file, *sector;
    uint32_t partition;
  };
  const Case witnesses[] = {
      {"porep-2KiB", "seal/2KiB", 0},
      {"porep-2KiB-v1.0", "seal/2KiB-v1.0", 0},
      {"porep-2KiB-v1.2", "seal/2KiB-v1.2", 0},
      {"porep-2KiB-synthetic", "seal/2KiB-synthetic", 0},
      {"porep-4KiB", "seal/4KiB", 0},
      {"porep-16KiB", "seal/16KiB", 0},
      {"porep-32KiB", "seal/32KiB", 0},
      {"porep-8MiB", "seal/8MiB", 0},
      {"porep-sparse-512MiB", "sparse/512MiB", 0},
      {"porep-sparse-32GiB-p3", "sparse/32GiB", 3},
  };
  const Case proofs[] = {{"porep-2KiB", "seal/2KiB", 0},
                         {"porep-2KiB-v1.2", "seal/2KiB-v1.2", 0},
                         {"porep-2KiB-synthetic", "seal/2KiB-synthetic", 0}};
  simdjson::dom::parser parser;
  auto computed = [](const Case& c) {
    const Sector sector = read_sector(testing::vectors() / c.sector);
    return value_hexes(porep_public_inputs(sector.proof, sector.statement, c.partition).value());
  };
  for (const Case& c : witnesses) {
    Json json = parser.load((testing::vectors() / "witness" / (std::string(c.file) + ".json")).string());
    std::vector<std::string> inputs = computed(c);
    inputs.insert(inputs.begin(), "1");
    EXPECT_EQ(inputs, strings(json["inputs"])) << c.file;
  }
  for (const Case& c : proofs) {
    Json json = parser.load((testing::vectors() / "proofs" / (std::string(c.file) + ".json")).string());
    EXPECT_EQ(computed(c), strings(json["public_inputs"])) << c.file;
  }
}

TEST(PublicInputs, BadStatementsAreNamed) {
  const RegisteredProof proof = registered_proof("StackedDrg2KiBV1_1").value();
  Bytes32 modulus;
  for (size_t i = 0; i < 4; i++) store_le(modulus.data() + 8 * i, Fr::kModulus[i]);
  auto message = [&](const PorepStatement& statement, uint32_t partition) {
    const auto inputs = porep_public_inputs(proof, statement, partition);
    EXPECT_FALSE(inputs);
    if (inputs) return std::string();
    EXPECT_EQ(inputs.error().code, Code::kInvalidInput);
    return inputs.error().message;
  };
  EXPECT_TRUE(message({modulus, {}, {}, {}}, 0).starts_with("replica_id"));
  EXPECT_TRUE(message({{}, modulus, {}, {}}, 0).starts_with("comm_d"));
  EXPECT_TRUE(message({{}, {}, modulus, {}}, 0).starts_with("comm_r"));
  EXPECT_NE(message({}, 1).find("partition"), std::string::npos);
  EXPECT_EQ(porep_public_inputs(proof, {{}, {}, {}, modulus}, 0).value().size(), 39u);  // a seed may be any 32 bytes
}

}  // namespace
}  // namespace cuzk::filecoin
