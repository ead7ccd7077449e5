// The 32 GiB circuits on the device: rows, lists of ones, and the QAP. Witnesses are random, which costs the same.

#include <benchmark/benchmark.h>

#include <random>

#include "exec/pool.h"
#include "filecoin/circuits.h"
#include "gpu/launch.cuh"
#include "gpu/memory.h"
#include "r1cs/bitmap.h"
#include "r1cs/cuda/qap.h"
#include "r1cs/cuda/query.h"
#include "r1cs/testing.h"

namespace cuzk::filecoin {
namespace {

gpu::DeviceMemory allocate(uint64_t bytes) {
  mem::Budget budget({{"gpu", bytes}});
  return gpu::DeviceMemory::make(0, budget.reserve({0, bytes}).value()).value();
}

struct Elements {
  explicit Elements(size_t size) : memory(allocate(size * sizeof(device::Fr))) {}
  gpu::DeviceSpan<device::Fr> span() const { return memory.bytes().as<device::Fr>(); }
  gpu::DeviceMemory memory;
};

r1cs::Witness random_witness(const r1cs::Circuit& circuit, exec::Pool& pool) {
  r1cs::Witness out = r1cs::testing::make_witness(circuit);
  auto fill = [&](std::span<Fr> elements) {
    pool.for_each_chunk(elements.size(), size_t{1} << 16, [&](size_t begin, size_t end) {
      std::mt19937_64 random(begin);
      for (size_t i = begin; i < end; i++) elements[i] = Fr::from_raw({random(), random(), random(), random() >> 2});
    });
  };
  fill(out.inputs.subspan(1));
  fill(out.fields);
  std::mt19937_64 random;
  for (size_t word = 0; word < out.bits.size(); word++) out.bits[word] = random() & ~circuit.aux_is_field[word];
  if (circuit.num_aux % 64 != 0) out.bits.back() &= (uint64_t{1} << (circuit.num_aux % 64)) - 1;
  return out;
}

// A circuit and a witness on host and device.
struct Fixture {
  explicit Fixture(const char* kind)
      : circuit(compile_circuit(kind, uint64_t{32} << 30).value()),
        witness(random_witness(circuit, pool)),
        tables(r1cs::make_circuit_tables(circuit)),
        circuit_memory(allocate(table_bytes(tables))),
        witness_memory(allocate(r1cs::device_witness_bytes(circuit))),
        on_device(upload(tables, circuit_memory.bytes(), stream).value()),
        values(upload(witness, on_device, witness_memory.bytes(), stream).value()) {}

