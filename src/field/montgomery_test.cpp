// The prime fields against GMP.
#include <gmpxx.h>
#include <gtest/gtest.h>

#include "base/testing.h"
#include "field/fields.h"

namespace cuzk {
namespace {

template <size_t N>
mpz_class to_mpz(const std::array<uint64_t, N>& limbs) {
  mpz_class out;
  mpz_import(out.get_mpz_t(), N, -1, sizeof(uint64_t), 0, 0, limbs.data());
  return out;
}
template <class F>
mpz_class modulus() {
  return to_mpz(F::kModulus);
}
template <class F>
mpz_class value(const F& a) {
  return to_mpz(a.canonical());
}
template <class F>
F from_mpz(mpz_class a) {
  typename F::Limbs limbs{};
  mpz_mod(a.get_mpz_t(), a.get_mpz_t(), modulus<F>().get_mpz_t());
  mpz_export(limbs.data(), nullptr, -1, sizeof(uint64_t), 0, 0, a.get_mpz_t());
  return *F::from_canonical(limbs);
}

template <class F>
class PrimeField : public ::testing::Test {
 protected:
  // Values around every border of the representation, then random ones.
  static std::vector<F> samples() {
    std::vector<F> out = {F::zero(), F::one(), F::from_u64(2), -F::one(), -F::from_u64(2)};
    typename F::Limbs raw{};
    out.push_back(F::from_raw({1}));
    raw.fill(~uint64_t{0});
    raw.back() = F::kModulus.back() - 1;
    out.push_back(F::from_raw(raw));
    raw = F::kModulus;
    raw[0] -= 1;
    out.push_back(F::from_raw(raw));
    for (unsigned bit = 0; bit < 64 * F::kLimbs - 3; bit += 21) {
      raw.fill(0);
      raw[bit / 64] = uint64_t{1} << (bit % 64);
      out.push_back(F::from_raw(raw));
    }
    auto random = testing::rng();
    for (int i = 0; i < 40; i++) out.push_back(testing::random_field<F>(random));
    return out;
  }
};
using Fields = ::testing::Types<Fr, Fp>;
TYPED_TEST_SUITE(PrimeField, Fields);

TYPED_TEST(PrimeField, ModulusIsAnOddPrimeBelowTheCarryBound) {
  mpz_class p = modulus<TypeParam>();
  EXPECT_GT(mpz_probab_prime_p(p.get_mpz_t(), 40), 0);
  EXPECT_LT(mpz_sizeinbase(p.get_mpz_t(), 2), 64 * TypeParam::kLimbs);
}

TYPED_TEST(PrimeField, ConvertsToAndFromCanonicalValues) {
  using F = TypeParam;
  const mpz_class p = modulus<F>();
  for (const F& a : this->samples()) {
    EXPECT_LT(value(a), p);
    EXPECT_EQ(*F::from_canonical(a.canonical()), a);
    EXPECT_EQ(to_mpz(a.raw()), mpz_class((value(a) << (64 * F::kLimbs)) % p));
    std::array<uint8_t, F::kBytes> le, be;
    a.to_bytes_le(le);
    a.to_bytes_be(be);
    EXPECT_TRUE(std::equal(le.begin(), le.end(), be.rbegin()));
    EXPECT_EQ(*F::from_bytes_le(le), a);
    EXPECT_EQ(*F::from_bytes_be(be), a);
    mpz_class imported;
    mpz_import(imported.get_mpz_t(), F::kBytes, 1, 1, 0, 0, be.data());
    EXPECT_EQ(imported, value(a));
  }
  typename F::Limbs limbs = F::kModulus;
  EXPECT_FALSE(F::from_canonical(limbs));
  limbs[0] -= 1;
  EXPECT_EQ(*F::from_canonical(limbs), -F::one());
  limbs.fill(~uint64_t{0});
  EXPECT_FALSE(F::from_canonical(limbs));
}

TYPED_TEST(PrimeField, ReducesWideValues) {
  using F = TypeParam;
  auto random = testing::rng(1);
  for (size_t length : {size_t{0}, size_t{1}, F::kLimbs, 2 * F::kLimbs + 1}) {
    std::vector<uint64_t> wide(length);
    for (uint64_t& limb : wide) limb = random();
    mpz_class expected;
    mpz_import(expected.get_mpz_t(), length, -1, sizeof(uint64_t), 0, 0, wide.data());
    EXPECT_EQ(value(F::from_wide(wide)), mpz_class(expected % modulus<F>()));
  }
  EXPECT_EQ(F::from_wide(F::kModulus), F::zero());
}

TYPED_TEST(PrimeField, SumsAndProductsAgreeWithGmp) {
  using F = TypeParam;
  const auto samples = this->samples();
  for (const F& a : samples) {
    EXPECT_EQ(-a, from_mpz<F>(-value(a)));
    EXPECT_EQ(a.dbl(), from_mpz<F>(2 * value(a)));
    EXPECT_EQ(a.square(), from_mpz<F>(value(a) * value(a)));
    EXPECT_EQ(a.is_zero(), value(a) == 0);
    for (const F& b : samples) {
      EXPECT_EQ(a + b, from_mpz<F>(value(a) + value(b)));
      EXPECT_EQ(a - b, from_mpz<F>(value(a) - value(b)));
      EXPECT_EQ(a * b, from_mpz<F>(value(a) * value(b)));
      EXPECT_EQ(a.less_than(b), value(a) < value(b));
      EXPECT_EQ(a == b, value(a) == value(b));
    }
  }
}

TYPED_TEST(PrimeField, InversesAgreeWithGmp) {
  using F = TypeParam;
  EXPECT_EQ(F::zero().inverse(), F::zero());
  auto samples = this->samples();
  auto random = testing::rng(2);
  for (int i = 0; i < 2000; i++) {  // short and sparse values too: they take other ways through the binary GCD
    typename F::Limbs raw;
    for (uint64_t& limb : raw) limb = random() % 4 == 0 ? 0 : random() >> random() % 64;
    raw.back() %= F::kModulus.back();
    samples.push_back(F::from_raw(raw));
  }
  for (const F& a : samples) {
    if (a.is_zero()) continue;
    mpz_class expected, p = modulus<F>();
    mpz_invert(expected.get_mpz_t(), value(a).get_mpz_t(), p.get_mpz_t());
    EXPECT_EQ(value(a.inverse()), expected);
  }
}

TYPED_TEST(PrimeField, PowersAgreeWithGmp) {
  using F = TypeParam;
  auto random = testing::rng(3);
  for (const F& a : this->samples()) {
    std::array<uint64_t, 2> exponent{random(), random()};
    mpz_class expected, p = modulus<F>();
    mpz_powm(expected.get_mpz_t(), value(a).get_mpz_t(), to_mpz(exponent).get_mpz_t(), p.get_mpz_t());
    EXPECT_EQ(value(a.pow(exponent)), expected);
    EXPECT_EQ(a.pow(0), F::one());
    EXPECT_EQ(a.pow(3), a * a * a);
  }
}

// The same text in constant evaluation, where the carry builtins are not used.
TYPED_TEST(PrimeField, ConstantEvaluationAgrees) {
  using F = TypeParam;
  constexpr F kA = F::from_u64(0xfedcba9876543210).pow(29), kB = F::from_u64(12345).pow(31);
  constexpr F kSum = kA + kB, kDifference = kA - kB, kProduct = kA * kB, kInverse = kA.inverse();
  const F a = from_mpz<F>(value(kA)), b = from_mpz<F>(value(kB));
  EXPECT_EQ(a + b, kSum);
  EXPECT_EQ(a - b, kDifference);
  EXPECT_EQ(a * b, kProduct);
  EXPECT_EQ(a.inverse(), kInverse);
}

TEST(Fr, RootsOfUnityHaveExactlyTheirOrder) {
  // filecoin-spec A.1
  EXPECT_EQ(fr_root_of_unity(32).canonical(),
            (Fr::Limbs{0x3829971f439f0d2b, 0xb63683508c2280b9, 0xd09b681922c813b4, 0x16a2a19edfe81f20}));
  EXPECT_EQ(fr_root_of_unity(0), Fr::one());
  for (unsigned log2_size = 1; log2_size <= kFrTwoAdicity; log2_size++) {
    Fr root = fr_root_of_unity(log2_size);
    EXPECT_EQ(root.pow(uint64_t{1} << (log2_size - 1)), -Fr::one());
    EXPECT_EQ(root.square(), fr_root_of_unity(log2_size - 1));
  }
}

}  // namespace
}  // namespace cuzk
