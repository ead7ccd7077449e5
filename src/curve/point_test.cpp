// The XYZZ formulas against the chord-and-tangent law in affine coordinates.
#include "curve/point.h"

#include <gtest/gtest.h>

#include "curve/testing.h"

namespace cuzk {
namespace {

// Textbook addition: slope by division, every case spelt out.
template <class F>
Affine<F> add_affine(const Affine<F>& p, const Affine<F>& q) {
  if (p.is_infinity()) return q;
  if (q.is_infinity()) return p;
  if (p.x == q.x && p.y == -q.y) return Affine<F>::infinity();
  F slope =
      p.x == q.x ? (p.x * p.x + p.x * p.x + p.x * p.x) * (p.y + p.y).inverse() : (q.y - p.y) * (q.x - p.x).inverse();
  F x = slope * slope - p.x - q.x;
  return {x, slope * (p.x - x) - p.y};
}

template <class F>
class Point : public ::testing::Test {
 protected:
  // The same point with another ZZ.
  static Xyzz<F> rescaled(const Xyzz<F>& p, const F& z) {
    F zz = z.square(), zzz = zz * z;
    return {p.x * zz, p.y * zzz, p.zz * zz, p.zzz * zzz};
  }
};
using CoordinateFields = ::testing::Types<Fp, Fp2>;
TYPED_TEST_SUITE(Point, CoordinateFields);

TYPED_TEST(Point, SumsAreThoseOfTheAffineLaw) {
  using F = TypeParam;
  auto random = testing::rng();
  std::vector<Affine<F>> points = {Affine<F>::infinity()};
  for (int i = 0; i < 5; i++) {
    points.push_back(testing::random_curve_point<F>(random));
    points.push_back(-points.back());
  }
  points.push_back(add_affine(points[1], points[1]));
  for (const auto& p : points) {
    const auto a = this->rescaled(Xyzz<F>::from_affine(p), testing::random_element<F>(random));
    EXPECT_EQ(a.to_affine(), p);
    EXPECT_EQ((-a).to_affine(), -p);
    EXPECT_EQ(a.is_infinity(), p.is_infinity());
    EXPECT_EQ(a.dbl().to_affine(), add_affine(p, p));
    for (const auto& q : points) {
      const auto b = this->rescaled(Xyzz<F>::from_affine(q), testing::random_element<F>(random));
      const auto expected = add_affine(p, q);
      EXPECT_EQ((a + b).to_affine(), expected);
      EXPECT_EQ((a + q).to_affine(), expected);
      EXPECT_EQ(a == b, p == q);
      auto c = a, d = a;
      c += b;
      d += q;
      EXPECT_EQ(c.to_affine(), expected);
      EXPECT_EQ(d.to_affine(), expected);
    }
  }
}

TYPED_TEST(Point, ScalarMultiplesAreRepeatedSums) {
  using F = TypeParam;
  auto random = testing::rng(1);
  const auto p = testing::random_curve_point<F>(random);
  Affine<F> sum = Affine<F>::infinity();
  for (uint64_t k = 0; k < 40; k++) {
    EXPECT_EQ(scalar_mul(Xyzz<F>::from_affine(p), std::array<uint64_t, 2>{k, 0}).to_affine(), sum);
    sum = add_affine(sum, p);
  }
  EXPECT_TRUE(scalar_mul(Xyzz<F>::infinity(), std::array<uint64_t, 1>{5}).is_infinity());
}

}  // namespace
}  // namespace cuzk
