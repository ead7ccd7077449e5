// Every implementation that this processor can run, and the emulated one, against the scalar arithmetic.
#include "field/kernels.h"

#include <gtest/gtest.h>

#include <functional>
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
// The element whose representation is p - 1.
Fr largest() {
  Fr::Limbs raw = Fr::kModulus;
  raw[0] -= 1;
  return Fr::from_raw(raw);
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
  void expect_binary(std::function<std::remove_pointer_t<Kernels::Binary<F>>> kernel, Operation operation) {
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
TEST_P(Kernel, FrScaledDifference) {
  const Fr scale = sample<Fr>(random_);
  expect_binary<Fr>(
      [this, scale](Fr* out, const Fr* a, const Fr* b, size_t n) { k_.fr_scaled_difference(out, a, b, scale, n); },
      [scale](const Fr& a, const Fr& b) { return (a - b) * scale; });
}

// Tiles against the sums that define their transforms.
class Tile : public Kernel {
 protected:
  using Words = std::unique_ptr<uint64_t[], void (*)(void*)>;
  static Words words(size_t count) {
    return {static_cast<uint64_t*>(std::aligned_alloc(64, (count * sizeof(uint64_t) + 63) & ~size_t{63})), std::free};
  }
  static size_t reversed(size_t r, unsigned bits) {
    size_t out = 0;
    for (unsigned i = 0; i < bits; i++) out = out << 1 | (r >> i & 1);
    return out;
  }
  // Values of order 2^log2_rows in the order that the transform asks for.
  Words factors(unsigned log2_rows, bool evaluate) const {
    const Fr w = fr_root_of_unity(log2_rows);
    const size_t rows = size_t{1} << log2_rows;
    std::vector<Fr> roots;
    for (size_t h = 1; evaluate && h < rows; h *= 2) {
      for (size_t i = 0; i < h; i++) roots.push_back(w.pow(i * rows / (2 * h)));
    }
    for (size_t i = 0; !evaluate && i < rows / 2; i++) roots.push_back(w.pow(reversed(2 * i, log2_rows)));
    Words out = words(roots.size() * k_.fr_factor_words);
    k_.fr_factors(out.get(), roots.data(), roots.size());
    return out;
  }
  // sum over i of row(i) w^(i r), for each r asked for.
  static Fr value_at(const std::vector<Fr>& coefficients, const Fr& x) {
    Fr out;
    for (size_t i = coefficients.size(); i-- > 0;) out = out * x + coefficients[i];
    return out;
  }

  void expect_transform(unsigned log2_rows, size_t columns, bool by_blocks, bool with_powers, bool evaluate,
                        bool is_ahead) {
    const size_t rows = size_t{1} << log2_rows;
    const size_t row_stride = by_blocks ? 1 : columns + 3, column_stride = by_blocks ? rows + 5 : 1;
    auto data = samples<Fr>((rows - 1) * row_stride + (columns - 1) * column_stride + 1, random_);
    const auto before = data;
    const auto at = [&](const std::vector<Fr>& from, size_t r, size_t c) {
      return from[r * row_stride + c * column_stride];
    };
    const auto bases = samples<Fr>(FrTile::kColumns, random_);
    const Fr scale = sample<Fr>(random_), w = fr_root_of_unity(log2_rows);
    const Words made = factors(log2_rows, evaluate), powers = words(k_.fr_row_words << log2_rows),
                scratch = words(FrTile::kMaxScratchWords);
    k_.fr_powers(powers.get(), log2_rows, bases.data(), scale);
    std::vector<Fr> ahead(FrTile::kColumns << log2_rows), other = before;
    FrTile tile{.origin = data.data(),
                .row_stride = row_stride,
                .column_stride = column_stride,
                .columns = columns,
                .log2_rows = log2_rows,
                .factors = made.get(),
                .powers = with_powers ? powers.get() : nullptr,
                .scratch = scratch.get()};
    const auto transform = evaluate ? k_.fr_evaluate : k_.fr_interpolate;
    if (is_ahead) {  // read while another tile is transformed, and gone from its place afterwards
      FrTile earlier = tile;
      earlier.origin = other.data(), earlier.next = data.data(), earlier.ahead = ahead.data();
      transform(earlier);
      for (size_t c = 0; c < columns; c++) {
        for (size_t r = 0; r < rows; r++) data[r * row_stride + c * column_stride] = Fr::zero();
      }
      tile.ahead = ahead.data(), tile.is_ahead = true;
    }
    transform(tile);
    auto expected = before;
    for (size_t c = 0; c < columns; c++) {
      const auto power = [&](size_t q) { return with_powers ? scale * bases[c].pow(q) : Fr::one(); };
      std::vector<Fr> in(rows);
      for (size_t q = 0; q < rows; q++) {
        in[q] = evaluate ? at(before, reversed(q, log2_rows), c) * power(q) : at(before, q, c);
      }
      for (size_t check = 0; check < std::min<size_t>(rows, 40); check++) {
        const size_t q = rows <= 40 ? check : random_() % rows, r = evaluate ? q : reversed(q, log2_rows);
        Fr want = value_at(in, w.pow(q));
        if (!evaluate) want *= power(q);
        ASSERT_EQ(at(data, r, c), want) << log2_rows << " row " << r << " column " << c;
      }
      for (size_t r = 0; r < rows; r++) expected[r * row_stride + c * column_stride] = at(data, r, c);
    }
    EXPECT_EQ(data, expected) << "something outside the tile changed";
  }
};

TEST_P(Tile, Transforms) {
  for (unsigned log2_rows = 0; log2_rows <= FrTile::kMaxLog2Rows; log2_rows++) {
    for (size_t columns : {1, 3, 8}) {
      if (log2_rows > 6 && columns != 8) continue;
      for (unsigned choice = 0; choice < 16; choice++) {
        expect_transform(log2_rows, columns, choice & 1, choice & 2, choice & 4, choice & 8);
        if (HasFatalFailure()) return;
      }
    }
  }
}
// The inputs that make values grow most before they are reduced.
TEST_P(Tile, TransformsOfTheLargestValues) {
  for (unsigned log2_rows = 1; log2_rows <= FrTile::kMaxLog2Rows; log2_rows++) {
    const size_t rows = size_t{1} << log2_rows;
    for (const bool evaluate : {false, true}) {
      std::vector<Fr> data(rows * FrTile::kColumns, largest());
      const std::vector<Fr> ones(FrTile::kColumns, Fr::one());
      const Words made = factors(log2_rows, evaluate), scratch = words(FrTile::kMaxScratchWords),
                  powers = words(k_.fr_row_words << log2_rows);
      k_.fr_powers(powers.get(), log2_rows, ones.data(), Fr::one());
      (evaluate ? k_.fr_evaluate : k_.fr_interpolate)({.origin = data.data(),
                                                       .row_stride = FrTile::kColumns,
                                                       .column_stride = 1,
                                                       .columns = FrTile::kColumns,
                                                       .log2_rows = log2_rows,
                                                       .factors = made.get(),
                                                       .powers = powers.get(),
                                                       .scratch = scratch.get()});
      std::vector<Fr> expected(data.size());
      std::fill_n(expected.begin(), FrTile::kColumns, largest() * Fr::from_u64(rows));
      ASSERT_EQ(data, expected) << log2_rows;
    }
  }
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
std::string test_name(const ::testing::TestParamInfo<const Kernels*>& one) {
  std::string name(one.param->name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, Kernel, ::testing::ValuesIn(with_the_emulated_one()), test_name);
INSTANTIATE_TEST_SUITE_P(All, Tile, ::testing::ValuesIn(with_the_emulated_one()), test_name);

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
