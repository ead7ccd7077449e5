// The quotient of one partition, in device memory. Each size is checked first, on polynomials whose quotient is known.
#include <benchmark/benchmark.h>

#include <tuple>

#include "gpu/launch.cuh"
#include "gpu/testing.h"
#include "groth16/cuda/quotient/quotient.h"

namespace cuzk::groth16 {
namespace {

// data[q] = root^(degree q) + constant
__global__ void fill(device::Fr* data, uint64_t size, device::Fr root, uint64_t degree, device::Fr constant) {
  const uint64_t q = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x;
  if (q >= size) return;
  device::Fr power = device::Fr::one();
  for (uint64_t exponent = degree * q % size; exponent != 0; exponent >>= 1) {
    if (exponent & 1) power *= root;
    root *= root;
  }
  data[q] = power + constant;
}
__global__ void count_nonzeros(const device::Fr* data, uint64_t size, unsigned* count) {
  const uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x;
  if (i < size && !data[i].is_zero()) atomicAdd(count, 1);
}

struct Setup {
  gpu::Stream stream = gpu::Stream::make(0).value();
  gpu::DeviceMemory tables, memory;
  ntt::DeviceDomain domain;

  explicit Setup(unsigned log2_size)
      : tables(gpu::test_memory(ntt::DeviceDomain::bytes(log2_size))),
        memory(gpu::test_memory((3 * sizeof(Fr) << log2_size) + 256)),
        domain(ntt::DeviceDomain::make(log2_size, tables.bytes(), stream).value()) {}
  gpu::DeviceSpan<device::Fr> vector(size_t i) const {
    return memory.bytes().as<device::Fr>().subspan(i * domain.size(), domain.size());
  }
  Status run() const { return quotient(domain, vector(0), vector(1), vector(2), stream); }

  // A = X^(n-1) + 5, B = X^(n/2+1) + 7
  Status fill_values() const {
    const uint64_t size = domain.size();
    const auto root = device::Fr::from_host(fr_root_of_unity(domain.log2_size()));
    for (const auto& [values, degree, constant] : {std::tuple{vector(0), size - 1, 5}, {vector(1), size / 2 + 1, 7}}) {
      CUZK_TRY(gpu::launch(stream, fill, gpu::blocks_for(size, 256), 256, 0, values.data, size, root, degree,
                           device::Fr::from_host(Fr::from_u64(constant))));
    }
    return {};
  }
  // A B = X^n X^(n/2) + terms of lower degree, so h is X^(n/2), at place 1.
  Status check() const {
    const uint64_t size = domain.size();
    CUZK_TRY(fill_values());
    CUZK_TRY(run());
    const auto counter = memory.bytes().subspan(3 * size * sizeof(Fr)).as<unsigned>().first(1);
    CUZK_TRY(stream.clear(counter));
    CUZK_TRY(
        gpu::launch(stream, count_nonzeros, gpu::blocks_for(size, 256), 256, 0, vector(0).data, size, counter.data));
    unsigned nonzeros = 0;
    Fr value;
    CUZK_TRY(stream.download(std::span(&nonzeros, 1), counter.as_const()));
    CUZK_TRY(stream.download(std::span(&value, 1), vector(0).subspan(1, 1).as<Fr>().as_const()));
    CUZK_TRY(stream.synchronize());
    if (nonzeros != 1 || value != Fr::one()) return fail(Code::kInternal, "wrong quotient");
    return fill_values();
  }
};

void run(benchmark::State& state) {
  if (gpu::devices().empty()) return state.SkipWithError("no CUDA device");
  const Setup setup(static_cast<unsigned>(state.range(0)));
  if (const Status status = setup.check(); !status) return state.SkipWithError(status.error().message.c_str());
  const auto start = gpu::Event::make(0).value(), stop = gpu::Event::make(0).value();
  for (auto _ : state) {
    if (!start.record(setup.stream) || !setup.run() || !stop.record(setup.stream) || !stop.synchronize())
      return state.SkipWithError("CUDA failed");
    state.SetIterationTime(stop.seconds_since(start).value());
  }
}

BENCHMARK(run)
    ->Name("quotient_gpu")
    ->ArgName("log2")
    ->Arg(20)
    ->Arg(24)
    ->Arg(26)
    ->Arg(27)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();

}  // namespace
}  // namespace cuzk::groth16
