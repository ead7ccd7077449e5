#include <benchmark/benchmark.h>

#include "filecoin/challenges.h"
#include "filecoin/graph.h"
#include "filecoin/labels.h"

namespace cuzk::filecoin {
namespace {

const Graph& graph_32gib() {
  static const Graph graph(uint64_t{1} << 30, ApiVersion::kV1_1, registered_proof("StackedDrg32GiBV1_1")->porep_id);
  return graph;
}

void drg_parents(benchmark::State& state) {
  uint64_t node = 1'000'000'000;
  for (auto _ : state) benchmark::DoNotOptimize(graph_32gib().drg_parents(node++));
}
BENCHMARK(drg_parents);

void expander_parents(benchmark::State& state) {
  uint64_t node = 1'000'000'000;
  for (auto _ : state) benchmark::DoNotOptimize(graph_32gib().expander_parents(node++));
}
BENCHMARK(expander_parents);

void synthetic_challenges(benchmark::State& state) {
  const SyntheticChallenges challenges(uint64_t{1} << 30, {}, {});
  for (auto _ : state) benchmark::DoNotOptimize(challenges.generate(0, challenges.size()));
}
BENCHMARK(synthetic_challenges)->Unit(benchmark::kMillisecond);

void labels(benchmark::State& state) {  // two layers of a 64 KiB graph: half of them with 14 parents
  const Graph graph(2048, ApiVersion::kV1_1, {});
  for (auto _ : state) benchmark::DoNotOptimize(label_sector(graph, 2, {}));
  state.SetItemsProcessed(state.iterations() * 2 * 2048);
}
BENCHMARK(labels)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cuzk::filecoin
