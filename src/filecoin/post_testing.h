#pragma once
// What the fast and the slow tests of PoSt share.

#include "filecoin/porep_testing.h"
#include "filecoin/post_circuit.h"
#include "filecoin/post_source.h"
#include "filecoin/post_synthetic.h"

namespace cuzk::filecoin::testing {

inline const std::vector<std::string> kPostSealed = {"2KiB",      "4KiB",      "16KiB",          "32KiB",  "8MiB",
                                                     "2KiB-v1.0", "2KiB-v1.2", "2KiB-synthetic", "2KiB-ni"};
inline const std::vector<std::string> kPostSparse = {"4KiB", "16KiB", "8MiB", "512MiB", "32GiB"};

// The json files of winning and window of all sectors of the vectors.
inline std::vector<std::filesystem::path> post_vectors() {
  std::vector<std::filesystem::path> out;
  for (const char* kind : {"winning.json", "window.json"}) {
    for (const std::string& name : kPostSealed) out.push_back(cuzk::testing::vectors() / "seal" / name / kind);
    for (const std::string& name : kPostSparse) out.push_back(cuzk::testing::vectors() / "sparse" / name / kind);
  }
  return out;
}

inline PostShape post_test_shape(uint64_t nodes, TreeShape tree, unsigned sectors, unsigned challenges) {
  return {PostKind::kWindow, {32 * nodes, nodes, tree, 2, 1, 1, 1}, sectors, challenges, challenges};
}

inline PostInput made_up_post(PostKind kind, uint64_t sector_bytes, size_t sectors, uint64_t seed, exec::Pool& pool) {
  const ApiVersion api = kind == PostKind::kWinning ? ApiVersion::kV1_0 : ApiVersion::kV1_2;
  return synthetic_post(post_proof(kind, sector_bytes, api).value(), sectors, seed, pool).value();
}

inline uint32_t first_unsatisfied(const groth16::CircuitSource& source, uint32_t partition,
                                  const r1cs::Circuit& circuit, exec::Pool& pool) {
  const r1cs::Witness witness = source.synthesise(partition, circuit, r1cs::testing::room_for(circuit)).value();
  EXPECT_EQ(std::vector<Fr>(witness.inputs.begin() + 1, witness.inputs.end()), source.public_inputs(partition).value());
  return r1cs::first_unsatisfied(r1cs::WitnessView(circuit, witness), pool);
}

}  // namespace cuzk::filecoin::testing
