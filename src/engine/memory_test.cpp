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
  Result<r1cs::Witness> synthesise(uint32_t, const r1cs::Circuit& circuit) const override {
    r1cs::Assigner assigner(circuit);
    Fr value = Fr::from_u64(3);
    for (size_t i = 0; i < squarings_; i++, value = value * value) assigner.alloc(value);
    assigner.alloc_input(value);
    return std::move(assigner).finish();
  }

 private:
  static Fr power(size_t squarings) {
    Fr value = Fr::from_u64(3);
    for (size_t i = 0; i < squarings; i++) value = value * value;
    return value;
  }
  const size_t squarings_;
};

TEST(LargeAllocations, OfABackEndAreWithinItsNeeds) {
  constexpr size_t kSquarings = 9000;  // vectors of 288 KiB, and of 512 KiB over the domain
  const SquaringSource source(kSquarings);
  const auto circuit = std::make_shared<const r1cs::Circuit>(source.compile().value());
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / "squarings.params";
  {
    exec::Pool pool(2);
    ASSERT_TRUE(groth16::setup(*circuit, groth16::toxic_from_seed(1), file, pool));
  }
  std::optional<cuzk::testing::LargeAllocations> watch;
  auto begin = [&] {
    watch.reset();
    watch.emplace();
  };
  auto peak = [&] { return watch->peak(); };
  for (const size_t threads : {1, 5}) {  // the first reads the file, the other one maps what that has left
    SCOPED_TRACE(threads);
    exec::Pool pool(threads);
    const auto backend = make_cpu_backend(pool);
    const Needs needs = backend->needs(*circuit);
    begin();
    auto witness = source.synthesise(0, *circuit);
    ASSERT_TRUE(witness);
    EXPECT_LE(peak(), witness_bytes(*circuit));

    begin();
    mem::Budget budget({{"host", uint64_t{1} << 40}});
    const uint64_t granted = backend->params_needs(*circuit, file).host;
    auto params = backend->load(file, *circuit, {*budget.try_reserve({0, granted}), {}});
    ASSERT_TRUE(params) << params.error().message;
    EXPECT_LE(peak(), granted);

    begin();
    auto pending = backend->start({circuit, *params}, std::move(*witness), {});
    ASSERT_TRUE(pending) << pending.error().message;
    EXPECT_LE(peak(), needs.start.host);
    EXPECT_GE(peak(), (uint64_t{2} << r1cs::log2_domain(*circuit)) * sizeof(Fr)) << "nothing is measured";

    begin();
    EXPECT_TRUE((*pending)->finish());
    EXPECT_EQ(peak(), 0u);
  }
}

}  // namespace
}  // namespace cuzk::engine