  exec::Pool pool;
  r1cs::Circuit circuit;
  r1cs::Witness witness;
  r1cs::CircuitTables<r1cs::HostArray> tables;
  gpu::Stream stream = gpu::Stream::make(0).value();
  gpu::DeviceMemory circuit_memory, witness_memory;
  r1cs::DeviceCircuit on_device;
  r1cs::DeviceWitness values;
};
const Fixture& porep() {
  static const Fixture instance("porep");
  return instance;
}

// Times `work` by the device's clock.
template <class Work>
void measure(benchmark::State& state, const gpu::Stream& stream, Work&& work) {
  const gpu::Event before = gpu::Event::make(0).value(), after = gpu::Event::make(0).value();
  for (auto _ : state) {
    Status status = before.record(stream);
    if (status) status = work();
    if (status) status = after.record(stream);
    if (status) status = after.synchronize();
    if (!status) return state.SkipWithError(status.error().message.c_str());
    state.SetIterationTime(after.seconds_since(before).value());
  }
}

std::vector<device::Fr> download(const gpu::Stream& stream, gpu::DeviceSpan<const device::Fr> from) {
  std::vector<device::Fr> out(from.size);
  if (!stream.download(std::span(out), from) || !stream.synchronize()) out.clear();
  return out;
}

void evaluate_rows(benchmark::State& state, const Fixture& f) {
  const size_t domain = size_t{1} << r1cs::log2_domain(f.circuit), rows = f.circuit.num_constraints;
  const Elements a(domain), b(domain);
  measure(state, f.stream, [&] { return r1cs::evaluate(f.on_device, f.values, a.span(), b.span(), f.stream); });
  const r1cs::WitnessView view(f.circuit, f.witness);
  constexpr size_t kSample = 30000;
  for (size_t begin = 0; begin < rows; begin += rows / 40) {
    const size_t count = std::min(kSample, rows - begin);
    std::vector<Fr> want_a(count), want_b(count);
    r1cs::evaluate(view, static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + count), want_a, want_b, {});
    const auto got_a = download(f.stream, a.span().subspan(begin, count).as_const());
    const auto got_b = download(f.stream, b.span().subspan(begin, count).as_const());
    for (size_t i = 0; i < count; i++) {
      if (got_a.at(i).to_host() != want_a[i] || got_b.at(i).to_host() != want_b[i])
        return state.SkipWithError("not the host's rows");
    }
  }
  state.counters["circuit_MiB"] = static_cast<double>(table_bytes(f.tables)) / (1 << 20);
  state.counters["GB/s"] = benchmark::Counter(2e-9 * static_cast<double>(domain * sizeof(Fr)),
                                              benchmark::Counter::kIsIterationInvariantRate);
}
void evaluate_porep(benchmark::State& state) { evaluate_rows(state, porep()); }
BENCHMARK(evaluate_porep)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(10);
void evaluate_window(benchmark::State& state) { evaluate_rows(state, Fixture("window")); }
BENCHMARK(evaluate_window)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(5);

void list_ones(benchmark::State& state) {
  const Fixture& f = porep();
  const size_t query = static_cast<size_t>(state.range(0));
  const r1cs::QueryTables<r1cs::HostArray>& tables = f.tables.queries[query];
  const gpu::DeviceMemory list = allocate(tables.num_bits * sizeof(uint32_t)), count = allocate(sizeof(uint32_t)),
                          scratch = allocate(r1cs::list_scratch_bytes(f.circuit));
  measure(state, f.stream, [&] {
    return r1cs::list_ones(f.on_device, static_cast<r1cs::Query>(query), f.values, list.bytes().as<uint32_t>(),
                           count.bytes().as<uint32_t>(), scratch.bytes(), f.stream);
  });
  uint32_t ones = 0;
  (void)f.stream.download(std::span(&ones, 1), count.bytes().as<uint32_t>().as_const());
  std::vector<uint32_t> positions(ones);
  (void)f.stream.download(std::span(positions), list.bytes().as<uint32_t>().first(ones).as_const());
  if (!f.stream.synchronize() || ones < tables.num_bits / 3 || positions.back() >= tables.num_positions ||
      std::adjacent_find(positions.begin(), positions.end(), std::greater_equal<>()) != positions.end())
    state.SkipWithError("not a list of positions");
  state.counters["ones"] = static_cast<double>(ones);
}
BENCHMARK(list_ones)->DenseRange(0, 2)->UseManualTime()->Unit(benchmark::kMillisecond);

void list_scalars(benchmark::State& state) {
  const Fixture& f = porep();
  const size_t query = static_cast<size_t>(state.range(0)), count = f.tables.queries[query].num_scalars;
  const gpu::DeviceMemory positions = allocate(count * sizeof(uint32_t)), scalars = allocate(count * sizeof(uint32_t)),
                          scratch = allocate(r1cs::list_scratch_bytes(f.circuit));
  measure(state, f.stream, [&] {
    return r1cs::list_scalars(f.on_device, static_cast<r1cs::Query>(query), positions.bytes().as<uint32_t>(),
                              scalars.bytes().as<uint32_t>(), scratch.bytes(), f.stream);
  });
  state.counters["scalars"] = static_cast<double>(count);
}
BENCHMARK(list_scalars)->DenseRange(0, 2)->UseManualTime()->Unit(benchmark::kMillisecond);

void upload_witness(benchmark::State& state) {
  const Fixture& f = porep();
  measure(state, f.stream, [&]() -> Status {
    CUZK_TRY(upload(f.witness, f.on_device, f.witness_memory.bytes(), f.stream));
    return {};
  });
}
BENCHMARK(upload_witness)->UseManualTime()->Unit(benchmark::kMillisecond);

void make_tables(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(r1cs::make_circuit_tables(porep().circuit));
}
BENCHMARK(make_tables)->Unit(benchmark::kMillisecond)->Iterations(2);

constexpr unsigned kDotThreads = 1 << 17;
__global__ void dot_pieces(gpu::DeviceSpan<const device::Fr> x, gpu::DeviceSpan<const device::Fr> y, device::Fr* out) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  device::Fr sum = device::Fr::zero();
  for (size_t i = thread; i < x.size; i += kDotThreads) sum += x.data[i] * y.data[i];
  out[thread] = sum;
}
// sum x_i y_i
Fr dot(const gpu::Stream& stream, gpu::DeviceSpan<const device::Fr> x, gpu::DeviceSpan<const device::Fr> y) {
  const Elements pieces(kDotThreads);
  if (!gpu::launch(stream, dot_pieces, kDotThreads / 256, 256, 0, x, y, pieces.span().data)) return {};
  Fr sum;
  for (const device::Fr& piece : download(stream, pieces.span().as_const())) sum += piece.to_host();
  return sum;
}

