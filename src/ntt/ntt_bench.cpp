// Transforms by size and threads; each result is checked at one point before it is timed. `butterfly` is the time of
// one of the n/2 log2(n) butterflies.
#include <benchmark/benchmark.h>

#include "base/testing.h"
#include "ntt/ntt.h"

namespace cuzk::ntt {
namespace {

// Whether coefficients in natural order have the value at 3 that `values` says.
bool agree(const Domain& domain, Points points, const std::vector<Fr>& coefficients, const std::vector<Fr>& values) {
  const Fr x = (points == Points::kCoset ? Fr::from_u64(kFrGenerator) : Fr::one()) * domain.root().pow(3);
  Fr want;
  for (size_t i = coefficients.size(); i-- > 0;) want = want * x + coefficients[i];
  return values[3] == want;
}

template <auto kTransform, Points kPoints, bool kFromValues, bool kReversed>
void run(benchmark::State& state) {
  exec::Pool pool(static_cast<size_t>(state.range(1)));
  const Domain domain(static_cast<unsigned>(state.range(0)), pool);
  auto random = testing::rng();
  std::vector<Fr> data(domain.size());
  for (Fr& value : data) value = Fr::from_raw({random(), random(), random(), random() >> 2});

  auto before = data, after = data;
  kTransform(domain, after, pool);
  if (kReversed) bit_reverse(kFromValues ? after : before, pool);
  if (!(kFromValues ? agree(domain, kPoints, after, before) : agree(domain, kPoints, before, after))) {
    return state.SkipWithError("wrong value");
  }

  for (auto _ : state) kTransform(domain, data, pool);
  state.counters["table_bytes"] = static_cast<double>(domain.bytes());
  state.counters["butterfly"] =
      benchmark::Counter(static_cast<double>(domain.size() / 2 * domain.log2_size()),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"log2", "threads"})->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();
  for (int64_t threads : {1, 2}) {
    for (int64_t log2_size = 18; log2_size <= 22; log2_size += 2) bench->Args({log2_size, threads});
  }
}

BENCHMARK(run<&forward, Points::kSubgroup, false, false>)->Name("ntt/forward")->Apply(sizes);
BENCHMARK(run<&inverse_to_reversed, Points::kSubgroup, true, true>)->Name("ntt/inverse_to_reversed")->Apply(sizes);
BENCHMARK(run<&coset_forward_from_reversed, Points::kCoset, false, true>)
    ->Name("ntt/coset_forward_from_reversed")
    ->Apply(sizes);
BENCHMARK(run<&coset_inverse_to_reversed, Points::kCoset, true, true>)
    ->Name("ntt/coset_inverse_to_reversed")
    ->Apply(sizes);

}  // namespace
}  // namespace cuzk::ntt
