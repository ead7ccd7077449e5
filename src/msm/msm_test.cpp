#include "msm/msm.h"

#include <gtest/gtest.h>

#include "base/testing.h"
#include "msm/digits.h"
#include "msm/fixed_base.h"

namespace cuzk::msm {
namespace {

template <class F>
Affine<F> generator() {
  if constexpr (std::is_same_v<F, Fp>) {
    return g1_generator();
  } else {
    return g2_generator();
  }
}

template <class F>
Xyzz<F> times(const Affine<F>& point, const Fr& scalar) {
  const auto limbs = scalar.canonical();
  return scalar_mul(Xyzz<F>::from_affine(point), limbs);
}

std::vector<Fr> random_scalars(size_t count, uint64_t stream) {
  auto random = testing::rng(stream);
  std::vector<Fr> out(count);
  for (Fr& value : out) value = testing::random_field<Fr>(random);
  return out;
}

// Points whose logarithms to the generator are known: an arithmetic progression.
template <class F>
struct Progression {
  std::vector<Fr> logarithms;
  std::vector<Affine<F>> points;

  Progression(size_t count, uint64_t stream) {
    auto random = testing::rng(stream);
    Fr logarithm = testing::random_field<Fr>(random);
    const Fr step = testing::random_field<Fr>(random);
    const Affine<F> difference = times(generator<F>(), step).to_affine();
    Xyzz<F> point = times(generator<F>(), logarithm);
    for (size_t i = 0; i < count; i++) {
      logarithms.push_back(logarithm);
      points.push_back(point.to_affine());
      logarithm += step;
      point += difference;
    }
  }
};

TEST(Digits, MakeUpTheScalar) {
  const Fr half = Fr::from_u64(2).inverse();  // (r + 1) / 2
  auto scalars = random_scalars(50, 1);
  for (const Fr& edge : {Fr::zero(), Fr::one(), -Fr::one(), half, half - Fr::one(), half + Fr::one(),
                         Fr::from_u64(2).pow(254), -Fr::from_u64(2).pow(254), Fr::from_u64(~uint64_t{0})}) {
    scalars.push_back(edge);
  }
  for (unsigned bits = 1; bits <= Digits::kMaxWindowBits; bits++) {
    const Digits digits(bits);
    for (const Fr& scalar : scalars) {
      Fr sum;
      const auto prepared = digits.prepare(scalar);
      for (unsigned w = digits.windows(); w-- > 0;) {
        const int64_t digit = digits.digit(prepared, w);
        const auto magnitude = static_cast<uint64_t>(digit < 0 ? -digit : digit);
        ASSERT_LE(magnitude, digits.buckets()) << bits << " bits, window " << w;
        const Fr value = Fr::from_u64(magnitude);
        sum = sum * Fr::from_u64(uint64_t{1} << bits) + (digit < 0 ? -value : value);
      }
      ASSERT_EQ(sum, scalar) << bits << " bits";
    }
  }
}

template <class F>
class Msm : public ::testing::Test {
 protected:
  using Point = Affine<F>;
  static constexpr bool kG2 = std::is_same_v<F, Fp2>;

