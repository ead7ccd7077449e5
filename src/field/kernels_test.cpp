// Every implementation that this processor can run, and the emulated one, against the scalar arithmetic.
#include "field/kernels.h"

#include <gtest/gtest.h>

#include "base/testing.h"
#include "field/kernels/implementations.h"

namespace cuzk {
namespace {

// 0, 1, the widths that vector code likes and their neighbours, 2^n and 2^n +- 1.
constexpr size_t kSizes[] = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025};

template <class F>
F sample(std::mt19937_64& random) {
  if constexpr (std::is_same_v<F, Fp2>) {
    return {sample<Fp>(random), sample<Fp>(random)};
  } else {
    switch (random() % 8) {  // the borders often, so that they meet each other in every lane
      case 0: return F::zero();
      case 1: return F::one();
      case 2: return -F::one();
      case 3: {
        typename F::Limbs raw = F::kModulus;
        raw[0] -= 1;
        return F::from_raw(raw);
      }
      case 4: return F::from_raw({1});
      default: return testing::random_field<F>(random);
    }
  }
}
template <class F>
std::vector<F> samples(size_t count, std::mt19937_64& random) {
  std::vector<F> out(count);
  for (F& value : out) value = sample<F>(random);
  return out;
}

class Kernel : public ::testing::TestWithParam<const Kernels*> {
 protected:
  template <class F, class Operation>
  void expect_binary(Kernels::Binary<F> kernel, Operation operation) {
    for (size_t n : kSizes) {
      const auto a = samples<F>(n, random_), b = samples<F>(n, random_);
      std::vector<F> expected(n), same(n), out(n), over_a = a, over_b = b, over_both = a;
      for (size_t i = 0; i < n; i++) expected[i] = operation(a[i], b[i]), same[i] = operation(a[i], a[i]);
      kernel(out.data(), a.data(), b.data(), n);
      kernel(over_a.data(), over_a.data(), b.data(), n);
      kernel(over_b.data(), a.data(), over_b.data(), n);
      kernel(over_both.data(), over_both.data(), over_both.data(), n);
      ASSERT_EQ(out, expected) << n;
      ASSERT_EQ(over_a, expected) << n;
      ASSERT_EQ(over_b, expected) << n;
      ASSERT_EQ(over_both, same) << n;
    }
  }
  template <class F>
  void expect_square(Kernels::Unary<F> kernel) {
    for (size_t n : kSizes) {
      const auto a = samples<F>(n, random_);
      std::vector<F> expected(n), out(n), over = a;
      for (size_t i = 0; i < n; i++) expected[i] = a[i] * a[i];
      kernel(out.data(), a.data(), n);
      kernel(over.data(), over.data(), n);
      ASSERT_EQ(out, expected) << n;
      ASSERT_EQ(over, expected) << n;
    }
  }
  template <class Operation>
  void expect_butterfly(Kernels::Butterfly kernel, Operation operation) {
    for (size_t n : kSizes) {
      auto lo = samples<Fr>(n, random_), hi = samples<Fr>(n, random_);
      const auto w = samples<Fr>(n, random_);
      auto expected_lo = lo, expected_hi = hi;
      for (size_t i = 0; i < n; i++) operation(expected_lo[i], expected_hi[i], w[i]);
      kernel(lo.data(), hi.data(), w.data(), n);
      ASSERT_EQ(lo, expected_lo) << n;
      ASSERT_EQ(hi, expected_hi) << n;
    }
  }
  template <class F>
  void expect_finish(Kernels::FinishAdditions<F> kernel) {
    for (size_t n : kSizes) {
      const auto x1 = samples<F>(n, random_), y1 = samples<F>(n, random_), x2 = samples<F>(n, random_),
                 numerator = samples<F>(n, random_), inverse = samples<F>(n, random_);
      std::vector<F> x3(n), y3(n), x = x1, y = y1;
      for (size_t i = 0; i < n; i++) {
        const F slope = numerator[i] * inverse[i];
        x3[i] = slope * slope - x1[i] - x2[i];
        y3[i] = slope * (x1[i] - x3[i]) - y1[i];
      }
      kernel(x.data(), y.data(), x2.data(), numerator.data(), inverse.data(), n);
      ASSERT_EQ(x, x3) << n;
      ASSERT_EQ(y, y3) << n;
    }
  }

