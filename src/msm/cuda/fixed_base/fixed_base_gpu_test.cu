#include "curve/cuda/point.cuh"
#include "curve/testing.h"
#include "gpu/testing.h"
#include "msm/cuda/fixed_base/fixed_base.h"
#include "msm/cuda/fixed_base/windows.cuh"
#include "msm/digits.h"
#include "msm/fixed_base.h"

namespace cuzk::msm {
namespace {

std::vector<Fr> test_scalars(size_t count) {
  auto random = testing::rng(count);
  const Fr half = Fr::from_u64(2).inverse();  // (r + 1)/2
  std::vector<Fr> out = {Fr::zero(), Fr::one(), -Fr::one(), half, -half, half - Fr::one(), half + Fr::one()};
  for (unsigned bit = 1; bit < 255; bit += 3) {
    const Fr power = Fr::from_u64(2).pow(bit);
    out.insert(out.end(), {power, -power, power - Fr::one(), power + Fr::one()});
  }
  std::shuffle(out.begin(), out.end(), random);
  while (out.size() < count) out.push_back(testing::random_field<Fr>(random));
  out.resize(count);
  return out;
}

// On the host, where the device's types go through the host's.
TEST(Windows, EqualDigits) {
  const std::vector<Fr> scalars = test_scalars(1000);
  for (unsigned bits = 4; bits <= 20; bits++) {
    const Digits digits(bits);
    const Windows windows = Windows::of(bits);
    ASSERT_EQ(windows.count, digits.windows());
    ASSERT_EQ(windows.buckets(), digits.buckets());
    for (const Fr& scalar : scalars) {
      uint32_t words[24];
      windows.prepare(device::Fr::from_host(scalar), words, 3);
      const Digits::Prepared prepared = digits.prepare(scalar);
      for (unsigned w = 0; w < windows.count; w++)
        ASSERT_EQ(windows.digit(words, 3, w), digits.digit(prepared, w)) << bits << " " << w;
    }
  }
}

template <class F>
void check(const Xyzz<F>& base, unsigned window_bits, std::initializer_list<size_t> counts) {
  constexpr bool kG2 = std::is_same_v<F, Fp2>;
  using Point = device::TwinOf<Affine<F>>;
  const FixedBasePlan plan = plan_fixed_base_windows(window_bits, kG2, gpu::devices()[0]);
  const gpu::DeviceMemory memory = gpu::test_memory(plan.bytes);
  const auto stream = gpu::Stream::make(0).value();
  const auto on_device = DeviceFixedBase<F>::make(plan, base, memory.bytes(), stream);
  ASSERT_TRUE(on_device) << on_device.error().message;
  exec::Pool pool;
  const FixedBase<F> on_host(base, 8, pool);
  for (size_t count : counts) {
    const std::vector<Fr> scalars = test_scalars(count);
    std::vector<Affine<F>> want(count);
    on_host.mul(scalars, want, pool);
    const gpu::TestArray<Fr> in{std::span<const Fr>(scalars)};
    const gpu::TestArray<Affine<F>> out(count);
    ASSERT_TRUE(on_device->mul(in.span().as<device::Fr>().as_const(), out.span().template as<Point>(), stream));
    ASSERT_TRUE(stream.synchronize());
    ASSERT_EQ(out.values(), want) << window_bits << " bits, " << count << " scalars";
  }
}

TEST(DeviceFixedBase, G1EqualsHost) {
  CUZK_SKIP_WITHOUT_DEVICE();
  auto random = testing::rng(4);
  const G1 base = G1::from_affine(testing::random_g1(random));
  check<Fp>(base, 4, {0, 1, 31, 129, 4097});
  check<Fp>(base, 5, {1000});
  check<Fp>(base, 15, {4096, 20000});
}
TEST(DeviceFixedBase, G2EqualsHost) {
  CUZK_SKIP_WITHOUT_DEVICE();
  auto random = testing::rng(5);
  const G2 base = G2::from_affine(testing::random_g2(random));
  check<Fp2>(base, 4, {0, 1, 129, 4097});
  check<Fp2>(base, 13, {5000});
}
// With a base of small order sums meet equal, opposite and infinite entries.
TEST(DeviceFixedBase, AnyBase) {
  CUZK_SKIP_WITHOUT_DEVICE();
  check<Fp>(G1::infinity(), 4, {300});
  check<Fp>(G1::from_affine({Fp::zero(), Fp::from_u64(2)}), 4, {1000});  // of order 3
  auto random = testing::rng(6);
  const uint64_t z = 0xd201000000010001;  // the cofactor is z^2/3 = 3 11^2 ...
  const uint128_t rest = uint128_t{z} * z / 3 / 121;
  const std::array<uint64_t, 2> scalar = {static_cast<uint64_t>(rest), static_cast<uint64_t>(rest >> 64)};
  const G1 base =
      scalar_mul(scalar_mul(G1::from_affine(testing::random_curve_point<Fp>(random)), Fr::kModulus), scalar);
  check<Fp>(base, 5, {1000});
}

TEST(DeviceFixedBase, RefusesWrongSizes) {
  CUZK_SKIP_WITHOUT_DEVICE();
  const FixedBasePlan plan = plan_fixed_base(100, false, gpu::devices()[0]);
  const gpu::DeviceMemory memory = gpu::test_memory(plan.bytes);
  const auto stream = gpu::Stream::make(0).value();
  const G1 base = G1::from_affine(g1_generator());
  EXPECT_FALSE(DeviceFixedBase<Fp>::make(plan, base, memory.bytes().first(plan.bytes - 1), stream));
  const auto made = DeviceFixedBase<Fp>::make(plan, base, memory.bytes(), stream);
  ASSERT_TRUE(made);
  const gpu::TestArray<Fr> scalars(2);
  const gpu::TestArray<G1Affine> points(1);
  EXPECT_FALSE(made->mul(scalars.span().as<device::Fr>().as_const(), points.span().as<device::G1Affine>(), stream));
}

}  // namespace
}  // namespace cuzk::msm
