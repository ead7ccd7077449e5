#include "groth16/subgroup_batch.h"

#include <gtest/gtest.h>

#include "base/testing.h"
#include "curve/encoding.h"

namespace cuzk::groth16 {
namespace {

template <class F>
struct Group;
template <>
struct Group<Fp> {
  static G1Affine generator() { return g1_generator(); }
  static G1Affine outside() { return {Fp::zero(), Fp::from_u64(2)}; }  // order 3, the smallest there is
};
template <>
struct Group<Fp2> {
  static G2Affine generator() { return g2_generator(); }
  static G2Affine outside() {
    std::array<uint8_t, 96> compressed{0x80};
    for (compressed[95] = 1;; compressed[95]++) {
      auto point = g2_from_compressed(compressed);
      if (point && !in_subgroup(*point)) return *point;
    }
  }
};

template <class F>
class SubgroupBatch : public ::testing::Test {
 protected:
  // Multiples k, k + 1, ... of the generator for a random k.
  static std::vector<Affine<F>> inside(size_t count, uint64_t stream) {
    auto random = cuzk::testing::rng(stream);
    const uint64_t k = random();
    auto point = scalar_mul(Xyzz<F>::from_affine(Group<F>::generator()), std::span(&k, 1));
    std::vector<Affine<F>> out;
    for (size_t i = 0; i < count; i++) {
      out.push_back(point.to_affine());
      point += Group<F>::generator();
    }
    return out;
  }
  static size_t first(const std::vector<Affine<F>>& points) {
    std::vector<std::byte> workspace(subgroup_batch_bytes(points.size()), std::byte{0xa5});
    return first_outside_subgroup(std::span<const Affine<F>>(points), workspace).value();
  }
};
using Fields = ::testing::Types<Fp, Fp2>;
TYPED_TEST_SUITE(SubgroupBatch, Fields);

TYPED_TEST(SubgroupBatch, AcceptsTheSubgroup) {
  for (size_t n : {0, 1, 2, 255, 256, 257, 511, 512, 513, 2000}) EXPECT_EQ(this->first(this->inside(n, n)), n);
  EXPECT_EQ(this->first(std::vector<Affine<TypeParam>>(300)), 300u);                                 // infinity
  EXPECT_EQ(this->first(std::vector<Affine<TypeParam>>(300, Group<TypeParam>::generator())), 300u);  // equal points
}

TYPED_TEST(SubgroupBatch, FindsTheFirstOutside) {
  const auto bad = Group<TypeParam>::outside();
  for (size_t n : {1, 256, 257, 1000}) {
    for (size_t at : {size_t{0}, n / 2, n - 1}) {
      auto points = this->inside(n, n + at);
      points[at] = bad;
      EXPECT_EQ(this->first(points), at) << n;
      if (at + 1 < n) points[n - 1] = bad;
      EXPECT_EQ(this->first(points), at) << n;
    }
  }
}

// Two points whose outside parts cancel: their sum is inside, their random subsets are not.
TYPED_TEST(SubgroupBatch, FaultsThatCancelAreFound) {
  auto points = this->inside(600, 7);
  const auto bad = Xyzz<TypeParam>::from_affine(Group<TypeParam>::outside());
  points[100] = (bad + points[100]).to_affine();
  points[500] = (-bad + points[500]).to_affine();
  EXPECT_EQ(this->first(points), 100u);
}

}  // namespace
}  // namespace cuzk::groth16
