// The tables and what a lane does with them, run by the host.
#include "r1cs/cuda/tables.h"

#include <gtest/gtest.h>

#include "r1cs/cuda/query.h"
#include "r1cs/cuda/sums.cuh"
#include "r1cs/cuda/testing.h"

namespace cuzk::r1cs {
namespace {

template <class T>
DeviceArray<T> in_host_memory(const std::vector<T>& values) {
  return {values.data(), values.size()};
}
SumTables<DeviceArray> in_host_memory(const SumTables<HostArray>& sums) {
  return {in_host_memory(sums.terms), in_host_memory(sums.sums), in_host_memory(sums.short_tiles),
          in_host_memory(sums.long_tiles)};
}

std::vector<device::Fr> elements(const std::vector<Fr>& values) {
  std::vector<device::Fr> out;
  for (const Fr& value : values) out.push_back(device::Fr::from_host(value));
  return out;
}
std::vector<Fr> values(const std::vector<device::Fr>& elements) {
  std::vector<Fr> out;
  for (const device::Fr& element : elements) out.push_back(element.to_host());
  return out;
}

struct HostCircuit {
  CircuitTables<HostArray> tables;
  DeviceCircuit view;
  explicit HostCircuit(const Circuit& circuit) : tables(make_circuit_tables(circuit)) {
    view.num_inputs = tables.num_inputs;
    view.instances = in_host_memory(tables.instances);
    view.bindings = in_host_memory(tables.bindings);
    view.coefficients = in_host_memory(tables.coefficients);
    view.small_starts = in_host_memory(tables.small_starts);
    view.small_terms = in_host_memory(tables.small_terms);
    view.row_tiles = in_host_memory(tables.row_tiles);
    view.sums = in_host_memory(tables.sums);
  }
};

template <class Problem>
void run_on_host(const Problem& problem) {
  const SumTables<DeviceArray>& sums = problem.sums();
  for (DeviceArray<Tile> tiles : {sums.short_tiles, sums.long_tiles}) {
    for (size_t t = 0; t < tiles.size; t++) {
      const PlacedInstance& at = problem.circuit.instances.data[tiles.data[t].instance];
      for (uint32_t i = tiles.data[t].begin; i < tiles.data[t].end; i++) {
        const Sum sum = sums.sums.data[i];
        device::Fr value = device::Fr::zero();
        for (uint32_t k = sum.begin; k < sum.end; k++) problem.add(value, at, sums.terms.data[k]);
        problem.store(at, sum.target, value);
      }
    }
  }
}

class Tables : public ::testing::TestWithParam<uint32_t> {
 protected:
  Circuit circuit = testing::RandomCircuit(GetParam(), GetParam()).finish();
  HostCircuit host{circuit};
  std::mt19937_64 random = cuzk::testing::rng(100);
};

TEST_P(Tables, RowsAreThoseOfTheCircuit) {
  const Witness witness = testing::random_witness(circuit, random);
  std::vector<uint32_t> bits(2 * witness.bits.size());
  std::memcpy(bits.data(), witness.bits.data(), 4 * bits.size());
  std::vector<Fr> all(witness.inputs.begin(), witness.inputs.end());
  all.insert(all.end(), witness.fields.begin(), witness.fields.end());
  const std::vector<device::Fr> scalars = elements(all);

  const Fr unset = Fr::from_u64(0x5e7);
  std::vector<device::Fr> a = elements(std::vector<Fr>(circuit.num_constraints, unset)), b = a;
  const DeviceWitness view = {in_host_memory(bits), in_host_memory(scalars)};
  run_on_host(RowSums{host.view, view, a.data(), b.data()});
  size_t small = 0;
  for (const Tile& tile : host.tables.row_tiles) {
    const PlacedInstance& at = host.tables.instances[tile.instance];
    for (uint32_t i = 2 * tile.begin; i < 2 * tile.end; i++) {
      const uint32_t begin = host.tables.small_starts[at.small_starts + i],
                     end = host.tables.small_starts[at.small_starts + i + 1] & ~DeviceCircuit::kNotSmall;
      if (begin & DeviceCircuit::kNotSmall) continue;
      device::Fr& out = (i % 2 ? b : a)[at.first_row + i / 2];
      EXPECT_EQ(out.to_host(), unset) << "summed twice";
      const int32_t sum = small_sum(host.view, bits.data(), at, begin, end) + DeviceCircuit::kSmallLimit;
      out = host.tables.small_values.at(static_cast<size_t>(sum));
      small++;
    }
  }
  std::vector<Fr> want_a(a.size()), want_b(a.size());
  evaluate(WitnessView(circuit, witness), 0, circuit.num_constraints, want_a, want_b, {});
  EXPECT_EQ(values(a), want_a);
  EXPECT_EQ(values(b), want_b);
  if (GetParam() >= 100) {  // every way is in use
    EXPECT_GT(small, 100u);
    EXPECT_GT(host.tables.sums.short_tiles.size(), 10u);
    EXPECT_GT(host.tables.sums.long_tiles.size(), 10u);
  }
}

TEST_P(Tables, ColumnsAreThoseOfTheCircuit) {
  const ColumnTables<HostArray> columns = make_column_tables(circuit);
  std::vector<Fr> row_values;
  for (uint32_t q = 0; q < circuit.num_constraints + circuit.num_inputs; q++)
    row_values.push_back(cuzk::testing::random_field<Fr>(random));
  const std::vector<device::Fr> in = elements(row_values);
  for (unsigned m = 0; m < 3; m++) {
    std::vector<device::Fr> out(circuit.num_inputs + circuit.num_aux), partials(columns.num_partials);
    run_on_host(ColumnSums{host.view, in_host_memory(columns.sums[m]), in.data(), out.data(), partials.data()});
    for (size_t i = 0; i < columns.bound.size(); i++) {
      for (uint32_t k = columns.bound_starts[i]; k < columns.bound_starts[i + 1]; k++)
        out[columns.bound[i]] += partials[columns.partials[k]];
    }
    for (uint32_t i = 0; i < circuit.num_inputs && m == 0; i++) out[i] += in[circuit.num_constraints + i];
    EXPECT_EQ(values(out), testing::naive_columns(circuit, m, row_values)) << m;
  }
}

TEST_P(Tables, QueriesAreThoseOfTheCircuit) {
  Witness full = testing::random_witness(circuit, random);
  for (uint64_t& word : full.bits) word = ~uint64_t{0};
  for (unsigned q = 0; q < kQueries; q++) {
    const testing::NaiveQuery want = testing::naive_query(circuit, full, q);
    const QueryTables<HostArray>& got = host.tables.queries[q];
    EXPECT_EQ(got.num_positions, want.variables.size());
    EXPECT_EQ(got.num_bits, want.ones.size());
    EXPECT_EQ(got.num_scalars, want.scalars.size());
    const auto inputs_end = std::lower_bound(want.scalars.begin(), want.scalars.end(), circuit.num_inputs);
    EXPECT_EQ(got.inputs, std::vector<uint32_t>(want.scalars.begin(), inputs_end));
  }
}

INSTANTIATE_TEST_SUITE_P(Regions, Tables, ::testing::Values(0, 1, 2, 10, 40));

}  // namespace
}  // namespace cuzk::r1cs
