#include "ntt/ntt.h"

#include <gtest/gtest.h>

#include "base/testing.h"

namespace cuzk::ntt {
namespace {

std::vector<Fr> random_vector(size_t size, uint64_t stream) {
  auto random = testing::rng(stream);
  std::vector<Fr> out(size);
  for (Fr& value : out) value = testing::random_field<Fr>(random);
  return out;
}

Fr horner(std::span<const Fr> coefficients, const Fr& x) {
  Fr out;
  for (size_t i = coefficients.size(); i-- > 0;) out = out * x + coefficients[i];
  return out;
}

size_t reverse_bits(size_t value, unsigned bits) {
  size_t out = 0;
  for (unsigned i = 0; i < bits; i++) out = out << 1 | (value >> i & 1);
  return out;
}

std::vector<Fr> reversed(const std::vector<Fr>& in, unsigned bits) {
  std::vector<Fr> out(in.size());
  for (size_t i = 0; i < in.size(); i++) out[reverse_bits(i, bits)] = in[i];
  return out;
}

// Every transform of one size, on one and two threads. Values are checked against evaluation by Horner's rule: at all
// points up to 2^7, at a few otherwise.
class Ntt : public ::testing::TestWithParam<std::tuple<unsigned, size_t>> {
 protected:
  unsigned log2_size() const { return std::get<0>(GetParam()); }
  exec::Pool pool{std::get<1>(GetParam())};
  Domain domain{log2_size(), pool};
  std::vector<Fr> coefficients = random_vector(domain.size(), log2_size());

  void expect_values(const std::vector<Fr>& values, const Fr& shift) {
    auto random = testing::rng(100);
    const size_t checks = domain.size() <= 128 ? domain.size() : 4;
    for (size_t k = 0; k < checks; k++) {
      const size_t i = domain.size() <= 128 ? k : random() % domain.size();
      ASSERT_EQ(values[i], horner(coefficients, shift * domain.root().pow(i))) << "index " << i;
    }
  }
};

TEST_P(Ntt, RootHasTheRightOrder) {
  Fr power = domain.root();
  for (unsigned i = 1; i < log2_size(); i++) power = power.square();
  EXPECT_EQ(power, log2_size() == 0 ? Fr::one() : -Fr::one());
}

TEST_P(Ntt, ForwardEvaluates) {
  auto values = coefficients;
  forward(domain, values, pool);
  expect_values(values, Fr::one());
  inverse(domain, values, pool);
  EXPECT_EQ(values, coefficients);
}

TEST_P(Ntt, CosetForwardEvaluates) {
  auto values = coefficients;
  coset_forward(domain, values, pool);
  expect_values(values, Fr::from_u64(7));
  coset_inverse(domain, values, pool);
  EXPECT_EQ(values, coefficients);
}

TEST_P(Ntt, ReversedVariantsAreThePermutedOnes) {
  const auto permuted = reversed(coefficients, log2_size());
  auto natural = coefficients;
  bit_reverse(natural, pool);
  EXPECT_EQ(natural, permuted);

  auto values = permuted;
  forward_from_reversed(domain, values, pool);
  expect_values(values, Fr::one());
  inverse_to_reversed(domain, values, pool);
  EXPECT_EQ(values, permuted);

  coset_forward_from_reversed(domain, values, pool);
  expect_values(values, Fr::from_u64(7));
  coset_inverse_to_reversed(domain, values, pool);
  EXPECT_EQ(values, permuted);
}

// 0 to 8 are one pass, 9 to 16 two, 17 three; all of one shape and the border between shapes are here.
INSTANTIATE_TEST_SUITE_P(Sizes, Ntt,
                         ::testing::Combine(::testing::Values(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 17),
                                            ::testing::Values<size_t>(1, 2)));

TEST(NttEdges, IsLinear) {
  exec::Pool pool(2);
  for (unsigned log2_size : {3, 10}) {
    const Domain domain(log2_size, pool);
    const Fr factor = Fr::from_u64(12345).inverse();
    auto first = random_vector(domain.size(), 40), other = random_vector(domain.size(), 41), sum = other;
    for (size_t i = 0; i < sum.size(); i++) sum[i] += factor * first[i];
    for (auto* data : {&first, &other, &sum}) forward(domain, *data, pool);
    for (size_t i = 0; i < sum.size(); i++) ASSERT_EQ(sum[i], other[i] + factor * first[i]);
  }
}

TEST(NttEdges, ConstantAndMonomial) {
  exec::Pool pool(1);
  const Domain domain(10, pool);
  std::vector<Fr> data(domain.size());
  data[0] = Fr::from_u64(5);
  coset_forward(domain, data, pool);
  for (const Fr& value : data) ASSERT_EQ(value, Fr::from_u64(5));

  // x^n - 1 vanishes on the subgroup and is 7^n - 1 on the coset; x^(n-1) has the values 7^(n-1) w^-i there.
  std::fill(data.begin(), data.end(), Fr::zero());
  data.back() = Fr::one();
  coset_forward(domain, data, pool);
  Fr want = Fr::from_u64(7).pow(domain.size() - 1);
  for (const Fr& value : data) {
    ASSERT_EQ(value, want);
    want *= domain.root().inverse();
  }
}

TEST(NttEdges, LargestDomainHasSmallTables) {
  exec::Pool pool(1);
  const Domain domain(32, pool);
  EXPECT_EQ(domain.root(), fr_root_of_unity(32));
  EXPECT_LT(domain.bytes(), 8u << 20);
}

}  // namespace
}  // namespace cuzk::ntt
