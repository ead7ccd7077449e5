#include <gtest/gtest.h>

#include "base/testing.h"
#include "gpu/testing.h"
#include "groth16/cuda/quotient/quotient.h"
#include "groth16/quotient.h"

namespace cuzk::groth16 {
namespace {

std::vector<Fr> random_vector(size_t size, uint64_t stream) {
  auto random = testing::rng(stream);
  std::vector<Fr> out(size);
  for (Fr& value : out) value = Fr::from_raw({random(), random(), random(), random() >> 2});
  return out;
}

std::vector<Fr> on_device(unsigned log2_size, const std::vector<Fr>& a, const std::vector<Fr>& b) {
  const auto stream = gpu::Stream::make(0).value();
  const auto tables = gpu::test_memory(ntt::DeviceDomain::bytes(log2_size));
  const auto domain = ntt::DeviceDomain::make(log2_size, tables.bytes(), stream).value();
  const gpu::TestArray<Fr> device_a{std::span(a)}, device_b{std::span(b)}, scratch(a.size());
  EXPECT_TRUE(quotient(domain, device_a.span().as<device::Fr>(), device_b.span().as<device::Fr>(),
                       scratch.span().as<device::Fr>(), stream));
  EXPECT_TRUE(stream.synchronize());
  return device_a.values();
}

class QuotientGpu : public ::testing::TestWithParam<unsigned> {};

TEST_P(QuotientGpu, EqualsCpu) {
  CUZK_SKIP_WITHOUT_DEVICE();
  const unsigned log2_size = GetParam();
  exec::Pool pool(2);
  const ntt::Domain domain(log2_size, pool);
  const size_t size = domain.size();
  auto zeros_and_ones = random_vector(size, 3);
  for (Fr& value : zeros_and_ones) value = value.raw()[0] % 2 ? Fr::one() : Fr::zero();
  const std::vector<Fr> minus_one(size, -Fr::one()), zero(size);
  const auto a = random_vector(size, 1), b = random_vector(size, 2);
  for (const auto& [values_a, values_b] :
       {std::pair{a, b}, {a, a}, {a, zero}, {minus_one, minus_one}, {zeros_and_ones, b}}) {
    std::vector<Fr> want = values_a, other = values_b, products;
    for (size_t i = 0; i < size; i++) products.push_back(want[i] * other[i]);
    const auto make_products = [&](std::span<Fr> out) { std::copy(products.begin(), products.end(), out.begin()); };
    quotient(domain, want, other, make_products, pool);
    ntt::bit_reverse(want, pool);
    const auto got = on_device(log2_size, values_a, values_b);
    for (size_t i = 0; i < size; i++) ASSERT_EQ(got[i], want[i]) << "index " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, QuotientGpu, ::testing::Range(0u, 17u));
INSTANTIATE_TEST_SUITE_P(Large, QuotientGpu, ::testing::Values(19u, 20u));

}  // namespace
}  // namespace cuzk::groth16
