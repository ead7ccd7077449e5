// Points, encodings and the pairing; results are checked before they are timed.
#include <benchmark/benchmark.h>

#include "curve/encoding.h"
#include "curve/pairing.h"
#include "curve/testing.h"

namespace cuzk {
namespace {

template <class F>
Affine<F> random_point(std::mt19937_64& random) {
  if constexpr (std::is_same_v<F, Fp>) return testing::random_g1(random);
  if constexpr (std::is_same_v<F, Fp2>) return testing::random_g2(random);
}

template <class F>
void add_mixed(benchmark::State& state) {
  auto random = testing::rng();
  const auto step = random_point<F>(random);
  auto sum = Xyzz<F>::from_affine(random_point<F>(random));
  if ((sum + step) + -step != sum) return state.SkipWithError("wrong result");
  for (auto _ : state) sum += step;
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(add_mixed<Fp>);
BENCHMARK(add_mixed<Fp2>);

template <class F>
void dbl(benchmark::State& state) {
  auto random = testing::rng();
  auto point = Xyzz<F>::from_affine(random_point<F>(random));
  if (point.dbl() != point + point) return state.SkipWithError("wrong result");
  for (auto _ : state) point = point.dbl();
  benchmark::DoNotOptimize(point);
}
BENCHMARK(dbl<Fp>);
BENCHMARK(dbl<Fp2>);

void decompress_g1(benchmark::State& state) {
  auto random = testing::rng();
  const auto point = random_point<Fp>(random);
  std::array<uint8_t, kG1CompressedBytes> bytes;
  to_compressed(point, bytes);
  if (*g1_from_compressed(bytes) != point) return state.SkipWithError("wrong result");
  for (auto _ : state) benchmark::DoNotOptimize(g1_from_compressed(bytes));
}
BENCHMARK(decompress_g1)->Unit(benchmark::kMicrosecond);

void decompress_g2(benchmark::State& state) {
  auto random = testing::rng();
  const auto point = random_point<Fp2>(random);
  std::array<uint8_t, kG2CompressedBytes> bytes;
  to_compressed(point, bytes);
  if (*g2_from_compressed(bytes) != point) return state.SkipWithError("wrong result");
  for (auto _ : state) benchmark::DoNotOptimize(g2_from_compressed(bytes));
}
BENCHMARK(decompress_g2)->Unit(benchmark::kMicrosecond);

// As a parameter file is read: checked against the curve, or trusted.
void read_g1(benchmark::State& state) {
  auto random = testing::rng();
  const auto point = random_point<Fp>(random);
  std::array<uint8_t, kG1UncompressedBytes> bytes;
  to_uncompressed(point, bytes);
  const bool checked = state.range(0) != 0;
  state.SetLabel(checked ? "checked" : "unchecked");
  if (*g1_from_uncompressed(bytes) != point) return state.SkipWithError("wrong result");
  for (auto _ : state) {
    if (checked) {
      benchmark::DoNotOptimize(g1_from_uncompressed(bytes));
    } else {
      benchmark::DoNotOptimize(g1_decode_unchecked(bytes));
    }
  }
}
BENCHMARK(read_g1)->Arg(1)->Arg(0);

template <class F>
void subgroup_test(benchmark::State& state) {
  auto random = testing::rng();
  const auto point = random_point<F>(random);
  if (!in_subgroup(point)) return state.SkipWithError("wrong result");
  for (auto _ : state) benchmark::DoNotOptimize(in_subgroup(point));
}
BENCHMARK(subgroup_test<Fp>)->Unit(benchmark::kMicrosecond);
BENCHMARK(subgroup_test<Fp2>)->Unit(benchmark::kMicrosecond);

// A product of this many pairings (an even number) that is one: 1 = e(P, Q) e(-P, Q) ...
void pairing_product(benchmark::State& state) {
  auto random = testing::rng();
  std::vector<PairingInput> pairs;
  while (pairs.size() < static_cast<size_t>(state.range(0))) {
    pairs.emplace_back(testing::random_g1(random), testing::random_g2(random));
    pairs.emplace_back(-pairs.back().first, pairs.back().second);
  }
  if (!pairing_product_is_one(pairs)) return state.SkipWithError("wrong result");
  for (auto _ : state) benchmark::DoNotOptimize(pairing_product_is_one(pairs));
}
BENCHMARK(pairing_product)->Arg(2)->Arg(4)->Arg(16)->Unit(benchmark::kMillisecond);

void final_exponentiation_alone(benchmark::State& state) {
  const PairingInput pair = {g1_generator(), g2_generator()};
  const Fp12 f = miller_loop({&pair, 1});
  for (auto _ : state) benchmark::DoNotOptimize(final_exponentiation(f));
}
BENCHMARK(final_exponentiation_alone)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cuzk