  const Kernels& k_ = *GetParam();
  std::mt19937_64 random_ = testing::rng();
};

constexpr auto kMul = [](const auto& a, const auto& b) { return a * b; };
constexpr auto kAdd = [](const auto& a, const auto& b) { return a + b; };
constexpr auto kSub = [](const auto& a, const auto& b) { return a - b; };

TEST_P(Kernel, Fr) {
  expect_binary<Fr>(k_.fr_mul, kMul);
  expect_binary<Fr>(k_.fr_add, kAdd);
  expect_binary<Fr>(k_.fr_sub, kSub);
}
TEST_P(Kernel, Butterflies) {
  expect_butterfly(k_.fr_butterfly_dit, [](Fr& lo, Fr& hi, const Fr& w) {
    Fr product = w * hi;
    hi = lo - product;
    lo = lo + product;
  });
  expect_butterfly(k_.fr_butterfly_dif, [](Fr& lo, Fr& hi, const Fr& w) {
    Fr difference = lo - hi;
    lo = lo + hi;
    hi = difference * w;
  });
}
TEST_P(Kernel, Fp) {
  expect_binary<Fp>(k_.fp_mul, kMul);
  expect_binary<Fp>(k_.fp_add, kAdd);
  expect_binary<Fp>(k_.fp_sub, kSub);
  expect_square<Fp>(k_.fp_sqr);
  expect_finish<Fp>(k_.fp_finish_additions);
}
TEST_P(Kernel, Fp2) {
  expect_binary<Fp2>(k_.fp2_mul, kMul);
  expect_binary<Fp2>(k_.fp2_add, kAdd);
  expect_binary<Fp2>(k_.fp2_sub, kSub);
  expect_square<Fp2>(k_.fp2_sqr);
  expect_finish<Fp2>(k_.fp2_finish_additions);
}

std::vector<const Kernels*> with_the_emulated_one() {
  std::vector<const Kernels*> out(kernels_available().begin(), kernels_available().end());
  out.push_back(&kEmulatedIfmaKernels);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, Kernel, ::testing::ValuesIn(with_the_emulated_one()), [](const auto& one) {
  std::string name(one.param->name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(KernelChoice, ForcedImplementationIsActive) {
  const char* forced = std::getenv(kKernelsVariable);
  if (!forced) GTEST_SKIP() << "nothing is forced: ctest runs this once for each implementation";
  auto chosen = select_kernels(forced);
  if (!chosen) GTEST_SKIP() << chosen.error().message;
  EXPECT_EQ(kernels().name, forced);
}

TEST(KernelChoice, BestIsFirstAndPortableLast) {
  ASSERT_FALSE(kernels_available().empty());
  EXPECT_EQ(*select_kernels(""), kernels_available().front());
  EXPECT_EQ(kernels_available().back()->name, "portable");
  for (const Kernels* one : kernels_available()) EXPECT_EQ(*select_kernels(one->name), one);
}

TEST(KernelChoice, TheEmulatedOneIsForTestsOnly) {
  EXPECT_EQ(*select_kernels("ifma-emulated"), &kEmulatedIfmaKernels);
  for (const Kernels* one : kernels_available()) EXPECT_NE(one, &kEmulatedIfmaKernels);
}

TEST(KernelChoice, UnknownNameIsAUsageErrorThatNamesTheChoices) {
  auto chosen = select_kernels("abacus");
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().code, Code::kUsage);
  EXPECT_NE(chosen.error().message.find("abacus"), std::string::npos);
  for (const Kernels* one : kernels_available()) {
    EXPECT_NE(chosen.error().message.find(one->name), std::string::npos) << chosen.error().message;
  }
}

}  // namespace
}  // namespace cuzk
