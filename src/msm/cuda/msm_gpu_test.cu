#include <gtest/gtest.h>

#include "base/testing.h"
#include "curve/testing.h"
#include "exec/pool.h"
#include "field/cuda/montgomery.cuh"
#include "gpu/testing.h"
#include "msm/cuda/msm.h"
#include "msm/msm.h"

namespace cuzk::msm {
namespace {

using gpu::TestArray;

template <class F>
Affine<F> random_point(std::mt19937_64& random) {
  if constexpr (std::is_same_v<F, Fp>) return cuzk::testing::random_g1(random);
  if constexpr (std::is_same_v<F, Fp2>) return cuzk::testing::random_g2(random);
}

// Points by walking, with infinity, equal and opposite neighbours strewn in.
template <class F>
std::vector<Affine<F>> some_points(size_t count, std::mt19937_64& random, bool strange) {
  std::vector<Affine<F>> points(count);
  Xyzz<F> step = Xyzz<F>::from_affine(random_point<F>(random)), at = step;
  for (size_t i = 0; i < count; i++) {
    at = i % 64 == 0 ? at.dbl() : at + step;
    points[i] = at.to_affine();
  }
  for (size_t i = 0; strange && i < count; i++) {
    const uint64_t choice = random() % 16;
    if (choice == 0) points[i] = Affine<F>::infinity();
    if (choice == 1 && i > 0) points[i] = points[i - 1];
    if (choice == 2 && i > 0) points[i] = -points[i - 1];
  }
  return points;
}

std::vector<Fr> some_scalars(size_t count, std::mt19937_64& random, int kind) {
  std::vector<Fr> scalars(count);
  const Fr same = cuzk::testing::random_field<Fr>(random), half = Fr::from_u64(2).inverse();  // (r + 1) / 2
  const std::array edges = {Fr::zero(), Fr::one(),        Fr::from_u64(2),          -Fr::one(),
                            half,       half - Fr::one(), Fr::from_u64(2).pow(254), -Fr::from_u64(2).pow(254)};
  for (Fr& s : scalars) {
    switch (kind) {
      case 0: s = cuzk::testing::random_field<Fr>(random); break;
      case 1: s = edges[random() % edges.size()]; break;
      case 2: s = same; break;
      case 3: s = Fr::zero(); break;
      default: s = random() % 2 ? Fr::from_u64(random()) : -Fr::from_u64(random() >> 40); break;
    }
  }
  return scalars;
}

template <class F>
Xyzz<F> on_host(std::span<const Affine<F>> bases, std::span<const Fr> scalars) {
  exec::Pool pool(1);
  const msm::Plan plan = msm::plan({bases.size(), std::is_same_v<F, Fp2>}, 1);
  std::vector<std::byte> workspace(plan.workspace_bytes);
  return msm::run<F>(plan, bases, scalars, workspace, pool).value();
}

template <class F>
auto on_device(const TestArray<Affine<F>>& points) {
  return points.span().template as<const device::TwinOf<Affine<F>>>();
}

template <class F>
class DeviceMsm : public ::testing::Test {
 protected:
  static constexpr bool kG2 = std::is_same_v<F, Fp2>;
  std::mt19937_64 random = cuzk::testing::rng();