  static void expect(const Plan& plan, std::span<const Point> bases, std::span<const Fr> scalars, const Xyzz<F>& want) {
    exec::Pool pool(plan.threads);
    std::vector<std::byte> workspace(workspace_bytes(plan) + 1);
    const std::vector<Fr> before(scalars.begin(), scalars.end());
    auto got = run<F>(plan, bases, scalars, std::span(workspace).subspan(1), pool);  // any alignment will do
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(*got, want) << bases.size() << " points, " << plan.threads << " threads, " << plan.window_bits
                          << " bits, " << plan.windows_at_once << " windows at once, " << plan.tasks << " tasks of "
                          << plan.lanes << " lanes, " << plan.chains << " chains";
    EXPECT_TRUE(std::equal(before.begin(), before.end(), scalars.begin()));
  }
  static void expect_double_and_add(const std::vector<Point>& bases, const std::vector<Fr>& scalars) {
    Xyzz<F> want;
    for (size_t i = 0; i < bases.size(); i++) want += times(bases[i], scalars[i]);
    for (size_t threads : {1, 2}) expect(plan({bases.size(), kG2}, threads), bases, scalars, want);
  }
  static void expect_known(const Plan& plan, const Progression<F>& bases, std::span<const Fr> scalars) {
    Fr want;
    for (size_t i = 0; i < scalars.size(); i++) want += bases.logarithms[i] * scalars[i];
    expect(plan, std::span(bases.points).first(scalars.size()), scalars, times(generator<F>(), want));
  }
};
using Fields = ::testing::Types<Fp, Fp2>;
TYPED_TEST_SUITE(Msm, Fields);

TYPED_TEST(Msm, SmallSizes) {
  const Progression<TypeParam> bases(300, 1);
  for (size_t size : {0, 1, 2, 3, 7, 8, 9, 31, 33, 127, 256, 300}) {
    for (size_t threads : {1, 2}) {
      this->expect_known(plan({size, this->kG2}, threads), bases, random_scalars(size, size));
    }
  }
}

TYPED_TEST(Msm, EdgeScalars) {
  const Progression<TypeParam> bases(9, 2);
  const Fr one = Fr::one(), half = Fr::from_u64(2).inverse();
  this->expect_double_and_add(bases.points, {Fr::zero(), one, -one, half, half - one, half + one, -one - one,
                                             Fr::from_u64(1u << 31), Fr::from_u64(~uint64_t{0})});
  this->expect_double_and_add(bases.points, std::vector<Fr>(9));
  this->expect_double_and_add(bases.points, std::vector<Fr>(9, one));
  this->expect_double_and_add(bases.points, std::vector<Fr>(9, -one));
}

TYPED_TEST(Msm, EdgePoints) {
  auto bases = Progression<TypeParam>(8, 3).points;
  bases.push_back(Affine<TypeParam>::infinity());
  bases.push_back(bases[0]);
  bases.push_back(-bases[0]);
  bases.push_back(-bases[3]);
  auto scalars = random_scalars(bases.size(), 3);
  this->expect_double_and_add(bases, scalars);
  std::fill(scalars.begin(), scalars.end(), scalars[0]);  // equal and opposite points meet in one bucket
  this->expect_double_and_add(bases, scalars);
  this->expect_double_and_add(std::vector<Affine<TypeParam>>(20), random_scalars(20, 4));
  this->expect_double_and_add(std::vector<Affine<TypeParam>>(20, bases[0]), random_scalars(20, 4));
}

// A point of order three, (0, 2), has the x of infinity; it is on G1's curve but outside the subgroup.
TEST(MsmG1, PointWithZeroX) {
  const G1Affine point{Fp::zero(), Fp::from_u64(2)};
  const std::vector<G1Affine> bases{point, point, -point, point, g1_generator()};
  const std::vector<Fr> scalars(bases.size(), Fr::one());
  const Plan chosen = plan({bases.size(), false}, 1);
  exec::Pool pool(1);
  std::vector<std::byte> workspace(chosen.workspace_bytes);
  auto got = run<Fp>(chosen, bases, scalars, workspace, pool);
  ASSERT_TRUE(got);
  EXPECT_EQ(*got, G1::from_affine(point) + point + g1_generator());
}

TYPED_TEST(Msm, EveryWindowWidth) {
  const Progression<TypeParam> bases(50, 5);
  const auto scalars = random_scalars(50, 5);
  for (unsigned bits : {5, 6, 7, 12}) {
    for (size_t chains = 16; chains <= size_t{1} << (bits - 1); chains *= 4) {
      Plan chosen = plan({50, this->kG2}, 2);
      chosen.window_bits = bits;
      chosen.windows = Digits(bits).windows();
      chosen.windows_at_once = bits == 6 ? 4 : 1;
      chosen.chains = chains;
      this->expect_known(chosen, bases, scalars);
    }
  }
}

// Short slices, so that buckets span many of them and their partial sums take several rounds.
TYPED_TEST(Msm, EveryCut) {
  const Progression<TypeParam> bases(200, 6);
  const auto scalars = random_scalars(200, 6);
  for (size_t lanes : {32, 48}) {
    for (size_t tasks : {1, 2, 5}) {
      for (unsigned windows_at_once : {1, 3}) {
        Plan chosen = plan({200, this->kG2}, 2);
        chosen.lanes = lanes;
        chosen.tasks = tasks;
        chosen.windows_at_once = windows_at_once;
        this->expect_known(chosen, bases, scalars);
        this->expect_known(chosen, bases, std::vector<Fr>(200, scalars[0]));  // one bucket a window
        auto two = scalars;
        for (size_t i = 0; i < two.size(); i++) two[i] = Fr::from_u64(1 + i % 2);
        this->expect_known(chosen, bases, two);
      }
    }
  }
}

// Large enough for windows of their own; uniform, mostly bits, and one bucket for all.
TYPED_TEST(Msm, Large) {
  const size_t size = this->kG2 ? 8193 : 20001;
  const Progression<TypeParam> bases(size, 7);
  auto scalars = random_scalars(size, 7);
  for (size_t threads : {1, 2}) this->expect_known(plan({size, this->kG2}, threads), bases, scalars);
  for (size_t i = 0; i < size; i++) {
    if (i % 100 != 0) scalars[i] = Fr::from_u64(i & 1);
  }
  this->expect_known(plan({size, this->kG2}, 2), bases, scalars);
  std::fill(scalars.begin(), scalars.end(), -Fr::from_u64(3));
  this->expect_known(plan({size, this->kG2}, 2), bases, scalars);
}

TYPED_TEST(Msm, RefusesWhatDoesNotFit) {
  const Progression<TypeParam> bases(10, 8);
  const auto scalars = random_scalars(10, 8);
  const Plan chosen = plan({10, this->kG2}, 2);
  exec::Pool pool(2);
  std::vector<std::byte> workspace(chosen.workspace_bytes);
  auto code = [&](const Plan& p, std::span<const Affine<TypeParam>> points, std::span<const Fr> factors, size_t bytes) {
    auto got = run<TypeParam>(p, points, factors, std::span(workspace).first(bytes), pool);
    return got ? std::nullopt : std::optional(got.error().code);
  };
  EXPECT_EQ(code(chosen, bases.points, scalars, workspace.size()), std::nullopt);
  EXPECT_EQ(code(chosen, bases.points, scalars, workspace.size() - 1), Code::kResourceExhausted);
  EXPECT_EQ(code(chosen, bases.points, std::span(scalars).first(9), workspace.size()), Code::kInvalidInput);
  EXPECT_EQ(code(chosen, std::span(bases.points).first(9), scalars, workspace.size()), Code::kInvalidInput);
  EXPECT_EQ(code(plan({10, !this->kG2}, 1), bases.points, scalars, workspace.size()), Code::kInvalidInput);
}

TEST(Plan, WidensWithSize) {
  unsigned bits = 0;
  for (unsigned log2_size = 0; log2_size <= 27; log2_size++) {
    for (bool g2 : {false, true}) {
      const Plan one = plan({size_t{1} << log2_size, g2}, 1);
      EXPECT_EQ(one.windows, (255 + one.window_bits - 1) / one.window_bits);
      if (!g2) {
        EXPECT_GE(one.window_bits, bits);
        bits = one.window_bits;
      }
      EXPECT_LE(one.workspace_bytes, (size_t{64} << log2_size) + (16 << 20)) << "2^" << log2_size;
      EXPECT_EQ(workspace_bytes(one), one.workspace_bytes);
    }
  }
}

template <class F>
class SumSelected : public ::testing::Test {
 protected:
  static Result<Xyzz<F>> sum(std::span<const Affine<F>> bases, std::span<const uint64_t> bitmap, size_t threads) {
    exec::Pool pool(threads);
    std::vector<std::byte> workspace(sum_workspace_bytes<F>(threads));
    return sum_selected<F>(bases, bitmap, workspace, pool);
  }
  static void expect_sum(std::span<const Affine<F>> bases, std::span<const uint64_t> bitmap) {
    Xyzz<F> want;
    for (size_t i = 0; i < bases.size(); i++) {
      if (bitmap[i / 64] >> (i % 64) & 1) want += bases[i];
    }
    for (size_t threads : {1, 2}) {
      auto got = sum(bases, bitmap, threads);
      ASSERT_TRUE(got) << got.error().message;
      EXPECT_EQ(*got, want) << bases.size() << " points, " << threads << " threads";
    }
  }
  static std::vector<uint64_t> ones(size_t count) {
    std::vector<uint64_t> bitmap((count + 63) / 64, ~uint64_t{0});
    if (count % 64 != 0) bitmap.back() >>= 64 - count % 64;
    return bitmap;
  }
};
TYPED_TEST_SUITE(SumSelected, Fields);

TYPED_TEST(SumSelected, AgreesWithPlainAddition) {
  const Progression<TypeParam> all(5000, 10);
  auto random = testing::rng(10);
  for (size_t size : {0, 1, 2, 63, 64, 65, 1023, 1024, 1025, 2049, 5000}) {
    const auto bases = std::span(all.points).first(size);
    auto bitmap = this->ones(size);
    this->expect_sum(bases, bitmap);
    for (uint64_t& word : bitmap) word &= random();
    this->expect_sum(bases, bitmap);
    std::fill(bitmap.begin(), bitmap.end(), 0);
    this->expect_sum(bases, bitmap);
  }
}

// More words than a task has, so that two threads share them; every kind of pair meets at the columns' distance.
TYPED_TEST(SumSelected, EqualOppositeAndInfinitePoints) {
  const auto few = Progression<TypeParam>(7, 11).points;
  std::vector<Affine<TypeParam>> bases(70000);
  for (size_t i = 0; i < bases.size(); i++) {
    const auto& point = few[i / 1024 % few.size()];
    bases[i] = i % 5 == 0 ? Affine<TypeParam>::infinity() : i % 3 == 0 && i / 1024 % 2 == 0 ? -point : point;
  }
  this->expect_sum(bases, this->ones(bases.size()));
  std::fill(bases.begin(), bases.end(), few[0]);
  this->expect_sum(bases, this->ones(bases.size()));
  for (size_t i = 1; i < bases.size(); i += 2) bases[i] = -few[0];
  this->expect_sum(bases, this->ones(bases.size()));
}

TYPED_TEST(SumSelected, RefusesWhatDoesNotFit) {
  const auto bases = Progression<TypeParam>(70, 12).points;
  const auto bitmap = this->ones(70);
  EXPECT_EQ(this->sum(bases, std::span(bitmap).first(1), 1).error().code, Code::kInvalidInput);
  const std::vector<uint64_t> past{0, uint64_t{1} << 6};
  EXPECT_EQ(this->sum(bases, past, 1).error().code, Code::kInvalidInput);
  exec::Pool pool(1);
  std::vector<std::byte> workspace(sum_workspace_bytes<TypeParam>(1) - 1);
  EXPECT_EQ(sum_selected<TypeParam>(bases, bitmap, workspace, pool).error().code, Code::kResourceExhausted);
}

template <class F>
class FixedBaseTest : public ::testing::Test {};
TYPED_TEST_SUITE(FixedBaseTest, Fields);

TYPED_TEST(FixedBaseTest, AgreesWithDoubleAndAdd) {
  using Point = Affine<TypeParam>;
  const Fr half = Fr::from_u64(2).inverse();
  auto scalars = random_scalars(40, 20);
  for (const Fr& edge : {Fr::zero(), Fr::one(), -Fr::one(), half, half - Fr::one(), Fr::zero()})
    scalars.push_back(edge);
  const Point base = times(generator<TypeParam>(), scalars[0]).to_affine();
  for (size_t threads : {1, 2}) {
    exec::Pool pool(threads);
    for (unsigned bits : {1, 2, 5, 12}) {
      const FixedBase<TypeParam> table(Xyzz<TypeParam>::from_affine(base), bits, pool);
      std::vector<Point> out(scalars.size());
      table.mul(scalars, out, pool);
      for (size_t i = 0; i < scalars.size(); i++) {
        ASSERT_EQ(out[i], times(base, scalars[i]).to_affine()) << bits << " bits, scalar " << i;
      }
      table.mul({}, {}, pool);
    }
  }
}

TYPED_TEST(FixedBaseTest, ManyScalarsAndZeros) {
  using Point = Affine<TypeParam>;
  exec::Pool pool(2);
  const size_t count = 17000;
  auto scalars = random_scalars(count, 21);
  for (size_t i = 0; i < count; i += 3) scalars[i] = Fr::zero();
  const FixedBase<TypeParam> table(Xyzz<TypeParam>::from_affine(generator<TypeParam>()), fixed_base_window_bits(count),
                                   pool);
  std::vector<Point> out(count);
  table.mul(scalars, out, pool);
  for (size_t i = 0; i < count; i += 3) ASSERT_TRUE(out[i].is_infinity());
  for (size_t i = 1; i < count; i += 997) {
    ASSERT_EQ(out[i], times(generator<TypeParam>(), scalars[i]).to_affine()) << "scalar " << i;
  }
}

TYPED_TEST(FixedBaseTest, InfinityStaysInfinity) {
  exec::Pool pool(1);
  const FixedBase<TypeParam> table(Xyzz<TypeParam>::infinity(), 6, pool);
  std::vector<Affine<TypeParam>> out(5, generator<TypeParam>());
  table.mul(random_scalars(5, 22), out, pool);
  for (const auto& point : out) EXPECT_TRUE(point.is_infinity());
}

TEST(FixedBaseWindow, GrowsWithTheNumberOfScalars) {
  EXPECT_LE(fixed_base_window_bits(0), 2u);
  EXPECT_GE(fixed_base_window_bits(10'000'000), 15u);
  EXPECT_LE(fixed_base_window_bits(~size_t{0}), 16u);
}

}  // namespace
}  // namespace cuzk::msm
