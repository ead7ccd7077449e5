// The 32 GiB PoRep circuit: checking a sector's vanilla proof, compiling the circuit, one partition's packed witness,
// and the evaluation of a and b, on one core; and a whole 2 KiB proof.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>

#include "filecoin/check.h"
#include "filecoin/porep_circuit.h"
#include "filecoin/public_inputs.h"
#include "filecoin/synthetic.h"
#include "groth16/files.h"
#include "groth16/prove.h"
#include "groth16/setup.h"
#include "groth16/verify.h"
#include "r1cs/testing.h"

namespace cuzk::filecoin {
namespace {

constexpr uint64_t kSector = uint64_t{32} << 30;

// Made once; every benchmark below checks its result against it.
struct Fixture {
  PorepShape shape = porep_shape(kSector).value();
  r1cs::Circuit circuit = compile_porep(shape);
  PorepValues values;
  r1cs::Witness witness = r1cs::testing::make_witness(circuit);

  Fixture() {
    exec::Pool pool;
    values = porep_values(shape, synthetic_porep(kSector, 1, pool).value(), 0).value();
    valid = assign_porep(circuit, shape, values, witness) &&
            r1cs::first_unsatisfied(r1cs::WitnessView(circuit, witness), pool) == circuit.num_constraints;
  }
  bool valid;
};
const Fixture& fixture() {
  static const Fixture instance;
  return instance;
}

void check(benchmark::State& state) {
  exec::Pool pool(1);
  const SealCommit commit = synthetic_porep(kSector, 1, pool).value();
  for (auto _ : state) {
    if (!check_vanilla(commit, pool)) state.SkipWithError("refused");
  }
  state.SetItemsProcessed(state.iterations() * 180);  // challenges
}
BENCHMARK(check)->Unit(benchmark::kMillisecond);

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
    const r1cs::Witness made = r1cs::testing::make_witness(fixture().circuit);
    const Status assigned = assign_porep(fixture().circuit, fixture().shape, fixture().values, made);
    if (!assigned || !std::ranges::equal(made.fields, fixture().witness.fields)) state.SkipWithError("another witness");
    state.counters["MiB"] = static_cast<double>(r1cs::witness_bytes(fixture().circuit)) / (1 << 20);
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

// A 2 KiB sector from vanilla proof to verified proof, on every core. Parameters are made for it: some 20 s.
void prove_2kib(benchmark::State& state) {
  exec::Pool pool;
  const PorepShape shape = porep_shape(2048).value();
  const r1cs::Circuit circuit = compile_porep(shape);
  const SealCommit commit = synthetic_porep(2048, 1, pool).value();
  const auto path = std::filesystem::temp_directory_path() / fmt::format("cuzk-bench-{}.params", ::getpid());
  auto vk = groth16::setup(circuit, groth16::toxic_from_seed(1), path, pool);
  groth16::LoadOptions options;
  options.check = groth16::Check::kCanonical;
  options.remember = false;
  auto loaded = groth16::load_params(path, groth16::lengths_of(circuit), options, pool);
  std::filesystem::remove(path);
  if (!vk || !loaded) return state.SkipWithError("no parameters");
  const auto key = groth16::prepare(*vk);
  const PorepStatement statement{commit.replica_id, commit.comm_d, commit.comm_r, commit.seed};
  const auto inputs = porep_public_inputs(seal_proof(commit.registered_proof).value(), statement, 0).value();
  for (auto _ : state) {
    const r1cs::Witness witness = r1cs::testing::make_witness(circuit);
    if (!assign_porep(circuit, shape, porep_values(shape, commit, 0).value(), witness))
      return state.SkipWithError("no witness");
    auto room = mem::unbudgeted(groth16::start_bytes(circuit, pool.threads()));
    auto proof =
        groth16::prove(circuit, loaded->parameters, witness, Fr::from_u64(3), Fr::from_u64(5), std::move(room), pool);
    if (!proof || !groth16::verify(key, inputs, *proof, pool).value()) return state.SkipWithError("no valid proof");
  }
}
BENCHMARK(prove_2kib)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cuzk::filecoin
