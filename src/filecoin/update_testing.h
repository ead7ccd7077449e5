#pragma once
// What the fast and the slow tests of sector updates share.

#include "filecoin/porep_testing.h"
#include "filecoin/update_circuit.h"
#include "filecoin/update_source.h"
#include "filecoin/update_synthetic.h"

namespace cuzk::filecoin::testing {

// update.json of every sector of the vectors.
inline std::vector<std::filesystem::path> update_vectors() {
  std::vector<std::filesystem::path> out;
  for (const char* group : {"seal", "sparse"}) {
    for (const auto& sector : std::filesystem::directory_iterator(cuzk::testing::vectors() / group)) {
      if (std::filesystem::exists(sector.path() / "update.json")) out.push_back(sector.path() / "update.json");
    }
  }
  EXPECT_GE(out.size(), 14u);
  return out;
}

// The synthetic update's witness of a partition: the first row that it breaks.
inline uint32_t first_unsatisfied(const SectorUpdate& update, uint32_t partition, const r1cs::Circuit& circuit,
                                  exec::Pool& pool) {
  const UpdateValues values = update_values(update, partition).value();
  const r1cs::Witness witness = r1cs::testing::make_witness(circuit);
  EXPECT_TRUE(assign_update(circuit, update.shape, values, witness));
  EXPECT_EQ(std::vector<Fr>(witness.inputs.begin() + 1, witness.inputs.end()),
            update_public_inputs(update.shape, update.statement, partition).value());
  return r1cs::first_unsatisfied(r1cs::WitnessView(circuit, witness), pool);
}

}  // namespace cuzk::filecoin::testing
