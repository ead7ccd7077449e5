// The witness of SHA-256: bits of one compression after another.

#include <benchmark/benchmark.h>

#include "gadgets/sha256.h"
#include "r1cs/testing.h"

namespace cuzk::gadgets {
namespace {

constexpr size_t kBits = 9984;  // a label: 20 blocks

template <class CS>
Bits<CS> message_and_digest(CS& cs) {
  Bits<CS> bits(kBits);
  for (size_t at = 0; at < kBits; at += 64) {
    alloc_bits<CS>(cs, 0x9e3779b97f4a7c15 * (at + 1), std::span(bits).subspan(at, 64));
  }
  return sha256(cs, bits);
}

void sha256_witness(benchmark::State& state) {
  r1cs::Recorder recorder;
  message_and_digest(recorder);
  const r1cs::Circuit circuit = std::move(recorder).finish("sha256");
  exec::Pool pool(1);
  for (auto _ : state) {
    const r1cs::Witness witness = r1cs::testing::make_witness(circuit);
    r1cs::Assigner assigner(circuit, witness);
    Bits<r1cs::Assigner> digest = message_and_digest(assigner);
    const Status finished = assigner.finish();
    benchmark::DoNotOptimize(witness);
    state.PauseTiming();
    Bytes message(kBits / 8), expected(32);
    for (size_t i = 0; i < kBits; i++) {
      message[i / 8] |= static_cast<uint8_t>((0x9e3779b97f4a7c15 * (i / 64 * 64 + 1) >> (i % 64) & 1) << (7 - i % 8));
    }
    for (size_t i = 0; i < 256; i++) expected[i / 8] |= static_cast<uint8_t>(digest[i].value << (7 - i % 8));
    const Bytes32 native = hash::sha256(message);
    if (!finished || !std::equal(native.begin(), native.end(), expected.begin()) ||
        r1cs::first_unsatisfied(r1cs::WitnessView(circuit, witness), pool) != circuit.num_constraints) {
      state.SkipWithError("wrong digest or a row that does not hold");
    }
    state.ResumeTiming();
  }
  state.counters["us/block"] =
      benchmark::Counter(20, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(sha256_witness)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cuzk::gadgets
