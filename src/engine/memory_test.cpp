// Whether what a back end allocates is covered by what it said that it needs. Small allocations are not counted.

#include "engine/memory.h"

#include <gtest/gtest.h>

#include "engine/backend.h"
#include "engine/faults_testing.h"

namespace cuzk::engine {
namespace {

// "I know x with x^(2^n) = y", so that vectors are much larger than what is not counted.
class SquaringSource final : public groth16::CircuitSource {
 public:
  explicit SquaringSource(size_t squarings) : squarings_(squarings) {}

  std::string circuit_id() const override { return "squarings"; }
  Result<r1cs::Circuit> compile() const override {
    r1cs::Recorder recorder;
    r1cs::Var from = recorder.alloc({});
    for (size_t i = 0; i < squarings_; i++) {
      const r1cs::Var to = i + 1 == squarings_ ? recorder.alloc_input({}) : recorder.alloc({});
      recorder.enforce([&](r1cs::RowBuilder& row) {
        row.a.add(from, Fr::one());
        row.b.add(from, Fr::one());
        row.c.add(to, Fr::one());
      });
      from = to;
    }
    return std::move(recorder).finish(circuit_id());
  }
  uint32_t partitions() const override { return 1; }
  Result<std::vector<Fr>> public_inputs(uint32_t) const override { return std::vector<Fr>{power(squarings_)}; }
  Status assign(uint32_t, const r1cs::Circuit& circuit, const r1cs::Assignment& to) const override {
    r1cs::Assigner assigner(circuit, to);
    Fr value = Fr::from_u64(3);
    for (size_t i = 0; i < squarings_; i++, value = value * value) assigner.alloc(value);
    assigner.alloc_input(value);
    return assigner.finish();
  }

 private:
  static Fr power(size_t squarings) {
    Fr value = Fr::from_u64(3);
    for (size_t i = 0; i < squarings; i++) value = value * value;
    return value;
  }
  const size_t squarings_;
};

// What grows with the circuit is made from the reservation of its stage, and does not come from operator new.
TEST(Reservations, AreWhereLargeBuffersOfABackEndComeFrom) {
  constexpr size_t kSquarings = 9000;               // witnesses of 288 KB, vectors over the domain of 512 KiB
  constexpr uint64_t kLarge = uint64_t{256} << 10;  // what evaluation and files take at a time, whatever the circuit
  const SquaringSource source(kSquarings);
  const auto circuit = std::make_shared<const r1cs::Circuit>(source.compile().value());
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / "squarings.params";
  {
    exec::Pool pool(2);
    ASSERT_TRUE(groth16::setup(*circuit, groth16::toxic_from_seed(1), file, pool));
  }
  for (const size_t threads : {1, 5}) {  // the first reads the file, the other one maps what that has left
    SCOPED_TRACE(threads);
    exec::Pool pool(threads);
    const auto backend = make_cpu_backend(pool);
    const Needs needs = backend->needs(*circuit);
    mem::Budget budget({{"host", uint64_t{1} << 40}});
    auto reserve = [&](uint64_t bytes) { return *budget.try_reserve({0, bytes}); };
    auto reserved = [&] { return budget.usage()[0].reserved_bytes; };
    const cuzk::testing::LargestAllocation largest;

    auto witness = source.synthesise(0, *circuit, reserve(r1cs::witness_bytes(*circuit)));
    ASSERT_TRUE(witness);
    EXPECT_EQ(reserved(), r1cs::witness_bytes(*circuit)) << "it lives as long as the witness does";

    auto params = backend->load(file, *circuit, {reserve(backend->params_needs(*circuit, file).host), {}});
    ASSERT_TRUE(params) << params.error().message;

    auto pending = backend->start({circuit, *params}, std::move(*witness), {reserve(needs.start.host), {}});
    ASSERT_TRUE(pending) << pending.error().message;
    EXPECT_EQ(reserved(), 0u) << "nothing is left of witness and workspace";
    EXPECT_TRUE((*pending)->finish());
    EXPECT_LE(largest.bytes(), kLarge);
    EXPECT_GT(needs.start.host, 3 * kLarge) << "nothing is measured";

    auto again = source.synthesise(0, *circuit, reserve(r1cs::witness_bytes(*circuit)));
    pending = backend->start({circuit, *params}, std::move(*again), {reserve(needs.start.host - 1), {}});
    EXPECT_EQ(pending.error().code, Code::kResourceExhausted);
    EXPECT_EQ(source.synthesise(0, *circuit, reserve(r1cs::witness_bytes(*circuit) - 1)).error().code, Code::kInternal);
  }
}

}  // namespace
}  // namespace cuzk::engine
