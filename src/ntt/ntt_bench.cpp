// Transforms by size and threads; each result is checked at one point before it is timed.
#include <benchmark/benchmark.h>

#include "base/testing.h"
#include "ntt/ntt.h"

namespace cuzk::ntt {
namespace {

template <auto kTransform>
void run(benchmark::State& state) {
  exec::Pool pool(static_cast<size_t>(state.range(1)));
  const Domain domain(static_cast<unsigned>(state.range(0)), pool);
  auto random = testing::rng();
  std::vector<Fr> data(domain.size());
  for (Fr& value : data) value = Fr::from_raw({random(), random(), random(), random() >> 2});

  auto values = data;
  bit_reverse(values, pool);
  coset_forward_from_reversed(domain, values, pool);
  const Fr x = Fr::from_u64(7) * domain.root().pow(3);
  Fr want;
  for (size_t i = data.size(); i-- > 0;) want = want * x + data[i];
  if (values[3] != want) return state.SkipWithError("wrong value");

  for (auto _ : state) kTransform(domain, data, pool);
  state.counters["table_bytes"] = static_cast<double>(domain.bytes());
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"log2", "threads"})->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();
  for (int64_t threads : {1, 2}) {
    for (int64_t log2_size = 18; log2_size <= 22; log2_size += 2) bench->Args({log2_size, threads});
  }
}

BENCHMARK(run<&forward>)->Name("ntt/forward")->Apply(sizes);
BENCHMARK(run<&inverse_to_reversed>)->Name("ntt/inverse_to_reversed")->Apply(sizes);
BENCHMARK(run<&coset_forward_from_reversed>)->Name("ntt/coset_forward_from_reversed")->Apply(sizes);

}  // namespace
}  // namespace cuzk::ntt
