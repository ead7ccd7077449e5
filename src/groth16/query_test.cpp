#include "groth16/query.h"

#include <gtest/gtest.h>

#include "groth16/testing.h"

namespace cuzk::groth16 {
namespace {

// Against the definition, one scalar multiplication a variable, for presence bitmaps from nothing to everything.
template <class F>
void expect_naive_sum(const testing::Mixed& mixed, const Affine<F>& base, std::mt19937_64& random) {
  exec::Pool pool(2);
  const r1cs::WitnessView view(mixed.circuit, mixed.witness);
  const size_t inputs = mixed.circuit.num_inputs, aux = mixed.circuit.num_aux;
  for (unsigned density : {0u, 1u, 2u, 3u, 4u}) {
    auto input_map = r1cs::make_bitmap(inputs), aux_map = r1cs::make_bitmap(aux);
    std::vector<Affine<F>> points;
    Xyzz<F> want = Xyzz<F>::infinity(), point = Xyzz<F>::from_affine(base);
    auto visit = [&](r1cs::Var var, std::vector<uint64_t>& map) {
      if (random() % 4 >= density) return;
      r1cs::set_bit(map, var.index());
      points.push_back(point.to_affine());
      want += scalar_mul(point, view.value(var).canonical());
      point = point.dbl() + base;
    };
    for (uint32_t i = 0; i < inputs; i++) visit(r1cs::Var::input(i), input_map);
    for (uint32_t j = 0; j < aux; j++) visit(r1cs::Var::aux(j), aux_map);
    // In memory that holds something else; all at once, and in parts.
    const QueryVariables variables{input_map, aux_map};
    std::vector<std::byte> memory(split_query_bytes(mixed.circuit, variables), std::byte{0xa5});
    mem::Carver carver(memory);
    const QueryScalars scalars = split_query(view, variables, carver);
    for (size_t at_once : {kQueryPoints, size_t{20}, size_t{1}}) {
      std::vector<std::byte> workspace(sum_query_bytes<F>(mixed.circuit, variables, pool.threads(), at_once),
                                       std::byte{0xa5});
      auto sum = sum_query<F>(scalars, points, workspace, pool, at_once);
      ASSERT_TRUE(sum) << sum.error().message;
      EXPECT_EQ(*sum, want) << density;
      sum = sum_query<F>(scalars, points, std::span(workspace).subspan(1), pool, at_once);
      EXPECT_EQ(sum.error().code, Code::kResourceExhausted);
    }
  }
}

TEST(Query, EqualsTheSumOverItsVariables) {
  auto random = cuzk::testing::rng(41);
  for (uint32_t bits : {0u, 1u, 31u, 32u, 63u, 100u}) {
    for (bool packed : {true, false})
      expect_naive_sum<Fp>(testing::make_mixed(bits, packed, bits), g1_generator(), random);
  }
  expect_naive_sum<Fp2>(testing::make_mixed(40, true, 1), g2_generator(), random);
}

TEST(SumInParts, IsTheSum) {
  exec::Pool pool(2);
  auto random = cuzk::testing::rng(8);
  for (size_t n : {0, 1, 2, 7, 300}) {
    std::vector<Fr> scalars(n);
    std::vector<G1Affine> points(n);
    G1 want = G1::infinity();
    for (size_t i = 0; i < n; i++) {
      scalars[i] = cuzk::testing::random_field<Fr>(random);
      points[i] = scalar_mul(G1::from_affine(g1_generator()), Fr::from_u64(random()).canonical()).to_affine();
      want += scalar_mul(G1::from_affine(points[i]), scalars[i].canonical());
    }
    for (size_t parts : {1, 2, 3, 8}) {
      std::vector<std::byte> workspace(parts_workspace_bytes(n, parts, pool.threads()));
      const auto sum = sum_in_parts(scalars, points, parts, workspace, pool);
      ASSERT_TRUE(sum) << sum.error().message;
      EXPECT_EQ(*sum, want) << n << " in " << parts;
    }
  }
}

}  // namespace
}  // namespace cuzk::groth16
