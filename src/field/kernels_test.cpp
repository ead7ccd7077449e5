// Every implementation that this processor can run, and the emulated one, against the scalar arithmetic.
#include "field/kernels.h"

#include <gtest/gtest.h>

#include <cstdlib>
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
  template <class F>
  using Point = std::array<F, 2>;  // x and y, both zero for infinity

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
        if (choice[i] != kNoPoint)
          want[i] = plus(want[i], minus ? Point<F>{points[index][0], -points[index][1]} : points[index]);
      }
      k.add_points(sums.get(), scratch.get(), blocks, points[0].data(), choice.data(), next.data());
      expect_equal(sums.get(), want, step);
      // Blocks of the others, and sums of later blocks, as they were before.
      std::vector<const void*> operands(blocks);
      const auto before = want;
      const auto block = [&](const auto& all, size_t b) {
        return static_cast<std::byte*>(all.get()) + b * k.block_bytes;
      };
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

  // Additions of second[i] to first[i].
  template <class F>
  void expect_additions(const PointSums<F>& k, const std::vector<Point<F>>& first,
                        const std::vector<Point<F>>& second) {
    const size_t lanes = first.size(), blocks = lanes / k.width;
    const auto memory = [](size_t bytes) {
      return std::unique_ptr<void, decltype(&std::free)>(std::aligned_alloc(64, (bytes + 63) / 64 * 64), &std::free);
    };
    const auto sums = memory(blocks * k.block_bytes), scratch = memory(blocks * k.scratch_bytes);
    std::vector<uint32_t> choice(lanes);
    for (size_t i = 0; i < lanes; i++) {
      choice[i] = static_cast<uint32_t>(i);
      k.set(sums.get(), i, first[i].data());
    }
    k.add_points(sums.get(), scratch.get(), blocks, second[0].data(), choice.data(), choice.data());
    for (size_t i = 0; i < lanes; i++) {
      Point<F> point;
      k.get(sums.get(), i, point.data());
      ASSERT_EQ(point, plus(first[i], second[i])) << "lane " << i;
    }
  }

  // Additions whose product of slope and x1 - x3 lies next to zero, where a carry into a negative number would show.
  template <class F>
  void expect_sums_with_small_products(const PointSums<F>& k) {
    std::vector<Point<F>> first(8 * k.width), second(first.size());
    for (size_t i = 0; i < first.size(); i++) {
      const F x1 = sample<F>(random_), y1 = sample<F>(random_);
      const Fp small = i % 2 != 0 ? Fp::from_raw({i % 3}) : -Fp::from_raw({1 + i % 3});
      F slope = sample<F>(random_), product;
      if (slope.is_zero()) slope = F::one();
      if constexpr (std::is_same_v<F, Fp2>) {
        product = {small, sample<Fp>(random_)};
      } else {
        product = small;
      }
      const F x3 = x1 - product * slope.inverse(), x2 = slope.square() - x1 - x3;
      first[i] = {x1, y1}, second[i] = {x2, y1 + slope * (x2 - x1)};
    }
    expect_additions(k, first, second);
  }

  // Additions of points whose representations lie next to 0 and next to p: the largest and least differences, and
  // products of many of these.
  template <class F>
  void expect_sums_of_extremes(const PointSums<F>& k) {
    const auto extreme = [&](unsigned high) {
      Fp::Limbs raw{};
      if (high & 1) raw = Fp::kModulus, raw[0] -= 3;
      raw[0] += random_() % 3;
      return Fp::from_raw(raw);
    };
    const auto point = [&](unsigned high) -> Point<F> {
      if constexpr (std::is_same_v<F, Fp2>) {
        return {F{extreme(high), extreme(high >> 1)}, F{extreme(high >> 2), extreme(high >> 3)}};
      } else {
        return {extreme(high), extreme(high >> 1)};
      }
    };
    for (unsigned high = 0; high < 16; high++) {
      std::vector<Point<F>> first(8 * k.width), second(first.size());
      for (size_t i = 0; i < first.size(); i++) first[i] = point(high), second[i] = point(~high);
      expect_additions(k, first, second);
    }
  }

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
TEST_P(Kernel, FrScaledDifference) {
  const Fr scale = sample<Fr>(random_);
  expect_binary<Fr>(
      [this, scale](Fr* out, const Fr* a, const Fr* b, size_t n) { k_.fr_scaled_difference(out, a, b, scale, n); },
      [scale](const Fr& a, const Fr& b) { return (a - b) * scale; });
}

// Of samples, and of the largest factors, whose sums grow most before they are reduced.
TEST_P(Kernel, FrSumsOfProducts) {
  for (const bool all_largest : {false, true}) {
    for (size_t count : {0, 1, 2, 31, 32, 33, 64, 65, 100, 500}) {
      auto x = samples<Fr>(8 * count, random_), y = samples<Fr>(8 * count, random_);
      if (all_largest) std::fill(x.begin(), x.end(), largest()), std::fill(y.begin(), y.end(), largest());
      std::vector<const Fr*> a, b;
      std::array<Fr, 8> expected{}, out;
      for (size_t i = 0; i < 8 * count; i++) {
        a.push_back(&x[random_() % x.size()]), b.push_back(&y[random_() % y.size()]);
        expected[i % 8] += *a[i] * *b[i];
      }
      k_.fr_sums_of_products(out.data(), a.data(), b.data(), count);
      ASSERT_EQ(out, expected) << count;
    }
  }
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
  Words factors(unsigned log2_rows, bool evaluate) const {
    Words out = words(FrTile::factors_of(log2_rows) * k_.fr_factor_words);
    k_.fr_factors(out.get(), log2_rows, fr_root_of_unity(log2_rows), evaluate);
    return out;
  }
  // sum over i of row(i) w^(i r), for each r asked for.
  static Fr value_at(const std::vector<Fr>& coefficients, const Fr& x) {
    Fr out;
    for (size_t i = coefficients.size(); i-- > 0;) out = out * x + coefficients[i];
    return out;
  }

  void expect_transform(unsigned log2_rows, size_t columns, bool by_blocks, bool with_powers, bool evaluate) {
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
    const FrTile tile{.origin = data.data(),
                      .row_stride = row_stride,
                      .column_stride = column_stride,
                      .columns = columns,
                      .log2_rows = log2_rows,
                      .factors = made.get(),
                      .powers = with_powers ? powers.get() : nullptr,
                      .scratch = scratch.get(),
                      .next = data.data()};
    (evaluate ? k_.fr_evaluate : k_.fr_interpolate)(tile);
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
      for (unsigned choice = 0; choice < 8; choice++) {
        expect_transform(log2_rows, columns, choice & 1, choice & 2, choice & 4);
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
  for (int i = 0; i < 20; i++) {
    expect_sums_with_small_products(k_.fp_sums);
    expect_sums_with_small_products(k_.fp2_sums);
  }
  expect_sums_of_extremes(k_.fp_sums);
  expect_sums_of_extremes(k_.fp2_sums);
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
