#include "groth16/cuda/prover/setup.h"

#include "r1cs/cuda/qap.h"
#include "r1cs/cuda/query.h"

namespace cuzk::groth16 {
namespace {

using gpu::DeviceCarver;
using gpu::DeviceSpan;

// The arrays of setup_on_device. Those that are used up give their place to later ones.
struct Workspace {
  DeviceSpan<std::byte> circuit, columns, scratch;
  DeviceSpan<device::Fr> row_values, a, b, c;
  DeviceSpan<std::byte> points;

  Workspace(DeviceCarver& carver, const r1cs::Circuit& circuit_, const r1cs::CircuitTables<r1cs::HostArray>& tables,
            const r1cs::ColumnTables<r1cs::HostArray>& column_tables, const gpu::DeviceInfo& device) {
    const uint64_t variables = uint64_t{circuit_.num_inputs} + circuit_.num_aux,
                   rows = uint64_t{circuit_.num_constraints} + circuit_.num_inputs;
    circuit = carver.take<std::byte>(r1cs::table_bytes(tables));
    columns = carver.take<std::byte>(r1cs::table_bytes(column_tables));
    scratch = carver.take<std::byte>(r1cs::column_sums_scratch_bytes(column_tables));
    row_values = carver.take<device::Fr>(std::max(rows, variables));
    for (auto* values : {&a, &b, &c}) *values = carver.take<device::Fr>(variables);
    row_values.size = rows;
    points = carver.take<std::byte>(device_setup_bytes(lengths_of(circuit_), device));
  }
};

}  // namespace

uint64_t setup_on_device_bytes(const r1cs::Circuit& circuit, const gpu::DeviceInfo& device) {
  DeviceCarver counter;
  Workspace(counter, circuit, r1cs::make_circuit_tables(circuit), r1cs::make_column_tables(circuit), device);
  return counter.bytes();
}

Result<DeviceParameters> setup_on_device(const r1cs::Circuit& circuit, const Toxic& toxic,
                                         const gpu::DeviceInfo& device, gpu::DeviceMemory memory,
                                         DeviceSpan<std::byte> workspace) {
  const auto tables = r1cs::make_circuit_tables(circuit);
  const auto column_tables = r1cs::make_column_tables(circuit);
  DeviceCarver carver(workspace);
  Workspace at(carver, circuit, tables, column_tables, device);
  if (carver.bytes() > workspace.size)
    return fail(Code::kInternal, "{} bytes of workspace, {} are needed", workspace.size, carver.bytes());
  CUZK_TRY_ASSIGN(const gpu::Stream stream, gpu::Stream::make(device.ordinal));
  CUZK_TRY_ASSIGN(const r1cs::DeviceCircuit on_device, r1cs::upload(tables, at.circuit, stream));
  CUZK_TRY_ASSIGN(const r1cs::DeviceColumns columns, r1cs::upload(column_tables, at.columns, stream));

  // A_i(tau), B_i(tau), C_i(tau).
  CUZK_TRY(r1cs::lagrange_at(toxic.tau, r1cs::log2_domain(circuit), at.row_values, stream));
  const std::array values = {at.a, at.b, at.c};
  for (unsigned m = 0; m < 3; m++)
    CUZK_TRY(r1cs::column_sums(on_device, columns, m, at.row_values.as_const(), values[m], at.scratch, stream));

  // ic and l, in the place of C.
  const size_t inputs = circuit.num_inputs, aux = circuit.num_aux;
  const auto combine = [&](size_t begin, size_t count, const Fr& secret) {
    return r1cs::combine(toxic.alpha, toxic.beta, secret.inverse(), at.a.subspan(begin, count).as_const(),
                         at.b.subspan(begin, count).as_const(), at.c.subspan(begin, count), stream);
  };
  CUZK_TRY(combine(0, inputs, toxic.gamma));
  CUZK_TRY(combine(inputs, aux, toxic.delta));
  std::vector<Fr> ic(inputs);
  CUZK_TRY(stream.download(std::span(ic), at.c.first(inputs).as<const Fr>()));
  // a in the place of the row values, b in that of A.
  const Lengths lengths = lengths_of(circuit);
  const auto a = DeviceSpan<device::Fr>{at.row_values.data, lengths.a}, b = at.a.first(lengths.b_g1);
  CUZK_TRY(r1cs::keep_present(on_device, r1cs::Query::kA, at.a.as_const(), a, stream));
  CUZK_TRY(r1cs::keep_present(on_device, r1cs::Query::kB, at.b.as_const(), b, stream));
  CUZK_TRY(stream.synchronize());
  return device_setup(toxic, lengths.h,
                      {.ic = ic, .l = at.c.subspan(inputs, aux).as_const(), .a = a.as_const(), .b = b.as_const()},
                      device, std::move(memory), at.points);
}

}  // namespace cuzk::groth16
