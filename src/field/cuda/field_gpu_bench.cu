// Throughput of the device's field arithmetic: independent chains in every resident thread.
#include <benchmark/benchmark.h>

#include "base/testing.h"
#include "field/cuda/montgomery.cuh"
#include "gpu/launch.cuh"
#include "gpu/testing.h"

namespace cuzk {
namespace {

constexpr unsigned kThreads = 128, kChains = 2, kSteps = 2000;

// x = x * y + y, kSteps times in each of kChains chains.
template <class F>
__global__ __launch_bounds__(kThreads) void multiply(F* values) {
  F* mine = values + (size_t{blockIdx.x} * kThreads + threadIdx.x) * kChains;
  F x[kChains];
  for (unsigned i = 0; i < kChains; i++) x[i] = mine[i];
  const F y = x[0];
#pragma unroll 1
  for (unsigned step = 0; step < kSteps; step++) {
    for (unsigned i = 0; i < kChains; i++) x[i] = x[i] * y;
  }
  for (unsigned i = 0; i < kChains; i++) mine[i] = x[i];
}
template <class F>
__global__ __launch_bounds__(kThreads) void invert(F* values) {
  F* mine = values + (size_t{blockIdx.x} * kThreads + threadIdx.x) * kChains;
  mine[0] = mine[0].inverse();
}

template <class Device, class Host, bool kInvert>
void run(benchmark::State& state) {
  const auto devices = gpu::devices();
  if (devices.empty()) return state.SkipWithError("no CUDA device");
  const unsigned blocks = devices[0].multiprocessors * 8;
  const size_t count = size_t{blocks} * kThreads * kChains;
  std::mt19937_64 random = testing::rng();
  std::vector<Host> values(count), got(count);
  for (size_t i = 0; i < count; i++)
    values[i] = i < 1000 ? testing::random_field<Host>(random) : values[i % 1000] + values[i - 1000];
  const auto memory = gpu::test_memory(count * sizeof(Host));
  auto stream = gpu::Stream::make(0).value();
  auto begin = gpu::Event::make(0).value(), end = gpu::Event::make(0).value();
  const auto span = memory.bytes().as<Host>();
  for (auto _ : state) {
    bool good = stream.upload(span, std::span<const Host>(values)) && begin.record(stream);
    good = good && gpu::launch(stream, kInvert ? invert<Device> : multiply<Device>, blocks, kThreads, 0,
                               reinterpret_cast<Device*>(span.data));
    good = good && end.record(stream) && stream.download(std::span(got), span.as_const()) && stream.synchronize();
    if (!good) return state.SkipWithError("CUDA failed");
    state.SetIterationTime(end.seconds_since(begin).value());
  }
  for (size_t i = 0; i < 50; i++) {
    Host want = values[kChains * i];
    if (kInvert) want = want.inverse();
    for (unsigned step = 0; !kInvert && step < kSteps; step++) want = want * values[kChains * i];
    if (got[kChains * i] != want) return state.SkipWithError("wrong result");
  }
  const double operations = kInvert ? double(blocks) * kThreads : double(count) * kSteps;
  state.counters["operations"] = benchmark::Counter(operations, benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK(run<device::Fr, Fr, false>)->Name("device/fr_mul")->UseManualTime();
BENCHMARK(run<device::Fp, Fp, false>)->Name("device/fp_mul")->UseManualTime();
BENCHMARK(run<device::Fr, Fr, true>)->Name("device/fr_inverse")->UseManualTime();
BENCHMARK(run<device::Fp, Fp, true>)->Name("device/fp_inverse")->UseManualTime();

}  // namespace
}  // namespace cuzk
