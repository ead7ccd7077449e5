#include <benchmark/benchmark.h>

#include "base/testing.h"
#include "hash/poseidon.h"

namespace cuzk::hash {
namespace {

void native_hash(benchmark::State& state) {
  auto random = testing::rng();
  std::vector<Fr> preimage(static_cast<size_t>(state.range(0)));
  for (Fr& x : preimage) x = testing::random_field<Fr>(random);
  for (auto _ : state) preimage[0] = poseidon(preimage);
  benchmark::DoNotOptimize(preimage[0]);
}
BENCHMARK(native_hash)->Arg(2)->Arg(4)->Arg(8)->Arg(11)->Unit(benchmark::kMicrosecond);

void round_constants(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(poseidon_round_constants(11));
}
BENCHMARK(round_constants)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cuzk::hash
