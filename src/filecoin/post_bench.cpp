// The 32 GiB WindowPoSt circuit: reading and checking a sector's vanilla proof, compiling the circuit, and a witness of
// some of its 2,349 sectors. One core.

#include <benchmark/benchmark.h>

#include "filecoin/post_circuit.h"
#include "filecoin/post_synthetic.h"
#include "r1cs/testing.h"

namespace cuzk::filecoin {
namespace {

constexpr uint64_t kSector = uint64_t{32} << 30;
constexpr unsigned kSectors = 8;

struct Fixture {
  exec::Pool pool{1};
  PostShape shape = post_shape(PostKind::kWindow, kSector).value();
  PostInput input =
      synthetic_post(post_proof(PostKind::kWindow, kSector, ApiVersion::kV1_2).value(), kSectors, 1, pool).value();
};
Fixture& fixture() {
  static Fixture instance;
  return instance;
}

void read(benchmark::State& state) {
  const PostSectorProof& proof = fixture().input.sectors[0];
  const Bytes bytes = write_post_proof(proof, fixture().shape);
  for (auto _ : state) {
    if (read_post_proof(bytes, fixture().shape) != proof) state.SkipWithError("another proof");
  }
}
BENCHMARK(read)->Unit(benchmark::kMicrosecond);

void check(benchmark::State& state) {
  Fixture& f = fixture();
  const PostStatement statement = f.input.statement();
  for (auto _ : state) {
    if (!check_post(f.shape, f.input.proof.api, statement, f.input.sectors, f.pool)) state.SkipWithError("refused");
  }
  state.SetItemsProcessed(state.iterations() * kSectors);
}
BENCHMARK(check)->Unit(benchmark::kMillisecond);

void compile(benchmark::State& state) {
  for (auto _ : state) {
    r1cs::Circuit circuit = compile_post(fixture().shape);
    if (circuit.num_constraints != 125279217) state.SkipWithError("not the official circuit");
    state.counters["MiB"] = static_cast<double>(circuit.bytes()) / (1 << 20);
    state.counters["instances"] = static_cast<double>(circuit.instances.size());
  }
}
BENCHMARK(compile)->Unit(benchmark::kMillisecond);

void witness(benchmark::State& state) {
  Fixture& f = fixture();
  PostShape shape = f.shape;
  shape.sectors = kSectors;
  const r1cs::Circuit circuit = compile_post(shape);
  for (auto _ : state) {
    const r1cs::Witness made = r1cs::testing::make_witness(circuit);
    if (Status assigned = assign_post(circuit, shape, f.input.sectors, f.pool, made); !assigned)
      state.SkipWithError(assigned.error().message.c_str());
    state.PauseTiming();
    if (r1cs::first_unsatisfied(r1cs::WitnessView(circuit, made), f.pool) != circuit.num_constraints) {
      state.SkipWithError("a row does not hold");
    }
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kSectors);
}
BENCHMARK(witness)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cuzk::filecoin
