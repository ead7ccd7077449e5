// Transforms by size, in device memory. Before a size is timed, one value is checked against the polynomial, and the
// inverse against the coefficients.
#include <benchmark/benchmark.h>

#include <memory>

#include "gpu/launch.cuh"
#include "gpu/testing.h"
#include "ntt/cuda/ntt.h"

namespace cuzk::ntt {
namespace {

// Coefficient `i`: mixed bits (the finaliser of splitmix64), below r.
CUZK_DEVICE device::Fr coefficient(uint64_t i) {
  device::Fr out;
  for (unsigned k = 0; k < 8; k++) {
    uint64_t z = (8 * i + k + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    out.limbs[k] = static_cast<uint32_t>(z ^ z >> 31);
  }
  out.limbs[7] >>= 2;
  return out;
}
__global__ void fill(device::Fr* data, uint64_t size) {
  const uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x;
  if (i < size) data[i] = coefficient(i);
}
__global__ void count_differences(const device::Fr* data, uint64_t size, unsigned* differences) {
  const uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x;
  if (i < size && data[i] != coefficient(i)) atomicAdd(differences, 1);
}

// The polynomial whose coefficients, from `first` on in bit-reversed order, are as above.
Fr value_at(uint64_t first, unsigned log2_size, const Fr& x) {
  if (log2_size == 0) return coefficient(first).to_host();
  const Fr square = x.square();
  return value_at(first, log2_size - 1, square) +
         x * value_at(first + (uint64_t{1} << (log2_size - 1)), log2_size - 1, square);
}

struct Setup {
  gpu::Stream stream = gpu::Stream::make(0).value();
  gpu::DeviceMemory tables, memory;
  DeviceDomain domain;

  explicit Setup(unsigned log2_size)
      : tables(gpu::test_memory(DeviceDomain::bytes(log2_size))),
        memory(gpu::test_memory((sizeof(Fr) << log2_size) + 256)),
        domain(DeviceDomain::make(log2_size, tables.bytes(), stream).value()) {}
  gpu::DeviceSpan<device::Fr> data() const { return memory.bytes().as<device::Fr>().first(domain.size()); }

  Status check(Points points) const {
    const unsigned blocks = gpu::blocks_for(domain.size(), 256);
    CUZK_TRY(gpu::launch(stream, fill, blocks, 256, 0, data().data, uint64_t{domain.size()}));
    CUZK_TRY(domain.evaluate(points, data(), stream));
    const size_t index = domain.size() / 3;
    Fr value;
    CUZK_TRY(stream.download(std::span(&value, 1), data().subspan(index, 1).as<Fr>().as_const()));
    CUZK_TRY(stream.synchronize());
    const Fr shift = points == Points::kCoset ? fr_root_of_unity(domain.log2_size() + 1) : Fr::one();
    if (value != value_at(0, domain.log2_size(), shift * fr_root_of_unity(domain.log2_size()).pow(index)))
      return fail(Code::kInternal, "wrong value");

    CUZK_TRY(domain.interpolate(points, data(), stream));
    const auto counter = memory.bytes().subspan(domain.size() * sizeof(Fr)).as<unsigned>().first(1);
    CUZK_TRY(stream.clear(counter));
    CUZK_TRY(
        gpu::launch(stream, count_differences, blocks, 256, 0, data().data, uint64_t{domain.size()}, counter.data));
    unsigned differences = 0;
    CUZK_TRY(stream.download(std::span(&differences, 1), counter.as_const()));
    CUZK_TRY(stream.synchronize());
    if (differences != 0) return fail(Code::kInternal, "{} coefficients differ", differences);
    return {};
  }
};

void run(benchmark::State& state, bool evaluate, Points points) {
  if (gpu::devices().empty()) return state.SkipWithError("no CUDA device");
  static std::unique_ptr<Setup> setup;  // of the size that was timed last
  static Status checked[2];
  const auto log2_size = static_cast<unsigned>(state.range(0));
  if (!setup || setup->domain.log2_size() != log2_size) {
    setup.reset();
    setup = std::make_unique<Setup>(log2_size);
    for (const Points kind : {Points::kSubgroup, Points::kCoset})
      checked[static_cast<size_t>(kind)] = setup->check(kind);
  }
  if (const Status& status = checked[static_cast<size_t>(points)]; !status)
    return state.SkipWithError(status.error().message.c_str());

  const auto start = gpu::Event::make(0).value(), stop = gpu::Event::make(0).value();
  for (auto _ : state) {
    const bool good = start.record(setup->stream) &&
                      (evaluate ? setup->domain.evaluate(points, setup->data(), setup->stream)
                                : setup->domain.interpolate(points, setup->data(), setup->stream)) &&
                      stop.record(setup->stream) && stop.synchronize();
    if (!good) return state.SkipWithError("CUDA failed");
    state.SetIterationTime(stop.seconds_since(start).value());
  }
  state.counters["ns/element"] =
      benchmark::Counter(static_cast<double>(setup->domain.size()) * static_cast<double>(state.iterations()) * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// Sizes outermost, so that each is set up once.
const bool registered = [] {
  for (int64_t log2_size : {20, 24, 26, 27}) {
    for (const bool evaluate : {true, false}) {
      for (const Points points : {Points::kSubgroup, Points::kCoset}) {
        const std::string name = std::string("ntt_gpu/") + (evaluate ? "evaluate" : "interpolate") +
                                 (points == Points::kCoset ? "_coset" : "");
        benchmark::RegisterBenchmark(name.c_str(), run, evaluate, points)
            ->Arg(log2_size)
            ->ArgName("log2")
            ->Unit(benchmark::kMillisecond)
            ->UseManualTime();
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace cuzk::ntt
