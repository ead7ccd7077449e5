#include "groth16/quotient.h"

#include <gtest/gtest.h>

#include "base/testing.h"

namespace cuzk::groth16 {
namespace {

// The definition: interpolate by the sum over the domain, multiply out, divide by X^m - 1 with remainder.
std::vector<Fr> interpolate(const std::vector<Fr>& values, const Fr& root) {
  const size_t m = values.size();
  std::vector<Fr> out(m);
  for (size_t k = 0; k < m; k++) {
    for (size_t q = 0; q < m; q++) out[k] += values[q] * root.pow(q * k).inverse();
    out[k] *= Fr::from_u64(m).inverse();
  }
  return out;
}

TEST(Quotient, EqualsLongDivision) {
  exec::Pool pool(2);
  auto random = cuzk::testing::rng(31);
  for (unsigned log2_size = 0; log2_size <= 6; log2_size++) {
    const size_t m = size_t{1} << log2_size;
    std::vector<Fr> a(m), b(m), c(m);
    for (size_t q = 0; q < m; q++) {
      a[q] = cuzk::testing::random_field<Fr>(random);
      b[q] = cuzk::testing::random_field<Fr>(random);
      c[q] = a[q] * b[q];
    }
    const Fr root = fr_root_of_unity(log2_size);
    const auto pa = interpolate(a, root), pb = interpolate(b, root), pc = interpolate(c, root);
    std::vector<Fr> product(2 * m);
    for (size_t i = 0; i < m; i++) product[i] -= pc[i];
    for (size_t i = 0; i < m; i++) {
      for (size_t j = 0; j < m; j++) product[i + j] += pa[i] * pb[j];
    }
    std::vector<Fr> want(m);  // X^(m+i) = X^i modulo X^m - 1
    for (size_t i = m; i < 2 * m; i++) want[i - m] = product[i], product[i - m] += product[i];
    for (size_t i = 0; i < m; i++) ASSERT_TRUE(product[i].is_zero()) << "remainder";

    const auto products = [&](std::span<Fr> out) { std::copy(c.begin(), c.end(), out.begin()); };
    quotient(ntt::Domain(log2_size, pool), a, b, products, pool);
    EXPECT_EQ(a, want) << m;
    EXPECT_TRUE(a[m - 1].is_zero());
  }
}

}  // namespace
}  // namespace cuzk::groth16
