#include "gpu/testing.h"
#include "r1cs/cuda/qap.h"
#include "r1cs/cuda/query.h"
#include "r1cs/cuda/testing.h"

namespace cuzk::r1cs {
namespace {

std::vector<device::Fr> elements(const std::vector<Fr>& values) {
  std::vector<device::Fr> out;
  for (const Fr& value : values) out.push_back(device::Fr::from_host(value));
  return out;
}
std::vector<Fr> values(const gpu::TestArray<device::Fr>& array) {
  std::vector<Fr> out;
  for (const device::Fr& element : array.values()) out.push_back(element.to_host());
  return out;
}
gpu::TestArray<device::Fr> on_device(const std::vector<Fr>& values) {
  return gpu::TestArray<device::Fr>(std::span<const device::Fr>(elements(values)));
}
std::vector<Fr> random_values(size_t count, std::mt19937_64& random) {
  std::vector<Fr> out(count);
  for (Fr& value : out) {  // as residues, which is fast; 2^254 is below the modulus
    value = random() % 16 == 0 ? Fr::zero() : Fr::from_raw({random(), random(), random(), random() >> 2});
  }
  return out;
}

// A circuit in device memory.
struct OnDevice {
  gpu::Stream stream = gpu::Stream::make(0).value();
  CircuitTables<HostArray> tables;
  ColumnTables<HostArray> column_tables;
  gpu::DeviceMemory circuit_memory, column_memory, witness_memory;
  DeviceCircuit circuit;
  DeviceColumns columns;

