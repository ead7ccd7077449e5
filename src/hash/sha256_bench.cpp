#include <benchmark/benchmark.h>

#include "hash/blake2.h"
#include "hash/sha256.h"

namespace cuzk::hash {
namespace {

void compress(benchmark::State& state) {
  const auto kernels = sha256_kernels();
  const auto index = static_cast<size_t>(state.range(0));
  if (index >= kernels.size()) return state.SkipWithError("this machine has no such kernel");
  state.SetLabel(kernels[index].name);
  const Bytes blocks(64 * 64, 0x5a);
  Sha256State hash = kSha256Initial;
  for (auto _ : state) kernels[index].compress(hash, blocks.data(), 64);
  benchmark::DoNotOptimize(hash);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(blocks.size()));
}
BENCHMARK(compress)->Arg(0)->Arg(1);

void tree_node(benchmark::State& state) {
  Bytes32 node{};
  for (auto _ : state) node = sha256_node(node, node);
  benchmark::DoNotOptimize(node);
}
BENCHMARK(tree_node);

void label(benchmark::State& state) {  // 1,248 bytes: a node's label
  Bytes message(1248);
  for (auto _ : state) message[0] = sha256_fr(message)[0];
}
BENCHMARK(label);

void blake2b_16_bytes(benchmark::State& state) {  // a round of the expander permutation
  Bytes message(16);
  for (auto _ : state) message[0] = blake2b_512(message)[0];
}
BENCHMARK(blake2b_16_bytes);

}  // namespace
}  // namespace cuzk::hash
