// The real 2 KiB PoRep circuit on the device against the host: rows, queries, the QAP.
#include "base/testing.h"
#include "filecoin/circuits.h"
#include "gpu/testing.h"
#include "groth16/query.h"
#include "groth16/setup.h"
#include "r1cs/bitmap.h"
#include "r1cs/cuda/qap.h"
#include "r1cs/cuda/query.h"
#include "r1cs/testing.h"

namespace cuzk::filecoin {
namespace {

using Elements = gpu::TestArray<device::Fr>;

std::vector<Fr> values(const Elements& array) {
  std::vector<Fr> out;
  for (const device::Fr& element : array.values()) out.push_back(element.to_host());
  return out;
}

// Values that satisfy nothing: any bits and any residues.
r1cs::Witness random_witness(const r1cs::Circuit& circuit, std::mt19937_64& random) {
  auto element = [&] { return Fr::from_raw({random(), random(), random(), random() >> 2}); };
  r1cs::Witness out = r1cs::testing::make_witness(circuit);
  for (Fr& input : out.inputs.subspan(1)) input = element();
  for (size_t word = 0; word < out.bits.size(); word++) out.bits[word] = random() & ~circuit.aux_is_field[word];
  if (circuit.num_aux % 64 != 0) out.bits.back() &= (uint64_t{1} << (circuit.num_aux % 64)) - 1;
  for (Fr& value : out.fields) value = element();
  return out;
}

TEST(DeviceCircuit, PorepEqualsTheHosts) {
  CUZK_SKIP_WITHOUT_DEVICE();
  auto random = cuzk::testing::rng(300);
  exec::Pool pool;
  const r1cs::Circuit circuit = compile_circuit("porep", 2048).value();
  const r1cs::Witness witness = random_witness(circuit, random);
  const r1cs::WitnessView view(circuit, witness);
  const size_t inputs = circuit.num_inputs, rows = circuit.num_constraints;

  const auto stream = gpu::Stream::make(0).value();
  const auto tables = r1cs::make_circuit_tables(circuit);
  const auto column_tables = r1cs::make_column_tables(circuit);
  const auto circuit_memory = gpu::test_memory(table_bytes(tables));
  const auto column_memory = gpu::test_memory(table_bytes(column_tables));
  const auto witness_memory = gpu::test_memory(r1cs::device_witness_bytes(circuit));
  const r1cs::DeviceCircuit on_device = upload(tables, circuit_memory.bytes(), stream).value();
  const r1cs::DeviceColumns columns = upload(column_tables, column_memory.bytes(), stream).value();
  const r1cs::DeviceWitness values_on_device = upload(witness, on_device, witness_memory.bytes(), stream).value();

  const size_t domain = size_t{1} << r1cs::log2_domain(circuit);
  std::vector<Fr> want_a(domain), want_b(domain);
  pool.for_each_chunk(rows, 8192, [&](size_t begin, size_t end) {
    r1cs::evaluate(view, static_cast<uint32_t>(begin), static_cast<uint32_t>(end),
                   std::span(want_a).subspan(begin, end - begin), std::span(want_b).subspan(begin, end - begin), {});
  });
  std::copy(witness.inputs.begin(), witness.inputs.end(), want_a.begin() + static_cast<ptrdiff_t>(rows));
  Elements a(domain), b(domain);
  ASSERT_TRUE(r1cs::evaluate(on_device, values_on_device, a.span(), b.span(), stream));
  ASSERT_TRUE(stream.synchronize());
  EXPECT_TRUE(values(a) == want_a);
  EXPECT_TRUE(values(b) == want_b);

  std::vector<uint64_t> all_inputs = r1cs::make_bitmap(inputs);
  for (size_t i = 0; i < inputs; i++) r1cs::set_bit(all_inputs, i);
  const groth16::QueryVariables variables[] = {
      {}, {all_inputs, circuit.density.a_aux}, {circuit.density.b_inputs, circuit.density.b_aux}};
  gpu::TestArray<std::byte> scratch(
      std::max(r1cs::list_scratch_bytes(circuit), r1cs::column_sums_scratch_bytes(columns)));
  for (size_t q = 0; q < r1cs::kQueries; q++) {
    const r1cs::Query query = static_cast<r1cs::Query>(q);
    std::vector<std::byte> memory(groth16::split_query_bytes(circuit, variables[q]));
    mem::Carver carver(memory);
    const groth16::QueryScalars want = groth16::split_query(view, variables[q], carver);
    gpu::TestArray<uint32_t> list(tables.queries[q].num_bits), count(1);
    ASSERT_TRUE(r1cs::list_ones(on_device, query, values_on_device, list.span(), count.span(), scratch.span(), stream));
    ASSERT_TRUE(stream.synchronize());
    const std::vector<uint32_t> positions = list.values(), num_ones = count.values();
    std::vector<uint64_t> ones(want.ones.size());
    for (size_t i = 0; i < num_ones[0]; i++) r1cs::set_bit(ones, positions[i]);
    EXPECT_TRUE(std::ranges::equal(ones, want.ones)) << q;

    const size_t scalars = tables.queries[q].num_scalars;
    gpu::TestArray<uint32_t> field_positions(scalars), field_indices(scalars);
    ASSERT_TRUE(
        r1cs::list_scalars(on_device, query, field_positions.span(), field_indices.span(), scratch.span(), stream));
    ASSERT_TRUE(stream.synchronize());
    EXPECT_TRUE(std::ranges::equal(field_positions.values(), want.positions)) << q;
    std::vector<Fr> fields;
    for (uint32_t i : field_indices.values())
      fields.push_back(i < inputs ? witness.inputs[i] : witness.fields[i - inputs]);
    EXPECT_TRUE(std::ranges::equal(fields, want.fields)) << q;
  }

  const Fr tau = cuzk::testing::random_field<Fr>(random);
  const groth16::QapValues qap = groth16::qap_at(circuit, tau, pool).value();
  Elements lagrange(rows + inputs), out(inputs + circuit.num_aux);
  ASSERT_TRUE(r1cs::lagrange_at(tau, r1cs::log2_domain(circuit), lagrange.span(), stream));
  for (unsigned m = 0; m < 3; m++) {
    ASSERT_TRUE(
        r1cs::column_sums(on_device, columns, m, lagrange.span().as_const(), out.span(), scratch.span(), stream));
    ASSERT_TRUE(stream.synchronize());
    EXPECT_TRUE(values(out) == (m == 0 ? qap.a : m == 1 ? qap.b : qap.c)) << m;
  }
}

}  // namespace
}  // namespace cuzk::filecoin
