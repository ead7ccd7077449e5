// Sums of up to 2^27 points on the device, as the h query of a 32 GiB PoRep partition wants them, each checked.
#include <benchmark/benchmark.h>

#include "base/testing.h"
#include "curve/testing.h"
#include "exec/pool.h"
#include "field/cuda/montgomery.cuh"
#include "gpu/launch.cuh"
#include "gpu/testing.h"
#include "msm/cuda/msm.h"
#include "msm/msm.h"

namespace cuzk::msm {
namespace {

constexpr size_t kDistinct = size_t{1} << 12;  // points, repeated; scalars are all different

// Scalar i is splitmix64 of 4 i, 4 i + 1, ... as a Montgomery representation below 2^254.
__host__ __device__ uint64_t mixed(uint64_t x) {
  x = (x + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
__global__ void make_scalars(uint64_t* limbs, uint64_t count) {
  const uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x;
  if (i < 4 * count) limbs[i] = i % 4 == 3 ? mixed(i) >> 2 : mixed(i);
}
template <class F>
struct alignas(16) Raw {
  uint64_t words[sizeof(Affine<F>) / 8];
};
template <class T>
__global__ void repeat(T* points, uint64_t count) {
  const uint64_t i = kDistinct + blockIdx.x * uint64_t{blockDim.x} + threadIdx.x;
  if (i < count) points[i] = points[i % kDistinct];
}

template <class F>
Affine<F> random_point(std::mt19937_64& random) {
  if constexpr (std::is_same_v<F, Fp>) return cuzk::testing::random_g1(random);
  if constexpr (std::is_same_v<F, Fp2>) return cuzk::testing::random_g2(random);
}

template <class F>
class Data {
 public:
  Data(size_t count, bool listed) : count_(count) {
    std::mt19937_64 random = cuzk::testing::rng();
    Xyzz<F> at = Xyzz<F>::from_affine(random_point<F>(random)), step = at.dbl();
    for (Affine<F>& p : distinct_) p = at.to_affine(), at += step;
    points = take<Affine<F>>(count);
    scalars = take<Fr>(count);
    check(stream.upload(points.first(kDistinct), std::span<const Affine<F>>(distinct_)));
    check(gpu::launch(stream, repeat<Raw<F>>, gpu::blocks_for(count, 256), 256, 0,
                      reinterpret_cast<Raw<F>*>(points.data), count));
    exec::Pool pool(std::thread::hardware_concurrency());
    std::vector<std::vector<Fr>> folded(pool.threads() * 4, std::vector<Fr>(kDistinct));
    pool.for_each_chunk(folded.size(), 1, [&](size_t begin, size_t end) {
      for (size_t part = begin; part < end; part++) {
        for (size_t i = count * part / folded.size(); i < count * (part + 1) / folded.size(); i++)
          folded[part][i % kDistinct] += listed ? Fr::from_u64(1) : scalar(i);
      }
    });
    std::vector<Fr> sums(kDistinct);
    for (const auto& part : folded) {
      for (size_t i = 0; i < kDistinct; i++) sums[i] += part[i];
    }
    const msm::Plan plan = msm::plan({kDistinct, std::is_same_v<F, Fp2>}, pool.threads());
    std::vector<std::byte> workspace(plan.workspace_bytes);
    want = msm::run<F>(plan, distinct_, sums, workspace, pool).value();
  }

  void refill() {
    check(gpu::launch(stream, make_scalars, gpu::blocks_for(4 * count_, 256), 256, 0,
                      reinterpret_cast<uint64_t*>(scalars.data), count_));
  }
  template <class T>
  gpu::DeviceSpan<T> take(size_t count) {
    memory_.push_back(gpu::test_memory(count * sizeof(T)));
    return memory_.back().bytes().template as<T>();
  }
  static void check(const Status& status) {
    if (!status) throw std::runtime_error(status.error().message);
  }

  auto device_points() const { return points.template as<const device::TwinOf<Affine<F>>>(); }

  gpu::Stream stream = gpu::Stream::make(0).value();
  gpu::DeviceSpan<Affine<F>> points;
  gpu::DeviceSpan<Fr> scalars;
  Xyzz<F> want;

 private:
  static Fr scalar(size_t i) {
    return Fr::from_raw({mixed(4 * i), mixed(4 * i + 1), mixed(4 * i + 2), mixed(4 * i + 3) >> 2});
  }

  size_t count_;
  std::vector<Affine<F>> distinct_ = std::vector<Affine<F>>(kDistinct);
  std::vector<gpu::DeviceMemory> memory_;
};

// Arguments: log2 of the points, window bits and windows at once (0, 0: as planned).
template <class F>
void sum_full(benchmark::State& state) {
  if (gpu::devices().empty()) return state.SkipWithError("no CUDA device");
  try {
    const size_t count = size_t{1} << state.range(0);
    Data<F> data(count, false);
    const Shape shape{count, std::is_same_v<F, Fp2>};
    const DevicePlan p = state.range(1) ? device_plan_with(shape, static_cast<unsigned>(state.range(1)),
                                                           static_cast<unsigned>(state.range(2)))
                                        : device_plan(shape, gpu::free_bytes(0).value() - (uint64_t{1} << 30)).value();
    const auto workspace = data.template take<std::byte>(p.workspace_bytes);
    for (auto _ : state) {
      data.refill();
      Data<F>::check(data.stream.synchronize());
      const auto begin = std::chrono::steady_clock::now();
      const auto got = run<F>(p, data.device_points(), data.scalars.template as<device::Fr>(), Order::kNatural,
                              workspace, data.stream);
      state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      if (!got) throw std::runtime_error(got.error().message);
      if (*got != data.want) throw std::runtime_error("wrong sum");
    }
    state.counters["window"] = p.window_bits;
    state.counters["at_once"] = p.windows_at_once;
    state.counters["workspace_GB"] = 1e-9 * static_cast<double>(p.workspace_bytes);
    state.counters["additions"] =
        benchmark::Counter(double(p.windows) * count, benchmark::Counter::kIsIterationInvariantRate);
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
}

template <class F>
void sum_ones(benchmark::State& state) {
  if (gpu::devices().empty()) return state.SkipWithError("no CUDA device");
  try {
    const size_t count = size_t{1} << state.range(0);
    Data<F> data(count, true);
    std::vector<uint32_t> list(count);
    for (size_t i = 0; i < count; i++) list[i] = static_cast<uint32_t>(i);
    const auto positions = data.template take<uint32_t>(count);
    Data<F>::check(data.stream.upload(positions, std::span<const uint32_t>(list)));
    const auto workspace = data.template take<std::byte>(listed_bytes<F>(count));
    for (auto _ : state) {
      Data<F>::check(data.stream.synchronize());
      const auto begin = std::chrono::steady_clock::now();
      const auto got = sum_listed<F>(data.device_points(), positions.as_const(), workspace, data.stream);
      state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      if (!got) throw std::runtime_error(got.error().message);
      if (*got != data.want) throw std::runtime_error("wrong sum");
    }
    state.counters["additions"] = benchmark::Counter(double(count), benchmark::Counter::kIsIterationInvariantRate);
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
}

void sizes(benchmark::internal::Benchmark* bench) {
  for (int log2 : {16, 20, 22, 24, 26, 27}) bench->Args({log2, 0, 0});
  for (int bits : {20, 22, 23, 24}) bench->Args({27, bits, 1});
  for (int at_once : {2, 3, 4}) bench->Args({27, 22, at_once});
}
BENCHMARK(sum_full<Fp>)
    ->Name("device/msm_g1")
    ->Apply(sizes)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);
BENCHMARK(sum_full<Fp2>)
    ->Name("device/msm_g2")
    ->Args({20, 0, 0})
    ->Args({22, 0, 0})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);
BENCHMARK(sum_ones<Fp>)
    ->Name("device/listed_g1")
    ->Arg(20)
    ->Arg(24)
    ->Arg(26)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);
BENCHMARK(sum_ones<Fp2>)
    ->Name("device/listed_g2")
    ->Arg(24)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);

}  // namespace
}  // namespace cuzk::msm
