#pragma once
// What the tests of the circuits share.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/testing.h"
#include "field/text.h"
#include "filecoin/porep_circuit.h"
#include "filecoin/porep_source.h"
#include "r1cs/digest.h"
#include "r1cs/testing.h"

namespace cuzk::filecoin::testing {

inline nlohmann::json read_json(const std::filesystem::path& path) {
  std::ifstream stream(path);
  EXPECT_TRUE(stream) << path;
  return nlohmann::json::parse(stream);
}
inline Bytes read_file(const std::filesystem::path& path) { return cuzk::read_file(path).value(); }
inline Fr from_hex_number(const std::string& digits) { return fr_from_hex(digits).value(); }

// A row of filecoin-spec H.3 and H.4.
struct Reference {
  const char* name;
  uint32_t inputs, aux, rows;
  const char* blake2s;
};
inline void expect_reference(const Reference& expected, const r1cs::CircuitDigest& digest) {
  EXPECT_EQ(digest.num_inputs, expected.inputs) << expected.name;
  EXPECT_EQ(digest.num_aux, expected.aux) << expected.name;
  EXPECT_EQ(digest.num_constraints, expected.rows) << expected.name;
  EXPECT_EQ(to_hex(digest.blake2s), expected.blake2s) << expected.name;
}

// Against vectors/r1cs/<name>.json: counts, non-zero terms, densities, and the digest with each of its checkpoints, so
// that a failure brackets the first wrong row.
inline r1cs::CircuitDigest expect_vector(const std::string& name, const r1cs::Circuit& circuit, exec::Pool& pool) {
  const nlohmann::json expected = read_json(cuzk::testing::vectors() / "r1cs" / (name + ".json"));
  const nlohmann::json& checkpoints = expected["checkpoints"];
  EXPECT_EQ(checkpoints.empty(), circuit.num_constraints < 1 << 16) << name;
  size_t next = 0;
  auto digest = r1cs::digest(circuit, pool, 1 << 16, [&](uint32_t rows, const Bytes32& sha256) {
    if (next == checkpoints.size() || rows != checkpoints[next][0]) return;
    EXPECT_EQ(to_hex(sha256).substr(0, 16), checkpoints[next][3]) << name << ": wrong row before " << rows;
    next++;
  });
  EXPECT_EQ(next, checkpoints.size());
  EXPECT_EQ(to_hex(digest.sha256), expected["sha256"]) << name;
  EXPECT_EQ(digest.num_inputs, expected["num_inputs"]);
  EXPECT_EQ(digest.num_aux, expected["num_aux"]);
  EXPECT_EQ(digest.num_constraints, expected["num_constraints"]);
  EXPECT_EQ(digest.nnz_a, expected["nnz_a"]);
  EXPECT_EQ(digest.nnz_b, expected["nnz_b"]);
  EXPECT_EQ(digest.nnz_c, expected["nnz_c"]);
  EXPECT_EQ(digest.a_aux, expected["density"]["a_aux"]);
  EXPECT_EQ(digest.b_aux, expected["density"]["b_aux"]);
  EXPECT_EQ(digest.b_inputs, expected["density"]["b_inputs"]);
  return digest;
}

// Against vectors/witness/<name>.json: inputs, every variable, the three evaluations, and that all rows hold.
inline void expect_witness(const std::string& name, const groth16::CircuitSource& source, exec::Pool& pool) {
  SCOPED_TRACE(name);
  const nlohmann::json expected = read_json(cuzk::testing::vectors() / "witness" / (name + ".json"));
  const uint32_t partition = expected["partition"];
  r1cs::Circuit circuit = source.compile().value();
  auto witness = source.synthesise(partition, circuit, r1cs::testing::room_for(circuit));
  ASSERT_TRUE(witness) << witness.error().message;

  std::vector<Fr> inputs;
  for (const nlohmann::json& input : expected["inputs"]) inputs.push_back(from_hex_number(input));
  EXPECT_TRUE(std::ranges::equal(witness->inputs, inputs));
  auto public_inputs = source.public_inputs(partition);
  ASSERT_TRUE(public_inputs);
  EXPECT_EQ(*public_inputs, std::vector<Fr>(inputs.begin() + 1, inputs.end()));

  r1cs::WitnessDigest digest = r1cs::digest(r1cs::WitnessView(circuit, *witness), pool);
  EXPECT_EQ(to_hex(digest.aux), expected["aux_sha256"]);
  EXPECT_EQ(to_hex(digest.a), expected["a_sha256"]);
  EXPECT_EQ(to_hex(digest.b), expected["b_sha256"]);
  EXPECT_EQ(to_hex(digest.c), expected["c_sha256"]);
  EXPECT_EQ(digest.first_unsatisfied, circuit.num_constraints);
}
inline void expect_witness(const std::string& name, ByteSpan c1, exec::Pool& pool) {
  auto source = make_porep_source(c1, pool);
  ASSERT_TRUE(source) << source.error().message;
  expect_witness(name, **source, pool);
}

}  // namespace cuzk::filecoin::testing
