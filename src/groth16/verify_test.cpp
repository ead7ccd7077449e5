#include "groth16/verify.h"

#include <gmock/gmock.h>

#include "curve/encoding.h"
#include "groth16/files.h"
#include "groth16/testing.h"

namespace cuzk::groth16 {
namespace {

using testing::data;
using ::testing::HasSubstr;
using testing::read_file;
using testing::read_json;

// A reference proof, its key and its inputs.
struct Case {
  std::string name;
  PreparedVerifyingKey key;
  std::vector<Fr> inputs;
  Bytes proof;
};

Case load_case(const std::string& name, const std::filesystem::path& vk, const std::filesystem::path& json) {
  auto info = read_json(json);
  std::vector<Fr> inputs =
      testing::frs_from_json(info.contains("public_inputs") ? info["public_inputs"] : info["inputs"]);
  if (!info.contains("public_inputs")) inputs.erase(inputs.begin());  // ONE
  return {name, prepare(read_vk(vk).value()), inputs, from_hex(info["proof"].get<std::string>()).value()};
}

std::vector<Case> small_cases() {
  return {load_case("odd", data() / "odd/circuit.vk", data() / "odd/info.json"),
          load_case("inputs", data() / "inputs/circuit.vk", data() / "inputs/info.json"),
          load_case("window", data() / "window-2KiB.vk", data() / "window-2KiB-proof.json")};
}

// Accepted; rejected with any sampled bit flipped, as bytes or as a statement, and with any sampled input changed.
void expect_sound(const Case& c, size_t bit_step, exec::Pool& pool) {
  auto proof = decode_proof(c.proof);
  ASSERT_TRUE(proof) << c.name << ": " << proof.error().message;
  EXPECT_TRUE(verify(c.key, c.inputs, *proof, pool).value()) << c.name;
  EXPECT_EQ(to_hex(encode_proof(*proof)), to_hex(c.proof)) << c.name;

  for (size_t bit = 0; bit < 8 * kProofBytes; bit += bit_step) {
    Bytes flipped = c.proof;
    flipped[bit / 8] ^= static_cast<uint8_t>(0x80 >> bit % 8);
    auto wrong = decode_proof(flipped);
    EXPECT_FALSE(wrong && verify(c.key, c.inputs, *wrong, pool).value()) << c.name << " bit " << bit;
  }
  // The sign bits turn A, B or C into its negative, which is well formed.
  for (size_t byte : {0u, 48u, 144u}) {
    Bytes flipped = c.proof;
    flipped[byte] ^= 0x20;
    EXPECT_FALSE(verify(c.key, c.inputs, decode_proof(flipped).value(), pool).value()) << c.name;
  }
  for (size_t i = 0; i < c.inputs.size(); i += 1 + c.inputs.size() / 5) {
    std::vector<Fr> inputs = c.inputs;
    inputs[i] += Fr::one();
    EXPECT_FALSE(verify(c.key, inputs, *proof, pool).value()) << c.name << " input " << i;
  }
}

TEST(Verify, AcceptsReferenceProofsOnly) {
  exec::Pool pool(2);
  for (const Case& c : small_cases()) expect_sound(c, 7, pool);
}

TEST(Verify, AcceptsEveryReferenceProofOfTheVectors) {
  CUZK_SKIP_WITHOUT_VECTORS();
  exec::Pool pool(2);
  const auto folder = cuzk::testing::vectors();
  for (const char* name :
       {"porep-2KiB", "porep-2KiB-synthetic", "porep-2KiB-v1.2", "update-2KiB", "window-2KiB", "winning-2KiB"}) {
    std::string kind = std::string(name).substr(0, std::string(name).find("-2KiB"));
    expect_sound(
        load_case(name, folder / "params" / (kind + "-2KiB.vk"), folder / "proofs" / (std::string(name) + ".json")),
        101, pool);
  }
  for (const char* name : {"mimc", "chain"}) {
    expect_sound(load_case(name, folder / "tiny" / name / "circuit.vk", folder / "tiny" / name / "info.json"), 101,
                 pool);
  }
}

// A proof of the same statement with other bytes: e(A, B + delta) = e(A, B) e(A, delta).
Proof randomised(const VerifyingKey& vk, const Proof& proof) {
  return {proof.a, (G2::from_affine(proof.b) + vk.delta_g2).to_affine(),
          (G1::from_affine(proof.c) + proof.a).to_affine()};
}

// A compressed point of G1 whose x is written as x + p, where that fits into 381 bits.
std::optional<Bytes> with_x_above_p(Bytes point) {
  const Bytes p = from_hex(
                      "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffff"
                      "aaab")
                      .value();
  const uint8_t flags = point[0] & 0xe0;
  point[0] ^= flags;
  unsigned carry = 0;
  for (size_t i = point.size(); i-- > 0; carry >>= 8) point[i] = static_cast<uint8_t>(carry += point[i] + p[i]);
  if (point[0] & 0xe0) return std::nullopt;
  point[0] |= flags;
  return point;
}

TEST(Acceptance, Case62_PointsOfProofsAreChecked) {
  exec::Pool pool(2);
  const Case c = small_cases()[1];
  const Proof good = decode_proof(c.proof).value();
  ASSERT_TRUE(verify(c.key, c.inputs, good, pool).value());
  const auto refusal = [](const Proof& proof) { return decode_proof(encode_proof(proof)).error().message; };

  // Of order 3: (0, 2).
  const G1Affine small_g1{Fp::zero(), Fp::from_u64(2)};
  Proof bad = good;
  bad.a = (G1::from_affine(good.a) + small_g1).to_affine();
  EXPECT_EQ(refusal(bad), "A is outside the subgroup");

  // Of order 13, which divides the cofactor twice: (h r / 169) P, P a point with x = 2. c1 comes first.
  const Bytes bytes = from_hex(
                          "0e074268358ced055a27ab8de3bbdeb6d0c2949685103095e491dc537fc8ee474a73ce0b2826fae8eabfb307"
                          "8a910b64157573f4c77585787c2c988585c1f6afe39f5b91aacb37509b42ec71fceb51a1576fda15dac1031f"
                          "8d26785d6b13978409e0bb9c42f9ea2b05b2db46e0b0d8b48039fdad6642504847e80587d42075ea04ad3374"
                          "ae459a306b03f82bea7838e405f754dad2dca3ec8d91aa69f9a20c71e446adc544d89e7599a679e6993efd58"
                          "3e8262de71b409590c90fa9b6eda977d")
                          .value();
  const G2Affine small_g2 = g2_from_uncompressed(std::span<const uint8_t, 192>(bytes)).value();
  G2 multiple = G2::from_affine(small_g2);
  for (int i = 1; i < 13; i++) multiple += small_g2;
  ASSERT_TRUE(multiple.is_infinity());
  bad = good;
  bad.b = (G2::from_affine(good.b) + small_g2).to_affine();
  EXPECT_EQ(refusal(bad), "B is outside the subgroup");

  Bytes off_curve = c.proof;  // 1 + 4 has no square root
  std::fill_n(off_curve.begin() + 144, 48, uint8_t{0});
  off_curve[144] = 0x80, off_curve[191] = 1;
  EXPECT_THAT(decode_proof(off_curve).error().message, HasSubstr("C: "));

  Bytes other_sign = c.proof;
  other_sign[144] ^= 0x20;
  EXPECT_FALSE(verify(c.key, c.inputs, decode_proof(other_sign).value(), pool).value());

  // One x in four is small enough; C is another point in every proof.
  Proof proof = good;
  std::optional<Bytes> above;
  for (int tries = 0; tries < 200 && !above; tries++) {
    proof = randomised(c.key.vk, proof);
    const auto encoded = encode_proof(proof);
    above = with_x_above_p(Bytes(encoded.begin() + 144, encoded.end()));
  }
  ASSERT_TRUE(above);
  ASSERT_TRUE(verify(c.key, c.inputs, proof, pool).value());
  auto encoded = encode_proof(proof);
  std::copy(above->begin(), above->end(), encoded.begin() + 144);
  EXPECT_THAT(decode_proof(encoded).error().message, HasSubstr("C: "));
}

// Inputs have one encoding each, proofs have many: nobody may tell statements or jobs apart by their proofs.
TEST(Acceptance, Case64_InputsHaveOneEncodingAndProofsMany) {
  exec::Pool pool(2);
  for (const Case& c : small_cases()) {
    const Proof proof = decode_proof(c.proof).value(), other = randomised(c.key.vk, proof);
    EXPECT_NE(to_hex(encode_proof(other)), to_hex(c.proof));
    EXPECT_TRUE(verify(c.key, c.inputs, decode_proof(encode_proof(other)).value(), pool).value()) << c.name;
    for (const Fr& input : c.inputs) {
      Bytes32 bytes;
      input.to_bytes_le(bytes);
      ASSERT_EQ(Fr::from_bytes_le(bytes), input);
      unsigned carry = 0;
      for (size_t i = 0; i < bytes.size(); i++, carry >>= 8)
        bytes[i] = static_cast<uint8_t>(carry += bytes[i] + (Fr::kModulus[i / 8] >> 8 * (i % 8) & 0xff));
      EXPECT_FALSE(Fr::from_bytes_le(bytes));
      std::reverse(bytes.begin(), bytes.end());
      EXPECT_FALSE(fr_from_hex(to_hex(bytes)));
    }
  }
}

TEST(Verify, TheNumberOfInputsMustFit) {
  exec::Pool pool(1);
  const Case c = small_cases()[2];
  const Proof proof = decode_proof(c.proof).value();
  std::vector<Fr> inputs = c.inputs;
  inputs.push_back(Fr::zero());
  auto more = verify(c.key, inputs, proof, pool);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().message, "23 public inputs given, the verifying key takes 22");
  EXPECT_FALSE(verify(c.key, {}, proof, pool));
}

TEST(VerifyBatch, HoldsExactlyWhereEveryProofHolds) {
  exec::Pool pool(2);
  const Case c = small_cases()[1];
  const Proof proof = decode_proof(c.proof).value();
  for (size_t n : {1u, 2u, 5u}) {
    std::vector<Proof> proofs(n, proof);
    std::vector<std::vector<Fr>> inputs(n, c.inputs);
    EXPECT_TRUE(verify_batch(c.key, inputs, proofs, pool).value());
    for (size_t j = 0; j < n; j++) {
      auto wrong = proofs;
      wrong[j].a = -wrong[j].a;
      EXPECT_FALSE(verify_batch(c.key, inputs, wrong, pool).value());
      auto other = inputs;
      other[j][0] += Fr::one();
      EXPECT_FALSE(verify_batch(c.key, other, proofs, pool).value());
    }
  }
  // Errors that cancel in the plain product do not cancel under random weights.
  std::vector<Proof> proofs(2, proof);
  proofs[0].c = (G1::from_affine(proof.c) + g1_generator()).to_affine();
  proofs[1].c = (G1::from_affine(proof.c) + -g1_generator()).to_affine();
  EXPECT_FALSE(verify_batch(c.key, std::vector(2, c.inputs), proofs, pool).value());

  EXPECT_FALSE(verify_batch(c.key, {}, {}, pool));
  EXPECT_FALSE(verify_batch(c.key, std::vector(1, c.inputs), std::vector(2, proof), pool));
  EXPECT_FALSE(verify_batch(c.key, std::vector(1, std::vector<Fr>()), std::vector(1, proof), pool));
}

TEST(ProofBytes, NamesEachFault) {
  const Bytes good = small_cases()[0].proof;
  auto message = [](ByteSpan bytes) {
    auto proof = decode_proof(bytes);
    if (proof) return std::string();
    EXPECT_EQ(proof.error().code, Code::kInvalidInput);
    return proof.error().message;
  };
  auto with = [&](size_t at, const Bytes& bytes) {
    Bytes proof = good;
    std::copy(bytes.begin(), bytes.end(), proof.begin() + static_cast<ptrdiff_t>(at));
    return message(proof);
  };
  EXPECT_EQ(message(good), "");
  for (size_t size : {0u, 1u, 191u})
    EXPECT_THAT(message(ByteSpan(good).first(size)), HasSubstr(fmt::format("192 bytes, not {}", size)));
  Bytes longer = good;
  longer.push_back(0);
  EXPECT_THAT(message(longer), HasSubstr("192 bytes, not 193"));

  auto infinity = [](size_t size) {
    Bytes bytes(size);
    bytes[0] = 0xc0;
    return bytes;
  };
  EXPECT_EQ(with(0, infinity(48)), "A is infinity");
  EXPECT_EQ(with(48, infinity(96)), "B is infinity");
  EXPECT_EQ(with(144, infinity(48)), "C is infinity");
  Bytes order_three(48);  // x = 0, y = 2
  order_three[0] = 0x80;
  EXPECT_EQ(with(0, order_three), "A is outside the subgroup");
  EXPECT_EQ(with(144, order_three), "C is outside the subgroup");
  EXPECT_THAT(with(0, Bytes(48, 0xff)), HasSubstr("A: "));
  EXPECT_THAT(with(48, Bytes(96, 0x9f)), HasSubstr("B: "));
  EXPECT_THAT(with(144, Bytes{static_cast<uint8_t>(good[144] & 0x7f)}), HasSubstr("C: "));
}

TEST(ProofBytes, SeveralProofsAreAWholeNumber) {
  const Bytes good = small_cases()[0].proof;
  Bytes three;
  for (int i = 0; i < 3; i++) three.insert(three.end(), good.begin(), good.end());
  EXPECT_EQ(decode_proofs(three)->size(), 3u);
  EXPECT_FALSE(decode_proofs({}));
  EXPECT_FALSE(decode_proofs(ByteSpan(three).first(three.size() - 1)));
  three[192] = 0xff;
  auto bad = decode_proofs(three);
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr("proof 1: A: "));
}

}  // namespace
}  // namespace cuzk::groth16
