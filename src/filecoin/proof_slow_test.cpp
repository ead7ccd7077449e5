// From sealed sectors to proofs, byte for byte the reference's.

#include "filecoin/post_source.h"
#include "filecoin/proof_testing.h"
#include "filecoin/update_source.h"

namespace cuzk::filecoin {
namespace {

// A file that goes away with the test.
struct TemporaryFile {
  explicit TemporaryFile(const std::string& name)
      : path(std::filesystem::temp_directory_path() / fmt::format("cuzk-{}-{}", ::getpid(), name)) {}
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    std::filesystem::remove(groth16::checked_record_path(path), ignored);
  }
  std::filesystem::path path;
};

TEST(ReferenceProofs, Porep) {
  CUZK_SKIP_WITHOUT_VECTORS();
  exec::Pool pool(2);
  auto source = [&](const std::string& name) {
    return make_porep_source(testing::read_file(cuzk::testing::vectors() / "seal" / name / "c1-wrapped.json"), pool)
        .value();
  };
  const r1cs::Circuit circuit = source("2KiB")->compile().value();
  TemporaryFile params("porep-2KiB.params");
  testing::expect_params("porep-2KiB", circuit, params.path, pool);
  auto loaded = groth16::load_params(params.path, groth16::lengths_of(circuit), {}, pool);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_TRUE(loaded->fully_checked);
  EXPECT_FALSE(loaded->check_was_remembered);
  for (const std::string name : {"2KiB", "2KiB-v1.2", "2KiB-synthetic"}) {
    testing::expect_proofs("porep-" + name, *source(name), circuit, loaded->parameters, pool);
  }
}

// The smaller circuits: `source` reads vectors/seal/2KiB/<kind>.json.
void expect_kind(const std::string& kind, const groth16::CircuitSource& source, exec::Pool& pool) {
  const r1cs::Circuit circuit = source.compile().value();
  TemporaryFile params(kind + ".params");
  testing::expect_params(kind + "-2KiB", circuit, params.path, pool);
  auto loaded = groth16::load_params(params.path, groth16::lengths_of(circuit), {}, pool);
  ASSERT_TRUE(loaded) << loaded.error().message;
  testing::expect_proofs(kind + "-2KiB", source, circuit, loaded->parameters, pool);
}

TEST(ReferenceProofs, Post) {
  CUZK_SKIP_WITHOUT_VECTORS();
  exec::Pool pool(2);
  for (const std::string kind : {"winning", "window"}) {
    auto source = make_post_source_from_json(cuzk::testing::vectors() / "seal" / "2KiB" / (kind + ".json"), pool);
    ASSERT_TRUE(source) << source.error().message;
    expect_kind(kind, **source, pool);
  }
}

TEST(ReferenceProofs, Update) {
  CUZK_SKIP_WITHOUT_VECTORS();
  exec::Pool pool(2);
  auto source = make_update_source_from_json(cuzk::testing::vectors() / "seal" / "2KiB" / "update.json", pool);
  ASSERT_TRUE(source) << source.error().message;
  expect_kind("update", **source, pool);
}

}  // namespace
}  // namespace cuzk::filecoin
