// The 32 GiB PoRep circuit: compiling it, one partition's packed witness, and the evaluation of a and b. One core.

#include <benchmark/benchmark.h>

#include "filecoin/porep_circuit.h"
#include "filecoin/synthetic.h"

namespace cuzk::filecoin {
namespace {

constexpr uint64_t kSector = uint64_t{32} << 30;

// Made once; every benchmark below checks its result against it.
struct Fixture {
  PorepShape shape = porep_shape(kSector).value();
  r1cs::Circuit circuit = compile_porep(shape);
  PorepValues values;
  r1cs::Witness witness;

  Fixture() {
    exec::Pool pool;
    values = porep_values(shape, synthetic_porep(kSector, 1, pool).value(), 0).value();
    witness = assign_porep(circuit, shape, values).value();
    valid = r1cs::first_unsatisfied(r1cs::WitnessView(circuit, witness), pool) == circuit.num_constraints;
  }
  bool valid;
};
const Fixture& fixture() {
  static const Fixture instance;
  return instance;
}

void compile(benchmark::State& state) {
  const PorepShape& shape = fixture().shape;
  for (auto _ : state) {
    r1cs::Circuit circuit = compile_porep(shape);
    if (circuit.num_constraints != 130278541) state.SkipWithError("not the official circuit");
    state.counters["MiB"] = static_cast<double>(circuit.bytes()) / (1 << 20);
  }
}
BENCHMARK(compile)->Unit(benchmark::kMillisecond);

void witness(benchmark::State& state) {
  if (!fixture().valid) state.SkipWithError("a row does not hold");
  for (auto _ : state) {
    auto made = assign_porep(fixture().circuit, fixture().shape, fixture().values);
    if (!made || made->fields != fixture().witness.fields) state.SkipWithError("another witness");
    state.counters["MiB"] = static_cast<double>(made->bytes()) / (1 << 20);
  }
}
BENCHMARK(witness)->Unit(benchmark::kMillisecond);

// One SHA-256 instance after another, as the prover takes them: 64 Ki rows a call.
void evaluate(benchmark::State& state) {
  const r1cs::WitnessView view(fixture().circuit, fixture().witness);
  constexpr uint32_t kRows = 1 << 16;
  std::vector<Fr> a(kRows), b(kRows), c(kRows);
  r1cs::evaluate(view, 0, kRows, a, b, c);
  for (uint32_t i = 0; i < kRows; i++) {
    if (a[i] * b[i] != c[i]) state.SkipWithError("a row does not hold");
  }
  uint32_t begin = 0;
  for (auto _ : state) {
    r1cs::evaluate(view, begin, begin + kRows, a, b, {});
    begin = (begin + kRows) % (fixture().circuit.num_constraints - kRows);
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * kRows);
}
BENCHMARK(evaluate)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cuzk::filecoin
