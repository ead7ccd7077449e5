#include "msm/msm.h"

#include <gtest/gtest.h>

#include "base/testing.h"
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

// Double and add, term by term.
template <class F>
Xyzz<F> naive(std::span<const Affine<F>> bases, std::span<const Fr> scalars) {
  Xyzz<F> out;
  for (size_t i = 0; i < bases.size(); i++) out += times(bases[i], scalars[i]);
  return out;
}

// Distinct points cheaply: multiples of a random one.
template <class F>
std::vector<Affine<F>> random_points(size_t count, uint64_t stream) {
  auto random = testing::rng(stream);
  const Affine<F> step = times(generator<F>(), testing::random_field<Fr>(random)).to_affine();
  Xyzz<F> point = times(generator<F>(), testing::random_field<Fr>(random));
  std::vector<Affine<F>> out(count);
  for (auto& value : out) {
    value = point.to_affine();
    point += step;
  }
  return out;
}

std::vector<Fr> random_scalars(size_t count, uint64_t stream) {
  auto random = testing::rng(stream);
  std::vector<Fr> out(count);
  for (Fr& value : out) value = testing::random_field<Fr>(random);
  return out;
}

template <class F>
class Msm : public ::testing::Test {
 protected:
  using Point = Affine<F>;
  Result<Xyzz<F>> msm(const std::vector<Point>& bases, const std::vector<Fr>& scalars, size_t threads) {
    const Plan chosen = plan({bases.size(), std::is_same_v<F, Fp2>}, threads);
    exec::Pool pool(threads);
    std::vector<std::byte> workspace(chosen.workspace_bytes);
    return run<F>(chosen, bases, scalars, workspace, pool);
  }
  void expect_naive(const std::vector<Point>& bases, const std::vector<Fr>& scalars) {
    const Xyzz<F> want = naive<F>(bases, scalars);
    for (size_t threads : {1, 2}) {
      auto got = msm(bases, scalars, threads);
      ASSERT_TRUE(got) << got.error().message;
      EXPECT_EQ(*got, want) << bases.size() << " points, " << threads << " threads";
    }
  }
};
using Fields = ::testing::Types<Fp, Fp2>;
TYPED_TEST_SUITE(Msm, Fields);

TYPED_TEST(Msm, AgreesWithDoubleAndAdd) {
  for (size_t size : {0, 1, 2, 3, 7, 8, 9, 31, 33, 127, 256, 300}) {
    this->expect_naive(random_points<TypeParam>(size, size), random_scalars(size, size));
  }
}

TYPED_TEST(Msm, EdgeScalars) {
  const auto bases = random_points<TypeParam>(9, 1);
  const Fr one = Fr::one();
  const Fr half = Fr::from_u64(2).inverse();  // (r + 1) / 2, where the sign of a scalar flips
  this->expect_naive(bases, {Fr::zero(), one, -one, half, half - one, half + one, -one - one, Fr::from_u64(1u << 31),
                             Fr::from_u64(~uint64_t{0})});
  this->expect_naive(bases, std::vector<Fr>(9));
}

TYPED_TEST(Msm, EdgePoints) {
  auto bases = random_points<TypeParam>(8, 2);
  bases.push_back(Affine<TypeParam>::infinity());
  bases.push_back(bases[0]);
  bases.push_back(-bases[0]);
  bases.push_back(-bases[3]);
  auto scalars = random_scalars(bases.size(), 2);
  this->expect_naive(bases, scalars);
  std::fill(scalars.begin(), scalars.end(), scalars[0]);  // equal and opposite points in one bucket
  this->expect_naive(bases, scalars);
  this->expect_naive(std::vector<Affine<TypeParam>>(20), random_scalars(20, 3));
}

TYPED_TEST(Msm, WorkspaceAndLengthsAreChecked) {
  const auto bases = random_points<TypeParam>(10, 4);
  const auto scalars = random_scalars(10, 4);
  const Plan chosen = plan({10, std::is_same_v<TypeParam, Fp2>}, 1);
  exec::Pool pool(1);
  std::vector<std::byte> workspace(chosen.workspace_bytes);
  auto short_scalars = run<TypeParam>(chosen, bases, std::span(scalars).first(9), workspace, pool);
  ASSERT_FALSE(short_scalars);
  EXPECT_EQ(short_scalars.error().code, Code::kInvalidInput);
}

}  // namespace
}  // namespace cuzk::msm