  Xyzz<F> compute(const DevicePlan& plan, std::span<const Affine<F>> bases, std::span<const Fr> scalars, Order order) {
    TestArray<Affine<F>> b(bases);
    TestArray<Fr> s(scalars);
    gpu::DeviceMemory workspace = gpu::test_memory(plan.workspace_bytes);
    auto stream = gpu::Stream::make(0).value();
    auto result = run<F>(plan, on_device<F>(b), s.span().template as<device::Fr>(), order, workspace.bytes(), stream);
    EXPECT_TRUE(result) << result.error().message;
    return result ? *result : Xyzz<F>::infinity();
  }
};
using Groups = ::testing::Types<Fp, Fp2>;
TYPED_TEST_SUITE(DeviceMsm, Groups);

TYPED_TEST(DeviceMsm, EqualsHostAtManySizes) {
  CUZK_SKIP_WITHOUT_DEVICE();
  using F = TypeParam;
  const auto points = some_points<F>(5000, this->random, true);
  std::vector<size_t> sizes = {1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 127, 128, 129, 1023, 1024, 1025, 4095, 4097};
  for (int i = 0; i < 200; i++) sizes.push_back(1 + this->random() % 3000);
  for (size_t i = 0; i < sizes.size(); i++) {
    const size_t n = sizes[i];
    const size_t at = this->random() % (points.size() - n + 1);
    const std::span bases = std::span(points).subspan(at, n);
    const auto scalars = some_scalars(n, this->random, static_cast<int>(i % 5));
    DevicePlan p = device_plan({n, this->kG2}).value();
    if (i % 3 == 1)
      p = device_plan_with({n, this->kG2}, 4 + static_cast<unsigned>(this->random() % 10),
                           1 + static_cast<unsigned>(this->random() % 4));
    ASSERT_EQ(this->compute(p, bases, scalars, Order::kNatural), on_host<F>(bases, scalars))
        << n << " points, scalars of kind " << i % 5 << ", window " << p.window_bits << ", at once "
        << p.windows_at_once;
  }
}

TYPED_TEST(DeviceMsm, EveryWindowWidth) {
  CUZK_SKIP_WITHOUT_DEVICE();
  using F = TypeParam;
  const size_t n = 700;
  const auto points = some_points<F>(n, this->random, true);
  const auto scalars = some_scalars(n, this->random, 0);
  const Xyzz<F> want = on_host<F>(points, scalars);
  for (unsigned bits = 4; bits <= 17; bits++) {
    for (unsigned at_once : {1u, 2u, 64u}) {
      ASSERT_EQ(this->compute(device_plan_with({n, this->kG2}, bits, at_once), points, scalars, Order::kNatural), want)
          << bits << " bits, " << at_once << " at once";
    }
  }
}

// A base too few, as h has: the scalar without one is left out.
TYPED_TEST(DeviceMsm, BitReversedScalars) {
  CUZK_SKIP_WITHOUT_DEVICE();
  using F = TypeParam;
  for (unsigned log2 : {0u, 1u, 2u, 7u, 11u}) {
    const size_t n = size_t{1} << log2;
    const auto points = some_points<F>(n, this->random, false);
    const auto scalars = some_scalars(n, this->random, 0);
    std::vector<Fr> reversed(n);
    for (size_t i = 0; i < n; i++) {
      size_t j = 0;
      for (unsigned bit = 0; bit < log2; bit++) j |= (i >> bit & 1) << (log2 - 1 - bit);
      reversed[j] = scalars[i];
    }
    const std::span bases = std::span(points).first(n - 1);
    const DevicePlan p = device_plan({n, this->kG2}).value();
    Xyzz<F> want = n == 1 ? Xyzz<F>::infinity() : on_host<F>(bases, std::span(scalars).first(n - 1));
    if (n == 1) continue;  // no base at all
    ASSERT_EQ(this->compute(p, bases, reversed, Order::kBitReversed), want) << n;
  }
}

TYPED_TEST(DeviceMsm, Positions) {
  CUZK_SKIP_WITHOUT_DEVICE();
  using F = TypeParam;
  const auto points = some_points<F>(1000, this->random, true);
  const size_t n = 333;
  std::vector<uint32_t> positions(n);
  std::vector<Affine<F>> chosen(n);
  for (size_t i = 0; i < n; i++) {
    positions[i] = static_cast<uint32_t>(this->random() % points.size());
    chosen[i] = points[positions[i]];
  }
  const auto scalars = some_scalars(n, this->random, 0);
  TestArray<Affine<F>> b{std::span<const Affine<F>>(points)};
  TestArray<Fr> s{std::span<const Fr>(scalars)};
  TestArray<uint32_t> at{std::span<const uint32_t>(positions)};
  const DevicePlan p = device_plan({n, this->kG2}).value();
  gpu::DeviceMemory workspace = gpu::test_memory(p.workspace_bytes);
  auto stream = gpu::Stream::make(0).value();
  ASSERT_TRUE(prepare(p, s.span().template as<device::Fr>(), Order::kNatural, stream));
  auto got = sum<F>(p, on_device<F>(b), s.span().template as<const device::Fr>(), at.span().as_const(),
                    workspace.bytes(), stream);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(*got, on_host<F>(chosen, scalars));
}

TYPED_TEST(DeviceMsm, ListedPoints) {
  CUZK_SKIP_WITHOUT_DEVICE();
  using F = TypeParam;
  const auto points = some_points<F>(6000, this->random, true);
  TestArray<Affine<F>> b{std::span<const Affine<F>>(points)};
  auto stream = gpu::Stream::make(0).value();
  for (size_t n : {0, 1, 2, 3, 255, 256, 257, 511, 1000, 1025, 5999}) {
    std::vector<uint32_t> list(n);
    Xyzz<F> want = Xyzz<F>::infinity();
    for (uint32_t& position : list) {
      position = static_cast<uint32_t>(this->random() % points.size());
      want += points[position];
    }
    TestArray<uint32_t> l{std::span<const uint32_t>(list)};
    for (uint64_t bytes : {listed_bytes<F>(0), listed_bytes<F>(3000), listed_bytes<F>(n)}) {
      gpu::DeviceMemory workspace = gpu::test_memory(bytes);
      auto got = sum_listed<F>(on_device<F>(b), l.span().as_const(), workspace.bytes(), stream);
      ASSERT_TRUE(got) << got.error().message;
      ASSERT_EQ(*got, want) << n << " points in " << bytes << " bytes";
    }
  }
}

TEST(DeviceMsmPlan, ObeysItsLimit) {
  const Shape shape{size_t{1} << 24, false};
  const DevicePlan best = device_plan(shape).value(), tight = device_plan(shape, uint64_t{2} << 30).value();
  EXPECT_LE(best.multiplications, tight.multiplications);
  EXPECT_LE(tight.workspace_bytes, uint64_t{2} << 30);
  EXPECT_GT(best.workspace_bytes, tight.workspace_bytes);
  EXPECT_EQ(device_plan(shape, 1 << 20).error().code, Code::kTooLarge);
}

}  // namespace
}  // namespace cuzk::msm