  explicit OnDevice(const Circuit& host)
      : tables(make_circuit_tables(host)),
        column_tables(make_column_tables(host)),
        circuit_memory(gpu::test_memory(table_bytes(tables))),
        column_memory(gpu::test_memory(table_bytes(column_tables))),
        witness_memory(gpu::test_memory(device_witness_bytes(host))) {
    circuit = r1cs::upload(tables, circuit_memory.bytes(), stream).value();
    columns = r1cs::upload(column_tables, column_memory.bytes(), stream).value();
  }
  DeviceWitness upload(const Witness& witness) {
    DeviceWitness out = r1cs::upload(witness, circuit, witness_memory.bytes(), stream).value();
    EXPECT_TRUE(stream.synchronize());
    return out;
  }
};

Circuit random_circuit(uint32_t regions) { return testing::RandomCircuit(regions, regions).finish(); }

TEST(DeviceR1cs, RowsEqualTheHosts) {
  CUZK_SKIP_WITHOUT_DEVICE();
  auto random = cuzk::testing::rng(200);
  for (uint32_t regions : {0u, 1u, 2u, 10u, 300u}) {
    const Circuit circuit = random_circuit(regions);
    OnDevice device(circuit);
    const size_t rows = circuit.num_constraints, used = rows + circuit.num_inputs;
    for (size_t size : {used, used + 1, size_t{1} << log2_domain(circuit)}) {
      const Witness witness = testing::random_witness(circuit, random);
      std::vector<Fr> a(size), b(size);
      evaluate(WitnessView(circuit, witness), 0, circuit.num_constraints, std::span(a).first(rows),
               std::span(b).first(rows), {});
      std::copy(witness.inputs.begin(), witness.inputs.end(), a.begin() + static_cast<ptrdiff_t>(rows));
      gpu::TestArray<device::Fr> device_a = on_device(random_values(size, random)),
                                 device_b = on_device(random_values(size, random));
      const DeviceWitness device_witness = device.upload(witness);
      ASSERT_TRUE(evaluate(device.circuit, device_witness, device_a.span(), device_b.span(), device.stream));
      ASSERT_TRUE(device.stream.synchronize());
      EXPECT_EQ(values(device_a), a) << regions;
      EXPECT_EQ(values(device_b), b) << regions;
    }
    gpu::TestArray<device::Fr> small(used - 1);
    EXPECT_EQ(evaluate(device.circuit, {}, small.span(), small.span(), device.stream).error().code, Code::kInternal);
  }
}

TEST(DeviceR1cs, WrongLengthsAreRefused) {
  CUZK_SKIP_WITHOUT_DEVICE();
  auto random = cuzk::testing::rng(201);
  const Circuit circuit = random_circuit(2);
  OnDevice device(circuit);
  const auto memory = device.circuit_memory.bytes();
  EXPECT_EQ(upload(device.tables, memory.first(memory.size - 1), device.stream).error().code, Code::kInternal);
  Witness witness = testing::random_witness(circuit, random);
  const auto room = device.witness_memory.bytes();
  EXPECT_EQ(upload(witness, device.circuit, room.first(room.size - 1), device.stream).error().code, Code::kInternal);
  witness.fields = witness.fields.first(witness.fields.size() - 1);
  EXPECT_EQ(upload(witness, device.circuit, room, device.stream).error().code, Code::kInvalidInput);
}

void check_queries(const Circuit& circuit, const Witness& witness, std::mt19937_64& random) {
  OnDevice device(circuit);
  const DeviceWitness device_witness = device.upload(witness);
  gpu::TestArray<std::byte> scratch(list_scratch_bytes(circuit));
  const std::vector<Fr> all = random_values(circuit.num_inputs + circuit.num_aux, random);
  const gpu::TestArray<device::Fr> device_all = on_device(all);
  for (unsigned q = 0; q < kQueries; q++) {
    const testing::NaiveQuery want = testing::naive_query(circuit, witness, q);
    const size_t ones = want.ones.size();
    for (size_t room : {ones, ones + 3, ones / 2}) {
      std::vector<uint32_t> expected(room, 77);
      gpu::TestArray<uint32_t> list{std::span<const uint32_t>(expected)}, count(1);
      std::copy_n(want.ones.begin(), std::min(room, ones), expected.begin());
      ASSERT_TRUE(list_ones(device.circuit, static_cast<Query>(q), device_witness, list.span(), count.span(),
                            scratch.span(), device.stream));
      ASSERT_TRUE(device.stream.synchronize());
      EXPECT_EQ(list.values(), expected) << q;
      EXPECT_EQ(count.values()[0], ones) << q;
    }
    gpu::TestArray<uint32_t> positions(want.positions.size()), scalars(want.scalars.size());
    ASSERT_TRUE(list_scalars(device.circuit, static_cast<Query>(q), positions.span(), scalars.span(), scratch.span(),
                             device.stream));
    ASSERT_TRUE(device.stream.synchronize());
    EXPECT_EQ(positions.values(), want.positions) << q;
    EXPECT_EQ(scalars.values(), want.scalars) << q;
    gpu::TestArray<device::Fr> kept(want.variables.size());
    ASSERT_TRUE(
        keep_present(device.circuit, static_cast<Query>(q), device_all.span().as_const(), kept.span(), device.stream));
    ASSERT_TRUE(device.stream.synchronize());
    std::vector<Fr> expected;
    for (uint32_t variable : want.variables) expected.push_back(all[variable]);
    EXPECT_EQ(values(kept), expected) << q;
  }
}

TEST(DeviceR1cs, QueriesEqualTheHosts) {
  CUZK_SKIP_WITHOUT_DEVICE();
  auto random = cuzk::testing::rng(202);
  for (uint32_t regions : {0u, 1u, 2u, 10u, 100u}) {
    const Circuit circuit = random_circuit(regions);
    check_queries(circuit, testing::random_witness(circuit, random), random);
  }
}

// Bitmaps around the borders of words, blocks and what a block scans at a time; nothing else of a circuit.
TEST(DeviceR1cs, QueriesOfAnyLength) {
  CUZK_SKIP_WITHOUT_DEVICE();
  auto random = cuzk::testing::rng(203);
  for (uint32_t aux : {0u, 1u, 31u, 32u, 33u, 63u, 64u, 65u, 8191u, 8192u, 8193u, 8192u * 1024 + 1}) {
    Circuit circuit;
    circuit.num_inputs = 1 + static_cast<uint32_t>(random() % 70);
    circuit.num_aux = aux;
    circuit.aux_is_field = circuit.density.a_aux = circuit.density.b_aux = make_bitmap(aux);
    circuit.density.b_inputs = make_bitmap(circuit.num_inputs);
    for (uint32_t i = 0; i < circuit.num_inputs; i += 3) set_bit(circuit.density.b_inputs, i);
    for (size_t word = 0; word < circuit.aux_is_field.size(); word++) {
      const uint64_t mask = aux - 64 * word < 64 ? (uint64_t{1} << (aux % 64)) - 1 : ~uint64_t{0};
      circuit.aux_is_field[word] = random() & random() & random() & random() & mask;
      circuit.density.a_aux[word] = (random() | random() | random()) & mask;
      circuit.density.b_aux[word] = word % 5 == 0 ? 0 : word % 5 == 1 ? mask : random() & random() & mask;
    }
    Witness witness = testing::random_witness(circuit, random);
    check_queries(circuit, witness, random);
    // All bits are 1.
    for (size_t word = 0; word < witness.bits.size(); word++)
      witness.bits[word] =
          ~circuit.aux_is_field[word] & (aux - 64 * word < 64 ? (uint64_t{1} << (aux % 64)) - 1 : ~uint64_t{0});
    check_queries(circuit, witness, random);
  }
}

TEST(DeviceR1cs, ColumnsEqualTheHosts) {
  CUZK_SKIP_WITHOUT_DEVICE();
  auto random = cuzk::testing::rng(204);
  for (uint32_t regions : {0u, 1u, 2u, 10u, 300u}) {
    const Circuit circuit = random_circuit(regions);
    OnDevice device(circuit);
    const std::vector<Fr> row_values = random_values(circuit.num_constraints + circuit.num_inputs, random);
    const gpu::TestArray<device::Fr> in = on_device(row_values);
    gpu::TestArray<std::byte> scratch(column_sums_scratch_bytes(device.columns));
    for (unsigned m = 0; m < 3; m++) {
      gpu::TestArray<device::Fr> out = on_device(random_values(circuit.num_inputs + circuit.num_aux, random));
      ASSERT_TRUE(column_sums(device.circuit, device.columns, m, in.span().as_const(), out.span(), scratch.span(),
                              device.stream));
      ASSERT_TRUE(device.stream.synchronize());
      EXPECT_EQ(values(out), testing::naive_columns(circuit, m, row_values)) << regions << " " << m;
    }
    EXPECT_EQ(column_sums(device.circuit, device.columns, 0, in.span().first(1).as_const(), {}, {}, device.stream)
                  .error()
                  .code,
              Code::kInternal);
  }
}

TEST(DeviceR1cs, LagrangeValuesFollowTheFormula) {
  CUZK_SKIP_WITHOUT_DEVICE();
  auto random = cuzk::testing::rng(205);
  auto stream = gpu::Stream::make(0).value();
  for (auto [log2_size, count] :
       {std::pair{0u, 0u}, {0u, 1u}, {1u, 2u}, {7u, 127u}, {7u, 128u}, {8u, 129u}, {17u, 100003u}}) {
    const Fr tau = cuzk::testing::random_field<Fr>(random), root = fr_root_of_unity(log2_size);
    const uint64_t size = uint64_t{1} << log2_size;
    gpu::TestArray<device::Fr> out(count);
    ASSERT_TRUE(lagrange_at(tau, log2_size, out.span(), stream));
    ASSERT_TRUE(stream.synchronize());
    const std::vector<Fr> got = values(out);
    for (uint32_t q = 0; q < count; q++) {
      const Fr point = root.pow(q);
      ASSERT_EQ(got[q] * Fr::from_u64(size) * (tau - point), point * (tau.pow(size) - Fr::one())) << q;
    }
  }
  gpu::TestArray<device::Fr> out(3);
  EXPECT_EQ(lagrange_at(fr_root_of_unity(3), 4, out.span(), stream).error().code, Code::kInvalidInput);
  EXPECT_EQ(lagrange_at(Fr::from_u64(5), 1, out.span(), stream).error().code, Code::kInternal);
}

TEST(DeviceR1cs, PowersAndCombinations) {
  CUZK_SKIP_WITHOUT_DEVICE();
  auto random = cuzk::testing::rng(206);
  auto stream = gpu::Stream::make(0).value();
  for (size_t count : {0, 1, 127, 128, 129, 40000}) {
    const std::vector<Fr> a = random_values(count, random), b = random_values(count, random),
                          c = random_values(count, random), k = random_values(5, random);
    const gpu::TestArray<device::Fr> in_a = on_device(a), in_b = on_device(b), in_c = on_device(c), out(count);
    ASSERT_TRUE(powers(k[0], k[1], out.span(), stream));
    ASSERT_TRUE(combine(k[2], k[3], k[4], in_a.span().as_const(), in_b.span().as_const(), in_c.span(), stream));
    ASSERT_TRUE(stream.synchronize());
    std::vector<Fr> want_powers(count), want_c(count);
    for (size_t i = 0; i < count; i++) {
      want_powers[i] = i == 0 ? k[0] : want_powers[i - 1] * k[1];
      want_c[i] = (k[3] * a[i] + k[2] * b[i] + c[i]) * k[4];
    }
    EXPECT_EQ(values(out), want_powers);
    EXPECT_EQ(values(in_c), want_c);
  }
}

}  // namespace
}  // namespace cuzk::r1cs
