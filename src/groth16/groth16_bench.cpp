// The steps of a proof and the checks of a key; results are checked before they are timed.
#include <benchmark/benchmark.h>

#include "curve/encoding.h"
#include "groth16/prove.h"
#include "groth16/quotient.h"
#include "groth16/subgroup_batch.h"
#include "groth16/testing.h"

namespace cuzk::groth16 {
namespace {

// A circuit of 2 n variables with parameters and a proof, made once.
struct Fixture {
  explicit Fixture(uint32_t bits) : mixed(testing::make_mixed(bits, true, 1)) {
    auto vk = setup(mixed.circuit, toxic_from_seed(1), folder / "bench.params", pool).value();
    loaded = load_params(folder / "bench.params", lengths_of(mixed.circuit), {.remember = false}, pool).value();
    key = prepare(std::move(vk));
    inputs = {mixed.witness.inputs.begin() + 1, mixed.witness.inputs.end()};
    proof = testing::prove(mixed.circuit, loaded.parameters, mixed.witness, Fr::one(), Fr::one(), pool).value();
    valid = verify(key, inputs, proof, pool).value();
  }
  static Fixture& of(uint32_t bits) {
    static std::map<uint32_t, Fixture> made;
    return made.try_emplace(bits, bits).first->second;
  }

  exec::Pool pool;
  testing::Mixed mixed;
  testing::TemporaryFolder folder;
  LoadedParameters loaded;
  PreparedVerifyingKey key;
  std::vector<Fr> inputs;
  Proof proof;
  bool valid = false;
};

void setup_points(benchmark::State& state) {
  Fixture& f = Fixture::of(1 << 14);
  if (!f.valid) return state.SkipWithError("the proof does not verify");
  for (auto _ : state)
    benchmark::DoNotOptimize(setup(f.mixed.circuit, toxic_from_seed(1), f.folder / "again.params", f.pool));
  const Lengths n = lengths_of(f.mixed.circuit);
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(n.h + n.l + n.a + n.b_g1 + n.b_g2));
}
BENCHMARK(setup_points)->UseRealTime()->Unit(benchmark::kMillisecond);

void load_parameters(benchmark::State& state) {
  Fixture& f = Fixture::of(1 << 14);
  const LoadOptions options{.check = state.range(0) ? Check::kFull : Check::kCanonical, .remember = false};
  auto loaded = load_params(f.folder / "bench.params", lengths_of(f.mixed.circuit), options, f.pool);
  if (!loaded || loaded->parameters.h != f.loaded.parameters.h) return state.SkipWithError("wrong points");
  for (auto _ : state) benchmark::DoNotOptimize(load_params(f.folder / "bench.params", {}, options, f.pool));
  const Lengths n = lengths_of(f.mixed.circuit);
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(n.h + n.l + n.a + n.b_g1 + n.b_g2));
}
BENCHMARK(load_parameters)->ArgName("full")->Arg(0)->Arg(1)->UseRealTime()->Unit(benchmark::kMillisecond);

void prove_steps(benchmark::State& state) {
  Fixture& f = Fixture::of(1 << 14);
  if (!f.valid) return state.SkipWithError("the proof does not verify");
  ProveTimes times;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        testing::prove(f.mixed.circuit, f.loaded.parameters, f.mixed.witness, Fr::one(), Fr::one(), f.pool, &times));
  }
  auto mean = [&](double seconds) { return benchmark::Counter(1000 * seconds, benchmark::Counter::kAvgIterations); };
  state.counters = {{"evaluate_ms", mean(times.evaluate)},
                    {"quotient_ms", mean(times.quotient)},
                    {"h_ms", mean(times.h)},
                    {"l_ms", mean(times.l)},
                    {"a_ms", mean(times.a)},
                    {"b_g1_ms", mean(times.b_g1)},
                    {"b_g2_ms", mean(times.b_g2)}};
}
BENCHMARK(prove_steps)->UseRealTime()->Unit(benchmark::kMillisecond);

void verify_one(benchmark::State& state) {
  Fixture& f = Fixture::of(1 << 14);
  if (!f.valid) return state.SkipWithError("the proof does not verify");
  for (auto _ : state) benchmark::DoNotOptimize(verify(f.key, f.inputs, f.proof, f.pool));
}
BENCHMARK(verify_one)->UseRealTime()->Unit(benchmark::kMicrosecond);

