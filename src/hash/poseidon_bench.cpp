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

// Many preimages and the variables of their hashes, as the circuits' witnesses need them.
void variables(benchmark::State& state) {
  const auto arity = static_cast<unsigned>(state.range(0));
  const auto index = static_cast<size_t>(state.range(1));
  if (index >= kernels_available().size()) return state.SkipWithError("this machine has no such kernels");
  state.SetLabel(std::string(kernels_available()[index]->name));
  const Poseidon hasher(arity, *kernels_available()[index]);
  auto random = testing::rng();
  constexpr size_t kCount = 8;
  std::vector<Fr> preimages(kCount * arity), out(kCount * hasher.variables()), digests(kCount);
  for (Fr& x : preimages) x = testing::random_field<Fr>(random);
  std::vector<const Fr*> inputs;
  std::vector<Fr*> outputs;
  for (size_t i = 0; i < kCount; i++) {
    inputs.push_back(&preimages[i * arity]);
    outputs.push_back(&out[i * hasher.variables()]);
  }
  for (auto _ : state) hasher.hash(merkle_tag(arity), inputs, outputs, digests);
  for (size_t i = 0; i < kCount; i++) {
    if (digests[i] != poseidon(std::span(inputs[i], arity))) state.SkipWithError("another digest");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kCount));
}
BENCHMARK(variables)->ArgsProduct({{2, 8, 11}, {0, 1, 2}})->Unit(benchmark::kMicrosecond);

void round_constants(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(poseidon_round_constants(11));
}
BENCHMARK(round_constants)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cuzk::hash
