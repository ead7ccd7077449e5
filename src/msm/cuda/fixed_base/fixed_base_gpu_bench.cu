// Multiples of the generators on the device: points a second, tables apart.

#include <benchmark/benchmark.h>

#include "curve/cuda/point.cuh"
#include "curve/testing.h"
#include "msm/cuda/fixed_base/fixed_base.h"

namespace cuzk::msm {
namespace {

gpu::DeviceMemory device_memory(uint64_t bytes) {
  mem::Budget budget({{"gpu", bytes}});
  return gpu::DeviceMemory::make(0, budget.reserve({0, bytes}).value()).value();
}

template <class F>
Xyzz<F> generator() {
  if constexpr (std::is_same_v<F, Fp>) {
    return G1::from_affine(g1_generator());
  } else {
    return G2::from_affine(g2_generator());
  }
}

// Arguments: log2 of the number of scalars, window bits.
template <class F>
void multiples(benchmark::State& state) {
  if (gpu::devices().empty()) return state.SkipWithError("no CUDA device");
  auto random = testing::rng();
  std::vector<Fr> scalars(size_t{1} << state.range(0));
  for (Fr& scalar : scalars) scalar = Fr::from_raw({random(), random(), random(), random() >> 2});
  const gpu::DeviceMemory in = device_memory(scalars.size() * sizeof(Fr)),
                          out = device_memory(scalars.size() * sizeof(Affine<F>));
  const auto plan =
      plan_fixed_base_windows(static_cast<unsigned>(state.range(1)), std::is_same_v<F, Fp2>, gpu::devices()[0]);
  const gpu::DeviceMemory memory = device_memory(plan.bytes);
  const auto stream = gpu::Stream::make(0).value();
  const auto base = DeviceFixedBase<F>::make(plan, generator<F>(), memory.bytes(), stream).value();
  const auto run = [&] {
    return base.mul(in.bytes().as<device::Fr>().as_const(), out.bytes().as<device::TwinOf<Affine<F>>>(), stream) &&
           stream.synchronize();
  };
  bool good = stream.upload(in.bytes().as<Fr>(), std::span<const Fr>(scalars)) && run();
  std::vector<Affine<F>> last(1);
  good = good &&
         stream.download(std::span(last), out.bytes().as<Affine<F>>().subspan(scalars.size() - 1, 1).as_const()) &&
         stream.synchronize();
  if (!good || last[0] != scalar_mul(generator<F>(), scalars.back().canonical()).to_affine())
    return state.SkipWithError("a wrong multiple");
  for (auto _ : state) {
    if (!run()) return state.SkipWithError("the device failed");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(scalars.size()));
}

BENCHMARK(multiples<Fp>)->Args({22, 16})->Args({24, 18})->Args({24, 20})->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(multiples<Fp2>)->Args({22, 16})->Args({22, 18})->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cuzk::msm
