// Bulk kernels of every implementation in one run, and scalar arithmetic. Times are per element; results are checked
// first.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "base/testing.h"
#include "field/kernels.h"
#include "field/sqrt.h"

namespace cuzk {
namespace {

constexpr size_t kCount = 512;  // the batch length of the MSM

template <class F>
std::vector<F> random_array(std::mt19937_64& random) {
  std::vector<F> out(kCount);
  for (F& value : out) {
    if constexpr (std::is_same_v<F, Fp2>) {
      value = {testing::random_field<Fp>(random), testing::random_field<Fp>(random)};
    } else {
      value = testing::random_field<F>(random);
    }
  }
  return out;
}

void per_element(benchmark::State& state, size_t count = kCount) {
  state.counters["each"] = benchmark::Counter(
      static_cast<double>(count), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

template <class F, class Operation>
void binary(benchmark::State& state, Kernels::Binary<F> kernel, Operation operation) {
  auto random = testing::rng();
  const auto a = random_array<F>(random), b = random_array<F>(random);
  std::vector<F> out(kCount);
  kernel(out.data(), a.data(), b.data(), kCount);
  for (size_t i = 0; i < kCount; i++) {
    if (out[i] != operation(a[i], b[i])) return state.SkipWithError("wrong result");
  }
  for (auto _ : state) {
    kernel(out.data(), a.data(), b.data(), kCount);
    benchmark::ClobberMemory();
  }
  per_element(state);
}
template <class F>
void square(benchmark::State& state, Kernels::Unary<F> kernel) {
  auto random = testing::rng();
  const auto a = random_array<F>(random);
  std::vector<F> out(kCount);
  kernel(out.data(), a.data(), kCount);
  for (size_t i = 0; i < kCount; i++) {
    if (out[i] != a[i] * a[i]) return state.SkipWithError("wrong result");
  }
  for (auto _ : state) {
    kernel(out.data(), a.data(), kCount);
    benchmark::ClobberMemory();
  }
  per_element(state);
}
template <class F>
void sums(benchmark::State& state, const PointSums<F>& k) {
  constexpr size_t kLanes = 512;
  auto random = testing::rng();
  const auto points = random_array<F>(random);
  const size_t blocks = kLanes / k.width;
  const auto memory = [](size_t bytes) { return std::unique_ptr<void, decltype(&std::free)>(std::aligned_alloc(64, bytes), &std::free); };
  const auto sums = memory(blocks * k.block_bytes), scratch = memory((blocks * k.scratch_bytes + 63) / 64 * 64);
  std::vector<uint32_t> choice(kLanes);
  for (size_t i = 0; i < kLanes; i++) {
    choice[i] = static_cast<uint32_t>(random() % (kCount / 2));
    k.set(sums.get(), i, &points[2 * ((choice[i] + 1) % (kCount / 2))]);
  }
  for (auto _ : state) {
    k.add_points(sums.get(), scratch.get(), blocks, points.data(), choice.data(), choice.data());
    benchmark::ClobberMemory();
  }
  per_element(state, kLanes);
}
void butterfly(benchmark::State& state, Kernels::Butterfly kernel, bool multiply_first) {
  auto random = testing::rng();
  auto lo = random_array<Fr>(random), hi = random_array<Fr>(random);
  const auto w = random_array<Fr>(random), lo_before = lo, hi_before = hi;
  kernel(lo.data(), hi.data(), w.data(), kCount);
  for (size_t i = 0; i < kCount; i++) {
    const Fr product = multiply_first ? hi_before[i] * w[i] : hi_before[i];
    const Fr difference = lo_before[i] - product;
    if (lo[i] != lo_before[i] + product || hi[i] != (multiply_first ? difference : difference * w[i])) {
      return state.SkipWithError("wrong result");
    }
  }
  for (auto _ : state) {
    kernel(lo.data(), hi.data(), w.data(), kCount);
    benchmark::ClobberMemory();
  }
  per_element(state);
}

constexpr auto kMul = [](const auto& a, const auto& b) { return a * b; };
constexpr auto kAdd = [](const auto& a, const auto& b) { return a + b; };
constexpr auto kSub = [](const auto& a, const auto& b) { return a - b; };

[[maybe_unused]] const bool kRegistered = [] {
  for (const Kernels* k : kernels_available()) {
    const auto add = [k](const char* operation, auto function) {
      benchmark::RegisterBenchmark(fmt::format("{}/{}", operation, k->name).c_str(), function);
    };
    add("fr_mul", [k](auto& state) { binary<Fr>(state, k->fr_mul, kMul); });
    add("fr_add", [k](auto& state) { binary<Fr>(state, k->fr_add, kAdd); });
    add("fr_sub", [k](auto& state) { binary<Fr>(state, k->fr_sub, kSub); });
    add("fr_butterfly_dit", [k](auto& state) { butterfly(state, k->fr_butterfly_dit, true); });
    add("fr_butterfly_dif", [k](auto& state) { butterfly(state, k->fr_butterfly_dif, false); });
    add("fp_mul", [k](auto& state) { binary<Fp>(state, k->fp_mul, kMul); });
    add("fp_sqr", [k](auto& state) { square<Fp>(state, k->fp_sqr); });
    add("fp_add", [k](auto& state) { binary<Fp>(state, k->fp_add, kAdd); });
    add("fp_sub", [k](auto& state) { binary<Fp>(state, k->fp_sub, kSub); });
    add("fp_sums", [k](auto& state) { sums<Fp>(state, k->fp_sums); });
    add("fp2_sums", [k](auto& state) { sums<Fp2>(state, k->fp2_sums); });
    add("fp2_mul", [k](auto& state) { binary<Fp2>(state, k->fp2_mul, kMul); });
    add("fp2_sqr", [k](auto& state) { square<Fp2>(state, k->fp2_sqr); });
    add("fp2_add", [k](auto& state) { binary<Fp2>(state, k->fp2_add, kAdd); });
  }
  return true;
}();

// A chain of dependent scalar products.
template <class F>
void scalar_mul_latency(benchmark::State& state) {
  auto random = testing::rng();
  const auto a = random_array<F>(random);
  F x = a[0];
  for (auto _ : state) benchmark::DoNotOptimize(x = x * a[1]);
}
BENCHMARK(scalar_mul_latency<Fr>);
BENCHMARK(scalar_mul_latency<Fp>);
BENCHMARK(scalar_mul_latency<Fp2>);

template <class F>
void scalar_inverse(benchmark::State& state) {
  auto random = testing::rng();
  F x = random_array<F>(random)[0];
  if (x * x.inverse() != F::one()) return state.SkipWithError("wrong result");
  for (auto _ : state) benchmark::DoNotOptimize(x = x.inverse());
}
BENCHMARK(scalar_inverse<Fr>);
BENCHMARK(scalar_inverse<Fp>);

template <class F>
void scalar_sqrt(benchmark::State& state) {
  auto random = testing::rng();
  const F x = random_array<F>(random)[0].square();
  if (sqrt(x)->square() != x) return state.SkipWithError("wrong result");
  for (auto _ : state) benchmark::DoNotOptimize(sqrt(x));
}
BENCHMARK(scalar_sqrt<Fp>);
BENCHMARK(scalar_sqrt<Fp2>);

}  // namespace
}  // namespace cuzk