// The steps of development parameters. The columns A and B times the witness must be the rows a and b times the
// Lagrange values.
struct Qap {
  const Fixture& f = porep();
  const size_t rows = f.circuit.num_constraints + f.circuit.num_inputs;
  const size_t variables = f.circuit.num_inputs + f.circuit.num_aux;
  r1cs::ColumnTables<r1cs::HostArray> tables = r1cs::make_column_tables(f.circuit);
  gpu::DeviceMemory memory = allocate(table_bytes(tables));
  r1cs::DeviceColumns columns = upload(tables, memory.bytes(), f.stream).value();
  gpu::DeviceMemory scratch = allocate(r1cs::column_sums_scratch_bytes(tables));
  Elements lagrange{rows}, sums{variables};
  Fr tau = Fr::from_u64(0x1234567).pow(77);
  Qap() { (void)r1cs::lagrange_at(tau, r1cs::log2_domain(f.circuit), lagrange.span(), f.stream); }
};
const Qap& qap() {
  static const Qap instance;
  return instance;
}

void lagrange(benchmark::State& state) {
  const Qap& q = qap();
  measure(state, q.f.stream,
          [&] { return r1cs::lagrange_at(q.tau, r1cs::log2_domain(q.f.circuit), q.lagrange.span(), q.f.stream); });
}
BENCHMARK(lagrange)->UseManualTime()->Unit(benchmark::kMillisecond);

void columns(benchmark::State& state) {
  const Qap& q = qap();
  const Fixture& f = q.f;
  const unsigned m = static_cast<unsigned>(state.range(0));
  measure(state, f.stream, [&] {
    return r1cs::column_sums(f.on_device, q.columns, m, q.lagrange.span().as_const(), q.sums.span(), q.scratch.bytes(),
                             f.stream);
  });
  state.counters["tables_MiB"] = static_cast<double>(table_bytes(q.tables)) / (1 << 20);
  if (m == 2) return;  // c is not evaluated
  const Elements a(q.rows), b(q.rows);
  if (!r1cs::evaluate(f.on_device, f.values, a.span(), b.span(), f.stream)) return state.SkipWithError("no rows");
  const Fr want = dot(f.stream, q.lagrange.span().as_const(), (m == 0 ? a : b).span().as_const());
  const r1cs::WitnessView view(f.circuit, f.witness);
  std::vector<device::Fr> all(q.variables);
  exec::Pool pool;
  pool.for_each_chunk(all.size(), size_t{1} << 16, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) {
      const uint32_t index = static_cast<uint32_t>(i), inputs = f.circuit.num_inputs;
      all[i] =
          device::Fr::from_host(view.value(index < inputs ? r1cs::Var::input(index) : r1cs::Var::aux(index - inputs)));
    }
  });
  const Elements z(q.variables);
  if (!f.stream.upload(z.span(), std::span<const device::Fr>(all)) ||
      dot(f.stream, z.span().as_const(), q.sums.span().as_const()) != want)
    state.SkipWithError("columns and rows disagree");
}
BENCHMARK(columns)->DenseRange(0, 2)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(3);

void combine(benchmark::State& state) {
  const Qap& q = qap();
  const Elements a(q.variables), b(q.variables);
  measure(state, q.f.stream, [&] {
    return r1cs::combine(q.tau, q.tau, q.tau, a.span().as_const(), b.span().as_const(), q.sums.span(), q.f.stream);
  });
}
BENCHMARK(combine)->UseManualTime()->Unit(benchmark::kMillisecond);

void keep_present(benchmark::State& state) {
  const Qap& q = qap();
  const Elements out(q.f.tables.queries[1].num_positions);
  measure(state, q.f.stream, [&] {
    return r1cs::keep_present(q.f.on_device, r1cs::Query::kA, q.sums.span().as_const(), out.span(), q.f.stream);
  });
}
BENCHMARK(keep_present)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cuzk::filecoin
