#include "groth16/export.h"

#include <gtest/gtest.h>
#include <openssl/bn.h>

#include "groth16/files.h"
#include "groth16/testing.h"

namespace cuzk::groth16 {
namespace {

// A decimal number as big-endian bytes, by OpenSSL.
template <size_t kSize>
std::array<uint8_t, kSize> bytes_of_decimal(const std::string& digits) {
  BIGNUM* number = nullptr;
  BN_dec2bn(&number, digits.c_str());
  std::array<uint8_t, kSize> out;
  EXPECT_EQ(BN_bn2binpad(number, out.data(), kSize), static_cast<int>(kSize));
  BN_free(number);
  return out;
}
Fp fp_of(const nlohmann::json& digits) { return Fp::from_bytes_be(bytes_of_decimal<48>(digits)).value(); }
G1Affine g1_of(const nlohmann::json& point) {
  EXPECT_EQ(point[2], "1");
  return {fp_of(point[0]), fp_of(point[1])};
}
G2Affine g2_of(const nlohmann::json& point) {
  EXPECT_EQ(point[2], nlohmann::json::array({"1", "0"}));
  return {{fp_of(point[0][0]), fp_of(point[0][1])}, {fp_of(point[1][0]), fp_of(point[1][1])}};
}

TEST(Snarkjs, KeyAndProofReadBack) {
  const VerifyingKey vk = read_vk(testing::data() / "inputs/circuit.vk").value();
  auto json = nlohmann::json::parse(snarkjs_vk(vk));
  EXPECT_EQ(json["protocol"], "groth16");
  EXPECT_EQ(json["curve"], "bls12381");
  EXPECT_EQ(json["nPublic"], 9);
  VerifyingKey back = vk;  // beta_g1 and delta_g1 are not exported
  back.alpha_g1 = g1_of(json["vk_alpha_1"]);
  back.beta_g2 = g2_of(json["vk_beta_2"]);
  back.gamma_g2 = g2_of(json["vk_gamma_2"]);
  back.delta_g2 = g2_of(json["vk_delta_2"]);
  back.ic.clear();
  for (const auto& point : json["IC"]) back.ic.push_back(g1_of(point));
  EXPECT_EQ(back, vk);

  const Proof proof = decode_proof(testing::read_file(testing::data() / "inputs/proof.bin")).value();
  json = nlohmann::json::parse(snarkjs_proof(proof));
  EXPECT_EQ(json["protocol"], "groth16");
  EXPECT_EQ(json["curve"], "bls12381");
  EXPECT_EQ((Proof{g1_of(json["pi_a"]), g2_of(json["pi_b"]), g1_of(json["pi_c"])}), proof);
}

TEST(Snarkjs, PublicInputsInDecimal) {
  const std::vector<Fr> inputs = {Fr::zero(), Fr::one(), Fr::from_u64(UINT64_MAX),
                                  Fr::from_u64(10'000'000'000'000'000'000u), -Fr::one()};
  EXPECT_EQ(nlohmann::json::parse(snarkjs_public(inputs)),
            nlohmann::json::array({"0", "1", "18446744073709551615", "10000000000000000000",
                                   "52435875175126190479447740508185965837690552500527637822603658699938581184512"}));
  EXPECT_EQ(nlohmann::json::parse(snarkjs_public({})), nlohmann::json::array());
}

}  // namespace
}  // namespace cuzk::groth16
