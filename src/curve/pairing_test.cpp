// The pairing by its defining properties and against another implementation's values.
#include "curve/pairing.h"

#include <gtest/gtest.h>

#include "curve/noble_testing.h"
#include "curve/testing.h"

namespace cuzk {
namespace {

G1Affine g1_times(const Fr& k) { return scalar_mul(G1::from_affine(g1_generator()), k.canonical()).to_affine(); }
G2Affine g2_times(const Fr& k) { return scalar_mul(G2::from_affine(g2_generator()), k.canonical()).to_affine(); }

Fp12 power(const Fp12& a, std::span<const uint64_t> exponent) {
  Fp12 out = Fp12::one();
  for (size_t i = 64 * exponent.size(); i-- > 0;) {
    out = out.square();
    if (exponent[i / 64] >> (i % 64) & 1) out *= a;
  }
  return out;
}

TEST(Pairing, AgreesWithAnotherImplementation) {
  const auto& vectors = testing::noble_vectors().at("pairing");
  ASSERT_GE(vectors.size(), 5u);
  for (const auto& vector : vectors) {
    const Fp12 e = pairing(g1_times(testing::field_from_hex<Fr>(vector.at("a"))),
                           g2_times(testing::field_from_hex<Fr>(vector.at("b"))));
    const Fp2 in_order[] = {e.c0.c0, e.c0.c1, e.c0.c2, e.c1.c0, e.c1.c1, e.c1.c2};
    for (size_t i = 0; i < 6; i++) {
      EXPECT_EQ(in_order[i].c0, testing::field_from_hex<Fp>(vector.at("value").at(2 * i))) << i;
      EXPECT_EQ(in_order[i].c1, testing::field_from_hex<Fp>(vector.at("value").at(2 * i + 1))) << i;
    }
  }
}

TEST(Pairing, IsBilinearAndNotDegenerate) {
  const Fp12 e = pairing(g1_generator(), g2_generator());
  EXPECT_NE(e, Fp12::one());
  EXPECT_EQ(power(e, Fr::kModulus), Fp12::one());
  auto random = testing::rng();
  for (int i = 0; i < 3; i++) {
    const Fr a = testing::random_field<Fr>(random), b = testing::random_field<Fr>(random);
    const Fp12 expected = power(e, (a * b).canonical());
    EXPECT_EQ(pairing(g1_times(a), g2_times(b)), expected);
    EXPECT_EQ(pairing(g1_times(b), g2_times(a)), expected);
    EXPECT_EQ(pairing(g1_times(a * b), g2_generator()), expected);
    EXPECT_EQ(pairing(g1_generator(), g2_times(a * b)), expected);
    EXPECT_EQ(pairing(-g1_times(a), g2_times(b)), expected.inverse());
    EXPECT_EQ(pairing(g1_times(a), -g2_times(b)), expected.inverse());
  }
}

TEST(Pairing, InfinityGivesOne) {
  EXPECT_EQ(pairing(G1Affine::infinity(), g2_generator()), Fp12::one());
  EXPECT_EQ(pairing(g1_generator(), G2Affine::infinity()), Fp12::one());
  EXPECT_EQ(pairing(G1Affine::infinity(), G2Affine::infinity()), Fp12::one());
  EXPECT_EQ(final_exponentiation(Fp12::zero()), Fp12::zero());
}

TEST(Pairing, ProductsAreProducts) {
  auto random = testing::rng(1);
  EXPECT_TRUE(pairing_product_is_one({}));
  for (size_t count : {1, 2, 3, 7}) {
    std::vector<PairingInput> pairs;
    Fp12 product = Fp12::one();
    Fr sum = Fr::zero();
    for (size_t i = 0; i < count; i++) {
      const Fr a = testing::random_field<Fr>(random), b = testing::random_field<Fr>(random);
      pairs.emplace_back(g1_times(a), g2_times(b));
      product *= pairing(pairs.back().first, pairs.back().second);
      sum += a * b;
    }
    EXPECT_EQ(final_exponentiation(miller_loop(pairs)), product);
    EXPECT_FALSE(pairing_product_is_one(pairs));
    pairs.emplace_back(G1Affine::infinity(), g2_generator());
    pairs.emplace_back(-g1_times(sum), g2_generator());
    EXPECT_TRUE(pairing_product_is_one(pairs));
    pairs.back().first = g1_times(sum);
    EXPECT_FALSE(pairing_product_is_one(pairs));
  }
  // The same pair several times, and beside its inverse.
  const PairingInput pair = {g1_generator(), g2_generator()}, inverse = {-g1_generator(), g2_generator()};
  EXPECT_TRUE(pairing_product_is_one(std::array{pair, pair, inverse, inverse}));
  EXPECT_FALSE(pairing_product_is_one(std::array{pair, pair, inverse}));
}

}  // namespace
}  // namespace cuzk
