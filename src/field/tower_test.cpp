// The extension fields by their defining relations and by algebraic identities.
#include "field/tower.h"

#include <gtest/gtest.h>

#include "base/testing.h"
#include "field/sqrt.h"

namespace cuzk {
namespace {

using Random = std::mt19937_64;

template <class F>
F random_element(Random& random);
template <>
Fp random_element(Random& random) {
  return testing::random_field<Fp>(random);
}
template <>
Fp2 random_element(Random& random) {
  return {random_element<Fp>(random), random_element<Fp>(random)};
}
template <>
Fp6 random_element(Random& random) {
  return {random_element<Fp2>(random), random_element<Fp2>(random), random_element<Fp2>(random)};
}
template <>
Fp12 random_element(Random& random) {
  return {random_element<Fp6>(random), random_element<Fp6>(random)};
}

template <class F>
F power(const F& a, std::span<const uint64_t> exponent) {
  F out = F::one();
  for (size_t i = 64 * exponent.size(); i-- > 0;) {
    out = out * out;
    if (exponent[i / 64] >> (i % 64) & 1) out *= a;
  }
  return out;
}

template <class F>
class Tower : public ::testing::Test {};
using Towers = ::testing::Types<Fp2, Fp6, Fp12>;
TYPED_TEST_SUITE(Tower, Towers);

TYPED_TEST(Tower, IsAField) {
  using F = TypeParam;
  auto random = testing::rng();
  for (int i = 0; i < 50; i++) {
    F a = random_element<F>(random), b = random_element<F>(random), c = random_element<F>(random);
    EXPECT_EQ(a * b, b * a);
    EXPECT_EQ(a * b * c, a * (b * c));
    EXPECT_EQ(a * (b + c), a * b + a * c);
    EXPECT_EQ(a - b + b, a);
    EXPECT_EQ(a + -a, F::zero());
    EXPECT_EQ(a * F::one(), a);
    EXPECT_EQ(a * F::zero(), F::zero());
    EXPECT_EQ(a.dbl(), a + a);
    EXPECT_EQ(a.square(), a * a);
    EXPECT_EQ(a * a.inverse(), F::one());
    F d = a;
    d += b;
    d *= c;
    d -= a;
    EXPECT_EQ(d, (a + b) * c - a);
  }
  EXPECT_EQ(F::zero().inverse(), F::zero());
  EXPECT_TRUE(F::zero().is_zero());
  EXPECT_FALSE(F::one().is_zero());
  EXPECT_EQ(F::one().inverse(), F::one());
  EXPECT_EQ((-F::one()).square(), F::one());
}

constexpr Fp2 kXi = {Fp::one(), Fp::one()};
constexpr Fp2 kU = {Fp::zero(), Fp::one()};
constexpr Fp6 kV = {{}, Fp2::one(), {}};
constexpr Fp12 kW = {{}, Fp6::one()};

TEST(Tower, GeneratorsSatisfyTheirRelations) {
  EXPECT_EQ(kU * kU, -Fp2::one());
  EXPECT_EQ(kV * kV * kV, (Fp6{kXi, {}, {}}));
  EXPECT_EQ(kW * kW, (Fp12{kV, {}}));
  // The polynomials are irreducible: -1 is no square in Fp, xi neither a square nor a cube in Fp2.
  EXPECT_EQ(sqrt(-Fp::one()), std::nullopt);
  EXPECT_EQ(sqrt(kXi), std::nullopt);
  EXPECT_NE(kFrobeniusW * kFrobeniusW, Fp2::one());  // xi^((p-1)/3), so xi^((p^2-1)/3) is not 1 either
}

TEST(Tower, SparseProductsAreProducts) {
  auto random = testing::rng(1);
  for (int i = 0; i < 20; i++) {
    Fp2 b0 = random_element<Fp2>(random), b1 = random_element<Fp2>(random), b4 = random_element<Fp2>(random);
    Fp6 a = random_element<Fp6>(random);
    Fp12 f = random_element<Fp12>(random);
    EXPECT_EQ(b0.mul_by_xi(), b0 * kXi);
    EXPECT_EQ(b0 * b1.c0, b0 * (Fp2{b1.c0, Fp::zero()}));
    EXPECT_EQ(a.mul_by_v(), a * kV);
    EXPECT_EQ(a * b0, a * (Fp6{b0, {}, {}}));
    EXPECT_EQ(a.mul_by_01(b0, b1), a * (Fp6{b0, b1, {}}));
    EXPECT_EQ(a.mul_by_1(b1), a * (Fp6{{}, b1, {}}));
    EXPECT_EQ(f.mul_by_014(b0, b1, b4), f * (Fp12{{b0, b1, {}}, {{}, b4, {}}}));
  }
}

TEST(Tower, ConjugatesAndFrobeniusArePowersOfP) {
  auto random = testing::rng(2);
  Fp2 a = random_element<Fp2>(random);
  EXPECT_EQ(a.conjugate(), power(a, Fp::kModulus));
  EXPECT_EQ((Fp2{a.norm(), Fp::zero()}), a * a.conjugate());
  Fp12 f = random_element<Fp12>(random), image = f;
  EXPECT_EQ(f.frobenius(), power(f, Fp::kModulus));
  EXPECT_EQ((Fp12{{kFrobeniusW, {}, {}}, {}}) * kW, power(kW, Fp::kModulus));
  for (int i = 0; i < 6; i++) image = image.frobenius();
  EXPECT_EQ(image, f.conjugate());
  for (int i = 0; i < 6; i++) image = image.frobenius();
  EXPECT_EQ(image, f);
}

TEST(Tower, CyclotomicSquaresAreSquaresInTheCyclotomicSubgroup) {
  auto random = testing::rng(3);
  for (int i = 0; i < 20; i++) {
    Fp12 f = random_element<Fp12>(random);
    EXPECT_NE(f.cyclotomic_square(), f.square());  // not for an element outside
    f = f.conjugate() * f.inverse();
    f = f.frobenius().frobenius() * f;
    EXPECT_EQ(f.cyclotomic_square(), f.square());
    EXPECT_EQ(f.conjugate(), f.inverse());
  }
  EXPECT_EQ(Fp12::one().cyclotomic_square(), Fp12::one());
}

template <class F>
class SquareRoot : public ::testing::Test {};
using RootFields = ::testing::Types<Fp, Fp2>;
TYPED_TEST_SUITE(SquareRoot, RootFields);

TYPED_TEST(SquareRoot, IsFoundExactlyForSquares) {
  using F = TypeParam;
  auto random = testing::rng(4);
  const F nonresidue = [] {
    if constexpr (std::is_same_v<F, Fp>) return -Fp::one();
    if constexpr (std::is_same_v<F, Fp2>) return kXi;
  }();
  std::vector<F> samples = {F::one(), -F::one(), F::one().dbl()};
  for (int i = 0; i < 100; i++) samples.push_back(random_element<F>(random));
  if constexpr (std::is_same_v<F, Fp2>) {
    for (int i = 0; i < 20; i++) {  // in Fp and in u Fp: coordinates that are zero
      samples.push_back({random_element<Fp>(random), Fp::zero()});
      samples.push_back({Fp::zero(), random_element<Fp>(random)});
    }
  }
  for (const F& a : samples) {
    auto root = sqrt(a.square());
    ASSERT_TRUE(root);
    EXPECT_TRUE(*root == a || *root == -a);
    EXPECT_FALSE(sqrt(a.square() * nonresidue));
  }
  EXPECT_EQ(sqrt(F::zero()), F::zero());
}

}  // namespace
}  // namespace cuzk
