#pragma once
// A statement small enough to drive the whole engine in tests: "I know x with x^3 + x + 5 = y", one y a partition.
// Used by tests only.

#include <atomic>
#include <filesystem>

#include "groth16/circuit_source.h"
#include "groth16/setup.h"
#include "groth16/verify.h"
#include "r1cs/assigner.h"
#include "r1cs/recorder.h"

namespace cuzk::engine::testing {

class CubicSource : public groth16::CircuitSource {
 public:
  explicit CubicSource(std::vector<uint64_t> xs, std::string id = "cubic") : xs_(std::move(xs)), id_(std::move(id)) {}

  std::string circuit_id() const override { return id_; }
  Result<r1cs::Circuit> compile() const override {
    compilations++;
    r1cs::Recorder recorder;
    r1cs::Var x = recorder.alloc({}), square = recorder.alloc({}), cube = recorder.alloc({});
    r1cs::Var y = recorder.alloc_input({});
    multiply(recorder, x, x, square);
    multiply(recorder, square, x, cube);
    recorder.enforce([&](r1cs::RowBuilder& row) {
      row.a.add(cube, Fr::one());
      row.a.add(x, Fr::one());
      row.a.add(r1cs::Var::one(), Fr::from_u64(5));
      row.b.add(r1cs::Var::one(), Fr::one());
      row.c.add(y, Fr::one());
    });
    return std::move(recorder).finish(id_);
  }
  uint32_t partitions() const override { return static_cast<uint32_t>(xs_.size()); }
  Result<std::vector<Fr>> public_inputs(uint32_t partition) const override { return std::vector<Fr>{y(partition)}; }
  Status assign(uint32_t partition, const r1cs::Circuit& circuit, const r1cs::Assignment& to) const override {
    Fr x = Fr::from_u64(xs_[partition]);
    r1cs::Assigner assigner(circuit, to);
    for (const Fr& power : std::vector<Fr>{x, x * x, x * x * x}) assigner.alloc(power);
    assigner.alloc_input(y(partition));
    return assigner.finish();
  }

  inline static std::atomic<int> compilations = 0;

 private:
  static void multiply(r1cs::Recorder& recorder, r1cs::Var a, r1cs::Var b, r1cs::Var c) {
    recorder.enforce([&](r1cs::RowBuilder& row) {
      row.a.add(a, Fr::one());
      row.b.add(b, Fr::one());
      row.c.add(c, Fr::one());
    });
  }
  Fr y(uint32_t partition) const {
    Fr x = Fr::from_u64(xs_[partition]);
    return x * x * x + x + Fr::from_u64(5);
  }

  std::vector<uint64_t> xs_;
  std::string id_;
};

// An empty folder of this test, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "cuzk-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Parameters of the cubic circuit from seed 1, in a folder of this process.
struct CubicParams {
  TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "cubic.params";
  groth16::VerifyingKey vk;

  CubicParams() {
    exec::Pool pool(1);
    vk = groth16::setup(CubicSource({}).compile().value(), groth16::toxic_from_seed(1), file, pool).value();
  }
};
inline const CubicParams& cubic_params() {
  static const CubicParams params;
  return params;
}

// Whether the bytes are a proof of each of these statements, in order.
inline bool proves(ByteSpan bytes, const std::vector<uint64_t>& xs) {
  exec::Pool pool(1);
  CubicSource source(xs);
  auto proofs = groth16::decode_proofs(bytes);
  if (!proofs || proofs->size() != xs.size()) return false;
  static const groth16::PreparedVerifyingKey key = groth16::prepare(cubic_params().vk);
  for (uint32_t i = 0; i < xs.size(); i++) {
    if (!groth16::verify(key, source.public_inputs(i).value(), (*proofs)[i], pool).value_or(false)) return false;
  }
  return true;
}

}  // namespace cuzk::engine::testing
