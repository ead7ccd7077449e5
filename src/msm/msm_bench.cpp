// Sums and multiples by group, size and threads. The bases are known multiples of the generator, so that every result
// is checked by one scalar multiplication before it is timed. items_per_second counts points.
#include <benchmark/benchmark.h>

#include <bit>

#include "base/testing.h"
#include "msm/fixed_base.h"
#include "msm/msm.h"

namespace cuzk::msm {
namespace {

template <class F>
Xyzz<F> times(const Fr& scalar) {
  const auto limbs = scalar.canonical();
  if constexpr (std::is_same_v<F, Fp>) {
    return scalar_mul(G1::from_affine(g1_generator()), limbs);
  } else {
    return scalar_mul(G2::from_affine(g2_generator()), limbs);
  }
}

std::vector<Fr> random_scalars(size_t count, uint64_t stream) {
  auto random = testing::rng(stream);
  std::vector<Fr> out(count);
  for (Fr& value : out) value = Fr::from_raw({random(), random(), random(), random() >> 2});
  return out;
}

template <class F>
struct Bases {
  std::vector<Fr> logarithms;
  std::vector<Affine<F>> points;

  // Made once a process, for the largest size asked for.
  static const Bases& of(size_t count) {
    static Bases bases;
    if (bases.points.size() < count) {
      exec::Pool pool;
      bases.logarithms = random_scalars(count, 1);
      bases.points.resize(count);
      FixedBase<F>(times<F>(Fr::one()), fixed_base_window_bits(count), pool).mul(bases.logarithms, bases.points, pool);
    }
    return bases;
  }
};

template <class F>
void msm(benchmark::State& state) {
  const size_t count = size_t{1} << state.range(0), threads = static_cast<size_t>(state.range(1));
  const auto& bases = Bases<F>::of(count);
  const std::span points(bases.points.data(), count);
  const auto scalars = random_scalars(count, 2);
  exec::Pool pool(threads);
  const Plan chosen = plan({count, std::is_same_v<F, Fp2>}, threads);
  std::vector<std::byte> workspace(chosen.workspace_bytes);
  Fr want;
  for (size_t i = 0; i < count; i++) want += bases.logarithms[i] * scalars[i];
  if (auto got = run<F>(chosen, points, scalars, workspace, pool); !got || !(*got == times<F>(want))) {
    return state.SkipWithError("wrong sum");
  }
  for (auto _ : state) benchmark::DoNotOptimize(run<F>(chosen, points, scalars, workspace, pool));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(count));
  state.counters["window_bits"] = chosen.window_bits;
  state.counters["workspace"] = static_cast<double>(chosen.workspace_bytes);
}

template <class F>
void selected(benchmark::State& state) {
  const size_t count = size_t{1} << state.range(0), threads = static_cast<size_t>(state.range(1));
  const auto& bases = Bases<F>::of(count);
  const std::span points(bases.points.data(), count);
  auto random = testing::rng(3);
  std::vector<uint64_t> bitmap(count / 64);
  for (uint64_t& word : bitmap) word = random();
  exec::Pool pool(threads);
  std::vector<std::byte> workspace(sum_workspace_bytes<F>(threads));
  Fr want;
  int64_t ones = 0;
  for (size_t i = 0; i < count; i++) {
    if (bitmap[i / 64] >> (i % 64) & 1) want += bases.logarithms[i], ones++;
  }
  if (auto got = sum_selected<F>(points, bitmap, workspace, pool); !got || !(*got == times<F>(want))) {
    return state.SkipWithError("wrong sum");
  }
  for (auto _ : state) benchmark::DoNotOptimize(sum_selected<F>(points, bitmap, workspace, pool));
  state.SetItemsProcessed(state.iterations() * ones);
}

template <class F>
void fixed_base(benchmark::State& state) {
  const size_t count = size_t{1} << state.range(0), threads = static_cast<size_t>(state.range(1));
  const auto scalars = random_scalars(count, 4);
  std::vector<Affine<F>> out(count);
  exec::Pool pool(threads);
  const FixedBase<F> base(times<F>(Fr::one()), 16, pool);
  base.mul(scalars, out, pool);
  if (!(times<F>(scalars[count - 1]) == Xyzz<F>::from_affine(out[count - 1])))
    return state.SkipWithError("wrong point");
  for (auto _ : state) base.mul(scalars, out, pool);
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(count));
}

template <class F>
void fixed_base_tables(benchmark::State& state) {
  exec::Pool pool(static_cast<size_t>(state.range(0)));
  const Xyzz<F> generator = times<F>(Fr::one());
  for (auto _ : state) benchmark::DoNotOptimize(FixedBase<F>(generator, 16, pool).bytes());
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"log2", "threads"})->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();
  for (int64_t threads : {1, 2}) {
    for (int64_t log2_size : {16, 18, 20}) bench->Args({log2_size, threads});
  }
}
void largest(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"log2", "threads"})->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();
  for (int64_t threads : {1, 2}) bench->Args({18, threads});
}

BENCHMARK(msm<Fp>)->Name("msm/g1")->Apply(sizes);
BENCHMARK(msm<Fp2>)->Name("msm/g2")->Apply(sizes);
BENCHMARK(selected<Fp>)->Name("sum_selected/g1")->Apply(largest);
BENCHMARK(selected<Fp2>)->Name("sum_selected/g2")->Apply(largest);
BENCHMARK(fixed_base<Fp>)->Name("fixed_base/g1")->Apply(largest);
BENCHMARK(fixed_base<Fp2>)->Name("fixed_base/g2")->Apply(largest);
BENCHMARK(fixed_base_tables<Fp>)
    ->Name("fixed_base_tables/g1")
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace cuzk::msm
