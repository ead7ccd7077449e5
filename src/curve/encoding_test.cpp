// Encodings against another implementation's, every malformed case, and the subgroup tests against multiplication by r.
#include "curve/encoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "curve/noble_testing.h"
#include "curve/testing.h"

namespace cuzk {
namespace {

using ::testing::HasSubstr;

// One name for the functions of both groups.
template <class F>
struct Group;
template <>
struct Group<Fp> {
  static constexpr const char* kVectors = "g1";
  static constexpr size_t kBytes = kG1CompressedBytes;
  static G1Affine generator() { return g1_generator(); }
  static auto from_compressed(const auto& bytes) { return g1_from_compressed(bytes); }
  static auto from_uncompressed(const auto& bytes) { return g1_from_uncompressed(bytes); }
  static auto decode_unchecked(const auto& bytes) { return g1_decode_unchecked(bytes); }
  // #E(Fp)/r = 3 * 11^2 * 10177^2 * 859267^2 * 52437899^2
  static constexpr std::array<uint64_t, 2> kCofactor = {0x8c00aaab0000aaab, 0x396c8c005555e156};
  static constexpr uint64_t kCofactorPrimes[] = {3, 11, 10177, 859267, 52437899};
};
template <>
struct Group<Fp2> {
  static constexpr const char* kVectors = "g2";
  static constexpr size_t kBytes = kG2CompressedBytes;
  static G2Affine generator() { return g2_generator(); }
  static auto from_compressed(const auto& bytes) { return g2_from_compressed(bytes); }
  static auto from_uncompressed(const auto& bytes) { return g2_from_uncompressed(bytes); }
  static auto decode_unchecked(const auto& bytes) { return g2_decode_unchecked(bytes); }
  // #E'(Fp2)/r = 13^2 * 23^2 * 2713 * 11953 * 262069 * a large prime
  static constexpr std::array<uint64_t, 8> kCofactor = {0xcf1c38e31c7238e5, 0x1616ec6e786f0c70, 0x21537e293a6691ae,
                                                        0xa628f1cb4d9e82ef, 0xa68a205b2e5a7ddf, 0xcd91de4547085aba,
                                                        0x091d50792876a202, 0x05d543a95414e7f1};
  static constexpr uint64_t kCofactorPrimes[] = {13, 23, 2713, 11953, 262069};
};

// The quotient of an exact division.
template <size_t N>
std::array<uint64_t, N> divide(std::array<uint64_t, N> value, uint64_t divisor) {
  uint128_t rest = 0;
  for (size_t i = N; i-- > 0;) {
    rest = rest << 64 | value[i];
    value[i] = static_cast<uint64_t>(rest / divisor);
    rest %= divisor;
  }
  EXPECT_EQ(static_cast<uint64_t>(rest), 0u) << divisor;
  return value;
}

template <class F>
class Encoding : public ::testing::Test {
 protected:
  using Compressed = std::array<uint8_t, Group<F>::kBytes>;
  using Uncompressed = std::array<uint8_t, 2 * Group<F>::kBytes>;

