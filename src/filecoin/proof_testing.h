#pragma once
// Parameters and proofs of a circuit source against the reference, byte for byte.

#include <gtest/gtest.h>

#include "filecoin/porep_testing.h"
#include "groth16/files.h"
#include "groth16/prove.h"
#include "groth16/setup.h"
#include "groth16/verify.h"
#include "hash/sha256.h"
#include "mem/mapped_file.h"

namespace cuzk::filecoin::testing {

// Makes the parameters of vectors/params/<name>.json from their secrets, at `path`, and compares the file, its sections
// and the verifying key.
inline void expect_params(const std::string& name, const r1cs::Circuit& circuit, const std::filesystem::path& path,
                          exec::Pool& pool) {
  const nlohmann::json expected = read_json(cuzk::testing::vectors() / "params" / (name + ".json"));
  const groth16::Toxic toxic = groth16::toxic_from_json(expected.dump()).value();
  EXPECT_EQ(toxic, groth16::toxic_from_seed(1));
  auto vk = groth16::setup(circuit, toxic, path, pool);
  ASSERT_TRUE(vk) << vk.error().message;
  EXPECT_EQ(groth16::encode_vk(*vk), read_file(cuzk::testing::vectors() / "params" / (name + ".vk")));

  auto file = mem::MappedFile::open(path);
  ASSERT_TRUE(file) << file.error().message;
  const ByteSpan bytes = file->bytes();
  EXPECT_EQ(bytes.size(), expected["params"]["bytes"]);
  EXPECT_EQ(to_hex(hash::sha256(bytes)), expected["params"]["sha256"]);
  for (const std::string section : {"vk", "h", "l", "a", "b_g1", "b_g2"}) {
    const nlohmann::json& s = expected["sections"][section];
    EXPECT_EQ(to_hex(hash::sha256(bytes.subspan(s["offset"], s["bytes"]))), s["sha256"]) << section;
  }
}

// Proves each partition that vectors/proofs/<name>.json tells of with its r and s, compares the bytes, verifies them,
// and checks that neither one flipped bit nor one changed input passes.
inline void expect_proofs(const std::string& name, const groth16::CircuitSource& source, const r1cs::Circuit& circuit,
                          const groth16::Parameters& parameters, exec::Pool& pool) {
  SCOPED_TRACE(name);
  const nlohmann::json file = read_json(cuzk::testing::vectors() / "proofs" / (name + ".json"));
  const auto key = groth16::prepare(parameters.vk);
  for (const nlohmann::json& expected : file.is_array() ? file : nlohmann::json::array({file})) {
    const uint32_t partition = expected["partition"];
    auto witness = source.synthesise(partition, circuit, r1cs::testing::room_for(circuit));
    ASSERT_TRUE(witness) << witness.error().message;
    groth16::ProveTimes times;
    auto room = mem::unbudgeted(groth16::start_bytes(circuit, pool.threads()));
    auto proof = groth16::prove(circuit, parameters, *witness, from_hex_number(expected["r"]),
                                from_hex_number(expected["s"]), std::move(room), pool, &times);
    ASSERT_TRUE(proof) << proof.error().message;
    std::printf("%s: proved in %.2f s\n", name.c_str(), times.total());
    const auto bytes = groth16::encode_proof(*proof);
    EXPECT_EQ(to_hex(bytes), expected["proof"]);

    std::vector<Fr> inputs = source.public_inputs(partition).value();
    ASSERT_EQ(inputs.size(), expected["public_inputs"].size());
    for (size_t i = 0; i < inputs.size(); i++) EXPECT_EQ(inputs[i], from_hex_number(expected["public_inputs"][i]));
    EXPECT_TRUE(groth16::verify(key, inputs, *proof, pool).value());
    auto random = cuzk::testing::rng(partition);
    for (int trial = 0; trial < 8; trial++) {
      auto flipped = bytes;
      flipped[random() % flipped.size()] ^= static_cast<uint8_t>(1 << random() % 8);
      auto decoded = groth16::decode_proof(flipped);
      EXPECT_TRUE(!decoded || !groth16::verify(key, inputs, *decoded, pool).value());
    }
    inputs[random() % inputs.size()] += Fr::one();
    EXPECT_FALSE(groth16::verify(key, inputs, *proof, pool).value());
  }
}

}  // namespace cuzk::filecoin::testing
