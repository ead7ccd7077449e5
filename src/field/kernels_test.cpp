// Every implementation that this processor can run, and the emulated one, against the scalar arithmetic.
#include "field/kernels.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

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
  // Sums of `width` times a few blocks, against additions of single points. The points are multiples of a few, so that
  // equal and opposite ones and infinity meet, in every lane.
  template <class F>
  void expect_sums(const PointSums<F>& k, size_t blocks) {
    const size_t lanes = blocks * k.width, count = 40;
    const auto memory = [](size_t bytes) {
      return std::unique_ptr<void, decltype(&std::free)>(std::aligned_alloc(64, (bytes + 63) / 64 * 64), &std::free);
    };
    const auto sums = memory(blocks * k.block_bytes), others = memory(blocks * k.block_bytes),
               scratch = memory(blocks * k.scratch_bytes);
    const auto points = multiples<F>(count);
    std::vector<Point<F>> want(lanes), want_others(lanes);
    std::vector<uint32_t> choice(lanes), next(lanes, kNoPoint);
    for (size_t i = 0; i < lanes; i++) {
      want[i] = points[random_() % count], want_others[i] = points[random_() % count];
      k.set(sums.get(), i, want[i].data());
      k.set(others.get(), i, want_others[i].data());
    }
    const auto expect_equal = [&](const void* got, const std::vector<Point<F>>& expected, size_t step) {
      for (size_t i = 0; i < lanes; i++) {
        Point<F> point;
        k.get(got, i, point.data());
        ASSERT_EQ(point, expected[i]) << "step " << step << ", lane " << i << " of " << lanes;
      }
    };
    expect_equal(sums.get(), want, 0);
    for (size_t step = 1; step < 40; step++) {
      for (size_t i = 0; i < lanes; i++) {
        const size_t index = random_() % count;
        const bool minus = random_() % 2 != 0;
        choice[i] = random_() % 16 == 0 ? kNoPoint : static_cast<uint32_t>(index | size_t{minus} << 31);
        if (choice[i] != kNoPoint) want[i] = plus(want[i], minus ? Point<F>{points[index][0], -points[index][1]} : points[index]);
      }
      k.add_points(sums.get(), scratch.get(), blocks, points[0].data(), choice.data(), next.data());
      expect_equal(sums.get(), want, step);
      // Blocks of the others, and sums of later blocks, as they were before.
      std::vector<const void*> operands(blocks);
      const auto before = want;
      const auto block = [&](const auto& all, size_t b) { return static_cast<std::byte*>(all.get()) + b * k.block_bytes; };
      for (size_t b = 0; b < blocks; b++) {
        const bool later = b + 1 < blocks && step % 3 == 0;
        operands[b] = later ? block(sums, b + 1) : block(others, b);
        for (size_t i = b * k.width; i < (b + 1) * k.width; i++) {
          want[i] = plus(want[i], later ? before[i + k.width] : want_others[i]);
        }
      }
      k.add_sums(sums.get(), scratch.get(), blocks, operands.data());
      expect_equal(sums.get(), want, step);
      const size_t from = random_() % lanes, to = random_() % lanes;
      k.copy(others.get(), to, sums.get(), from);
      want_others[to] = want[from];
      expect_equal(others.get(), want_others, step);
    }
    k.add_points(sums.get(), scratch.get(), 0, nullptr, nullptr, nullptr);
    k.add_sums(sums.get(), scratch.get(), 0, nullptr);
  }

  template <class F>
  using Point = std::array<F, 2>;  // x and y, both zero for infinity
  template <class F>
  static Point<F> plus(const Point<F>& a, const Point<F>& b) {
    if (b == Point<F>{}) return a;
    if (a == Point<F>{}) return b;
    const auto& [x1, y1] = a;
    const auto& [x2, y2] = b;
    F slope;
    if (x1 != x2) {
      slope = (y2 - y1) * (x2 - x1).inverse();
    } else if (y1 == y2 && !y1.is_zero()) {
      slope = (x1.square().dbl() + x1.square()) * y1.dbl().inverse();
    } else {
      return {};
    }
    const F x3 = slope.square() - x1 - x2;
    return {x3, slope * (x1 - x3) - y1};
  }
  // Small multiples of a point of whatever curve it is on, some negative, and infinity; one has x = 0, one y = 0.
  template <class F>
  std::vector<Point<F>> multiples(size_t count) {
    std::vector<Point<F>> out(count);
    const Point<F> unit{sample<F>(random_), sample<F>(random_)};
    for (size_t i = 1; i < count; i++) {
      out[i] = plus(out[i - 1], unit);
      if (i % 4 == 3) out[i - 1][1] = -out[i - 1][1];
    }
    out[5] = {F::zero(), F::one()};
    out[6] = {F::one(), F::zero()};
    return out;
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
}
TEST_P(Kernel, Fp2) {
  expect_binary<Fp2>(k_.fp2_mul, kMul);
  expect_binary<Fp2>(k_.fp2_add, kAdd);
  expect_binary<Fp2>(k_.fp2_sub, kSub);
  expect_square<Fp2>(k_.fp2_sqr);
}

TEST_P(Kernel, Sums) {
  for (size_t blocks : {1, 2, 3, 5}) {
    expect_sums(k_.fp_sums, blocks);
    expect_sums(k_.fp2_sums, blocks);
  }
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