  static Compressed compressed(const Affine<F>& p) {
    Compressed out;
    to_compressed(p, out);
    return out;
  }
  static Uncompressed uncompressed(const Affine<F>& p) {
    Uncompressed out;
    to_uncompressed(p, out);
    return out;
  }
  static void expect_fault(const Compressed& bytes, const char* text) {
    auto point = Group<F>::from_compressed(bytes);
    ASSERT_FALSE(point) << text;
    EXPECT_EQ(point.error().code, Code::kInvalidInput);
    EXPECT_THAT(point.error().message, HasSubstr(text));
  }
  static void expect_fault(const Uncompressed& bytes, const char* text) {
    auto point = Group<F>::from_uncompressed(bytes);
    ASSERT_FALSE(point) << text;
    EXPECT_EQ(point.error().code, Code::kInvalidInput);
    EXPECT_THAT(point.error().message, HasSubstr(text));
  }
  // The modulus as 48 bytes, over the coordinate at this offset; the flag bits of the first byte stay.
  static void put_modulus(std::span<uint8_t> bytes, size_t offset) {
    const uint8_t flags = bytes[offset] & 0xe0;
    for (size_t i = 0; i < 48; i++) {
      bytes[offset + i] = static_cast<uint8_t>(Fp::kModulus[(47 - i) / 8] >> (8 * ((47 - i) % 8)));
    }
    if (offset == 0) bytes[0] |= flags;
  }
};
using CoordinateFields = ::testing::Types<Fp, Fp2>;
TYPED_TEST_SUITE(Encoding, CoordinateFields);

TYPED_TEST(Encoding, AgreesWithAnotherImplementation) {
  using F = TypeParam;
  using G = Group<F>;
  const auto& vectors = testing::noble_vectors().at(G::kVectors);
  ASSERT_GE(vectors.size(), 10u);
  for (const auto& vector : vectors) {
    const Fr scalar = testing::field_from_hex<Fr>(vector.at("scalar"));
    const auto point = scalar_mul(Xyzz<F>::from_affine(G::generator()), scalar.canonical()).to_affine();
    EXPECT_EQ(to_hex(this->compressed(point)), vector.at("compressed"));
    EXPECT_EQ(to_hex(this->uncompressed(point)), vector.at("uncompressed"));
  }
}

TYPED_TEST(Encoding, RoundTrips) {
  using F = TypeParam;
  using G = Group<F>;
  auto random = testing::rng();
  std::vector<Affine<F>> points = {Affine<F>::infinity(), G::generator(), -G::generator()};
  for (int i = 0; i < 20; i++) points.push_back(testing::random_curve_point<F>(random));
  for (const auto& p : points) {
    EXPECT_TRUE(on_curve(p));
    EXPECT_EQ(*G::from_compressed(this->compressed(p)), p);
    EXPECT_EQ(*G::from_uncompressed(this->uncompressed(p)), p);
    EXPECT_EQ(*G::decode_unchecked(this->uncompressed(p)), p);
  }
}

TYPED_TEST(Encoding, InfinityIsTheFlagAndZeros) {
  using F = TypeParam;
  using G = Group<F>;
  typename TestFixture::Compressed compressed{0xc0};
  typename TestFixture::Uncompressed uncompressed{0x40};
  EXPECT_EQ(this->compressed(Affine<F>::infinity()), compressed);
  EXPECT_EQ(this->uncompressed(Affine<F>::infinity()), uncompressed);
  for (size_t i = 0; i < G::kBytes; i += 7) {
    compressed[i] ^= 1;
    this->expect_fault(compressed, "other bits are not zero");
    compressed[i] ^= 1;
  }
  for (size_t i = 0; i < 2 * G::kBytes; i += 7) {
    uncompressed[i] ^= 1;
    this->expect_fault(uncompressed, "other bits are not zero");
    EXPECT_FALSE(G::decode_unchecked(uncompressed));
    uncompressed[i] ^= 1;
  }
  compressed[0] |= 0x20;
  this->expect_fault(compressed, "other bits are not zero");
  uncompressed[0] |= 0x20;
  this->expect_fault(uncompressed, "other bits are not zero");
}

TYPED_TEST(Encoding, WrongFlagsAreNamed) {
  using G = Group<TypeParam>;
  auto compressed = this->compressed(G::generator());
  auto uncompressed = this->uncompressed(G::generator());
  compressed[0] &= 0x7f;
  this->expect_fault(compressed, "the compressed form is expected");
  uncompressed[0] |= 0x80;
  this->expect_fault(uncompressed, "the uncompressed form is expected");
  EXPECT_FALSE(G::decode_unchecked(uncompressed));
  uncompressed[0] ^= 0x80 | 0x20;
  this->expect_fault(uncompressed, "sign flag");
  EXPECT_FALSE(G::decode_unchecked(uncompressed));
}

TYPED_TEST(Encoding, CoordinatesNotBelowThePrimeAreNamed) {
  using G = Group<TypeParam>;
  for (size_t offset = 0; offset < G::kBytes; offset += 48) {
    auto compressed = this->compressed(G::generator());
    this->put_modulus(compressed, offset);
    this->expect_fault(compressed, "x is not below the field prime");
    auto uncompressed = this->uncompressed(G::generator());
    this->put_modulus(uncompressed, offset);
    this->expect_fault(uncompressed, "x is not below the field prime");
    EXPECT_FALSE(G::decode_unchecked(uncompressed));
    uncompressed = this->uncompressed(G::generator());
    this->put_modulus(uncompressed, G::kBytes + offset);
    this->expect_fault(uncompressed, "y is not below the field prime");
    EXPECT_FALSE(G::decode_unchecked(uncompressed));
  }
}

TYPED_TEST(Encoding, PointsOffTheCurveAreNamed) {
  using F = TypeParam;
  using G = Group<F>;
  auto random = testing::rng(1);
  int without_y = 0;
  for (int i = 0; i < 40; i++) {
    const Affine<F> p = {testing::random_element<F>(random), testing::random_element<F>(random)};
    EXPECT_FALSE(on_curve(p));
    this->expect_fault(this->uncompressed(p), "not on the curve");
    EXPECT_EQ(*G::decode_unchecked(this->uncompressed(p)), p);  // what unchecked means
    if (G::from_compressed(this->compressed(p))) continue;
    this->expect_fault(this->compressed(p), "no point of the curve has this x");
    without_y++;
  }
  EXPECT_GT(without_y, 5);  // half of all x
  // The bytes of (0, 0) without the infinity flag.
  this->expect_fault(typename TestFixture::Uncompressed{}, "not on the curve");
  EXPECT_FALSE(G::decode_unchecked(typename TestFixture::Uncompressed{}));
}

// Many at once against one at a time, with a fault of every kind at every kind of place.
TYPED_TEST(Encoding, ManyPointsAtOnce) {
  using F = TypeParam;
  using G = Group<F>;
  auto random = testing::rng(2);
  for (size_t n : {0, 1, 2, 127, 128, 129, 300}) {
    std::vector<Affine<F>> points, decoded(n);
    Bytes bytes;
    for (size_t i = 0; i < n; i++) {
      points.push_back(i % 7 == 3 ? Affine<F>{testing::random_element<F>(random), testing::random_element<F>(random)}
                                  : testing::random_curve_point<F>(random));
      const auto one = this->uncompressed(points.back());
      bytes.insert(bytes.end(), one.begin(), one.end());
    }
    EXPECT_EQ(decode_points<F>(bytes, decoded, false), n);
    EXPECT_EQ(decoded, points);
    EXPECT_EQ(decode_points<F>(bytes, decoded, true), std::min<size_t>(n, 3)) << "the first off the curve";

    for (size_t at : {size_t{0}, n / 2, n - 1}) {
      if (at >= n) continue;
      constexpr size_t kPoint = 2 * G::kBytes;
      const auto expect_at = [&](auto&& damage) {
        Bytes bad = bytes;
        damage(std::span(bad).subspan(at * kPoint, kPoint));
        EXPECT_FALSE(G::decode_unchecked(std::span<const uint8_t, kPoint>(bad.data() + at * kPoint, kPoint)) &&
                     !(bad[at * kPoint] & 0x40));
        EXPECT_EQ(decode_points<F>(bad, decoded, false), at) << n;
      };
      for (size_t offset = 0; offset < kPoint; offset += 48)
        expect_at([&](std::span<uint8_t> point) { this->put_modulus(point, offset); });
      for (uint8_t flag : {0x80, 0x40, 0x20}) expect_at([&](std::span<uint8_t> point) { point[0] |= flag; });
      expect_at([](std::span<uint8_t> point) { std::fill(point.begin(), point.end(), uint8_t{0}); });
      expect_at([](std::span<uint8_t> point) {
        std::fill(point.begin(), point.end(), uint8_t{0});
        point[0] = 0x40;
      });
    }
  }
}

TYPED_TEST(Encoding, SubgroupTestsAgreeWithMultiplicationByTheOrder) {
  using F = TypeParam;
  using G = Group<F>;
  auto random = testing::rng(2);
  const auto generator = Xyzz<F>::from_affine(G::generator());
  EXPECT_TRUE(in_subgroup(Affine<F>::infinity()));
  for (int i = 0; i < 10; i++) {
    const auto p = Xyzz<F>::from_affine(testing::random_curve_point<F>(random));
    const auto outside = scalar_mul(p, Fr::kModulus), inside = scalar_mul(p, G::kCofactor);
    ASSERT_TRUE(scalar_mul(inside, Fr::kModulus).is_infinity());
    ASSERT_FALSE(outside.is_infinity());
    ASSERT_TRUE(scalar_mul(outside, G::kCofactor).is_infinity());
    EXPECT_TRUE(in_subgroup(inside.to_affine()));
    EXPECT_TRUE(in_subgroup(scalar_mul(generator, testing::random_field<Fr>(random).canonical()).to_affine()));
    EXPECT_FALSE(in_subgroup(p.to_affine()));
    EXPECT_FALSE(in_subgroup(outside.to_affine()));
    EXPECT_FALSE(in_subgroup((generator + outside).to_affine()));
    // Points of small order, where an endomorphism has most chances to agree by accident.
    for (uint64_t prime : G::kCofactorPrimes) {
      const auto small = scalar_mul(outside, divide(G::kCofactor, prime));
      if (small.is_infinity()) continue;
      ASSERT_TRUE(scalar_mul(small, std::span(&prime, 1)).is_infinity());
      EXPECT_FALSE(in_subgroup(small.to_affine())) << prime;
      EXPECT_FALSE(in_subgroup((generator + small).to_affine())) << prime;
    }
  }
}

TEST(Encoding, PointOfOrderThreeIsOutside) {
  const G1Affine p = {Fp::zero(), Fp::from_u64(2)};  // fixed by the endomorphism
  EXPECT_TRUE(on_curve(p));
  EXPECT_FALSE(in_subgroup(p));
}

}  // namespace
}  // namespace cuzk
