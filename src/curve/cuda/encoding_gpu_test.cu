#include "base/bytes.h"
#include "curve/cuda/encoding.h"
#include "curve/cuda/point.cuh"
#include "curve/encoding.h"
#include "curve/endomorphism.h"
#include "curve/testing.h"
#include "gpu/testing.h"

namespace cuzk {
namespace {

template <class F>
Affine<F> generator() {
  if constexpr (std::is_same_v<F, Fp>) {
    return g1_generator();
  } else {
    return g2_generator();
  }
}
// Distinct points of the subgroup, cheaply made.
template <class F>
std::vector<Affine<F>> subgroup_points(size_t count) {
  auto random = testing::rng(2);
  const Affine<F> base = generator<F>();
  Xyzz<F> point = scalar_mul(Xyzz<F>::from_affine(base), testing::random_field<Fr>(random).canonical());
  std::vector<Affine<F>> out;
  for (; out.size() < count; point += base) out.push_back(point.to_affine());
  return out;
}

template <class F>
constexpr size_t kBytes = sizeof(Affine<F>);
template <class F>
std::vector<std::byte> encoded(std::span<const Affine<F>> points) {
  std::vector<std::byte> out(points.size() * kBytes<F>);
  for (size_t i = 0; i < points.size(); i++) {
    to_uncompressed(points[i],
                    std::span<uint8_t, kBytes<F>>(reinterpret_cast<uint8_t*>(&out[i * kBytes<F>]), kBytes<F>));
  }
  return out;
}

// What decode_points makes of bytes: the points, and the lowest fault less 1000.
template <class F>
struct Decoded {
  std::vector<Affine<F>> points;
  uint64_t fault;
};
template <class F>
Decoded<F> decode(std::span<const std::byte> bytes, bool full) {
  using Point = device::TwinOf<Affine<F>>;
  const gpu::TestArray<std::byte> memory(bytes);
  const uint64_t none = UINT64_MAX;
  const gpu::TestArray<uint64_t> fault(std::span(&none, 1));
  const auto stream = gpu::Stream::make(0).value();
  EXPECT_TRUE(device::decode_points(memory.span().template as<Point>(), full, 1000, fault.span(), stream));
  EXPECT_TRUE(stream.synchronize());
  const std::vector<std::byte> native = memory.values();
  Decoded<F> out{std::vector<Affine<F>>(native.size() / kBytes<F>), fault.values()[0]};
  std::memcpy(static_cast<void*>(out.points.data()), native.data(), native.size());
  if (out.fault != UINT64_MAX) out.fault -= 1000;
  return out;
}

template <class F>
class PointEncoding : public ::testing::Test {};
using Fields = ::testing::Types<Fp, Fp2>;
TYPED_TEST_SUITE(PointEncoding, Fields);

TYPED_TEST(PointEncoding, RoundTrips) {
  CUZK_SKIP_WITHOUT_DEVICE();
  using F = TypeParam;
  const std::vector<Affine<F>> all = subgroup_points<F>(700);
  for (size_t count : {0u, 1u, 127u, 128u, 129u, 700u}) {
    const std::span<const Affine<F>> points = std::span(all).first(count);
    const std::vector<std::byte> bytes = encoded<F>(points);
    const Decoded<F> got = decode<F>(bytes, true);
    EXPECT_EQ(got.fault, UINT64_MAX);
    ASSERT_TRUE(std::equal(points.begin(), points.end(), got.points.begin(), got.points.end()));

    mem::Budget budget({{"pinned", bytes.size()}});
    const auto pinned = gpu::PinnedMemory::make(budget.reserve({0, bytes.size()}).value()).value();
    const gpu::TestArray<Affine<F>> native(points);
    const auto stream = gpu::Stream::make(0).value();
    const auto span = native.span().template as<device::TwinOf<Affine<F>>>().as_const();
    ASSERT_TRUE(device::encode_points(span, pinned.bytes(), stream));
    ASSERT_TRUE(stream.synchronize());
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), pinned.bytes().begin()));
    if (count > 0) EXPECT_FALSE(device::encode_points(span, pinned.bytes().first(bytes.size() - 1), stream));
  }
}