void verify_ten(benchmark::State& state) {
  Fixture& f = Fixture::of(1 << 14);
  const std::vector<std::vector<Fr>> inputs(10, f.inputs);
  const std::vector<Proof> proofs(10, f.proof);
  if (!verify_batch(f.key, inputs, proofs, f.pool).value()) return state.SkipWithError("the proofs do not verify");
  for (auto _ : state) benchmark::DoNotOptimize(verify_batch(f.key, inputs, proofs, f.pool));
}
BENCHMARK(verify_ten)->UseRealTime()->Unit(benchmark::kMicrosecond);

void decode_one_proof(benchmark::State& state) {
  Fixture& f = Fixture::of(1 << 14);
  const auto bytes = encode_proof(f.proof);
  if (decode_proof(bytes).value() != f.proof) return state.SkipWithError("wrong proof");
  for (auto _ : state) benchmark::DoNotOptimize(decode_proof(bytes));
}
BENCHMARK(decode_one_proof)->Unit(benchmark::kMicrosecond);

// The quotient of polynomials of degree below 2^log2, but for the evaluation of rows.
void quotient_of_domain(benchmark::State& state) {
  exec::Pool pool;
  const ntt::Domain domain(static_cast<unsigned>(state.range(0)), pool);
  std::vector<Fr> a(domain.size(), Fr::one()), b = a;
  const auto products = [](std::span<Fr> out) { std::fill(out.begin(), out.end(), Fr::one()); };
  quotient(domain, a, b, products, pool);  // 1 * 1 = 1 has the quotient zero
  if (a != std::vector<Fr>(domain.size())) return state.SkipWithError("wrong quotient");
  for (auto _ : state) {
    products(a), products(b);
    quotient(domain, a, b, products, pool);
  }
}
BENCHMARK(quotient_of_domain)->ArgName("log2")->Arg(16)->Arg(20)->UseRealTime()->Unit(benchmark::kMillisecond);

// Points of a key, repeated up to 2^18.
template <class F>
std::vector<Affine<F>> many_points() {
  const Fixture& f = Fixture::of(1 << 14);
  std::span<const Affine<F>> points;
  if constexpr (std::is_same_v<F, Fp>) points = f.loaded.parameters.h;
  if constexpr (std::is_same_v<F, Fp2>) points = f.loaded.parameters.b_g2;
  std::vector<Affine<F>> out(size_t{1} << 18);
  for (size_t i = 0; i < out.size(); i++) out[i] = points[i % points.size()];
  return out;
}

template <class F>
void subgroup_check(benchmark::State& state) {
  const std::vector<Affine<F>> points = many_points<F>();
  const std::span<const Affine<F>> span = points;
  std::vector<std::byte> workspace(subgroup_batch_bytes(points.size()));
  if (first_outside_subgroup(span, workspace).value() != points.size()) return state.SkipWithError("a point outside");
  for (auto _ : state) benchmark::DoNotOptimize(first_outside_subgroup(span, workspace));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(points.size()));
}
BENCHMARK(subgroup_check<Fp>)->Unit(benchmark::kMillisecond);
BENCHMARK(subgroup_check<Fp2>)->Unit(benchmark::kMillisecond);

// Bytes to points, with and without the curve's equation.
template <class F>
void decode_many(benchmark::State& state) {
  constexpr size_t kBytes = 2 * sizeof(F);
  const std::vector<Affine<F>> points = many_points<F>();
  std::vector<Affine<F>> decoded(points.size());
  Bytes bytes(points.size() * kBytes);
  for (size_t i = 0; i < points.size(); i++)
    to_uncompressed(points[i], std::span<uint8_t, kBytes>(bytes.data() + i * kBytes, kBytes));
  const bool curve = state.range(0) != 0;
  if (decode_points<F>(bytes, decoded, curve) != points.size() || decoded != points)
    return state.SkipWithError("wrong points");
  for (auto _ : state) benchmark::DoNotOptimize(decode_points<F>(bytes, decoded, curve));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(points.size()));
}
BENCHMARK(decode_many<Fp>)->ArgName("curve")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(decode_many<Fp2>)->ArgName("curve")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cuzk::groth16