// Points of the curve with the orders that its cofactor has, besides random ones: what a chain of doublings and
// additions meets as infinity, equal and opposite points.
template <class F>
std::vector<Affine<F>> outside_points() {
  auto random = testing::rng(3);
  std::vector<Affine<F>> out;
  for (int i = 0; i < 200; i++) out.push_back(testing::random_curve_point<F>(random));
  for (int i = 0; i < 20; i++) {
    out.push_back(scalar_mul(Xyzz<F>::from_affine(out[i]), Fr::kModulus).to_affine());  // in the cofactor's part
  }
  if constexpr (std::is_same_v<F, Fp>) {
    out.push_back({Fp::zero(), Fp::from_u64(2)});
    out.push_back(-out.back());
    const uint128_t cofactor =
        (uint128_t{kAbsZ} + 1) * (uint128_t{kAbsZ} + 1) / 3;  // (z - 1)^2 / 3 = 3 11^2 10177^2 ...
    for (uint64_t prime : {11u, 10177u}) {
      const uint128_t rest = cofactor / (uint128_t{prime} * prime);
      const std::array<uint64_t, 2> scalar = {static_cast<uint64_t>(rest), static_cast<uint64_t>(rest >> 64)};
      for (size_t i = 200; i < 220; i++) {
        const Affine<F> p = scalar_mul(Xyzz<F>::from_affine(out[i]), scalar).to_affine();
        if (!p.is_infinity()) out.push_back(p);
      }
    }
  }
  return out;
}

TYPED_TEST(PointEncoding, MembershipAsOnTheHost) {
  CUZK_SKIP_WITHOUT_DEVICE();
  using F = TypeParam;
  const std::vector<Affine<F>> outside = outside_points<F>();
  for (const Affine<F>& point : outside) {
    ASSERT_TRUE(on_curve(point));
    ASSERT_FALSE(in_subgroup(point));
  }
  // All of them fail: with each in turn at the end of a prefix that is good, the lowest fault is its place.
  std::vector<Affine<F>> points = subgroup_points<F>(130);
  for (size_t i = 0; i < outside.size(); i++) {
    points[i % 130] = outside[i];
    EXPECT_EQ(decode<F>(encoded<F>(points), true).fault, i % 130) << i;
    EXPECT_EQ(decode<F>(encoded<F>(points), false).fault, UINT64_MAX);
    points[i % 130] = generator<F>();
  }
  EXPECT_EQ(decode<F>(encoded<F>(outside), true).fault, 0u);
}

TYPED_TEST(PointEncoding, FaultsAreFound) {
  CUZK_SKIP_WITHOUT_DEVICE();
  using F = TypeParam;
  const std::vector<std::byte> good = encoded<F>(subgroup_points<F>(300));
  std::array<uint8_t, 48> p;  // not below p, by nothing
  for (size_t i = 0; i < 6; i++) store_be(&p[8 * (5 - i)], Fp::kModulus[i]);
  for (size_t index : {0u, 128u, 299u}) {
    const auto fault = [&](auto&& change, bool full) {
      std::vector<std::byte> bytes = good;
      change(reinterpret_cast<uint8_t*>(&bytes[index * kBytes<F>]));
      return decode<F>(bytes, full).fault;
    };
    for (bool full : {false, true}) {
      for (uint8_t flag : {0x80, 0x40, 0x20, 0xe0}) {
        EXPECT_EQ(fault([&](uint8_t* at) { at[0] |= flag; }, full), index);
      }
      EXPECT_EQ(fault([&](uint8_t* at) { std::fill_n(at, kBytes<F>, uint8_t{0}), at[0] = 0x40; }, full), index);
      EXPECT_EQ(fault([&](uint8_t* at) { std::fill_n(at, kBytes<F>, uint8_t{0}); }, full), index);
      for (size_t c = 0; c < kBytes<F> / 48; c++) {
        EXPECT_EQ(fault([&](uint8_t* at) { std::copy(p.begin(), p.end(), at + 48 * c); }, full), index);
        EXPECT_EQ(fault([&](uint8_t* at) { at[48 * c] |= 0x80; }, full), index);
        // p - 1 is a coordinate, though no point of these has it.
        const auto less = [&](uint8_t* at) { std::copy(p.begin(), p.end(), at + 48 * c), at[48 * c + 47]--; };
        EXPECT_EQ(fault(less, full), full ? index : UINT64_MAX);
        EXPECT_EQ(fault([&](uint8_t* at) { at[48 * c + 47] ^= 1; }, full), full ? index : UINT64_MAX);
      }
    }
  }
}

}  // namespace
}  // namespace cuzk
