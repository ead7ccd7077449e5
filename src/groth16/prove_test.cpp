#include "groth16/prove.h"

#include <gmock/gmock.h>

#include "groth16/testing.h"

namespace cuzk::groth16 {
namespace {

using testing::fr_from_hex;
using ::testing::HasSubstr;
using testing::prove;
using testing::read_file;
using testing::TemporaryFolder;

Parameters load(const std::filesystem::path& path, exec::Pool& pool) {
  return load_params(path, std::nullopt, {.check = Check::kCanonical}, pool).value().parameters;
}

class TinyProof : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (testing::tiny_folder(GetParam()).empty()) GTEST_SKIP() << "no reference vectors: set CUZK_VECTORS";
    tiny_ = testing::load_tiny(GetParam());
  }
  testing::Tiny tiny_;
};

TEST_P(TinyProof, ByteForByte) {
  for (size_t threads : {1u, 2u, 5u}) {
    exec::Pool pool(threads);
    ProveTimes times;
    auto proof = prove(tiny_.circuit, load(tiny_.folder / "circuit.params", pool), tiny_.witness,
                       fr_from_hex(tiny_.info["r"]), fr_from_hex(tiny_.info["s"]), pool, &times);
    ASSERT_TRUE(proof) << proof.error().message;
    EXPECT_EQ(to_hex(encode_proof(*proof)), tiny_.info["proof"].get<std::string>());
    EXPECT_EQ(to_hex(encode_proof(*proof)), to_hex(read_file(tiny_.folder / "proof.bin")));
    EXPECT_GT(times.total(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors, TinyProof, ::testing::Values("mimc", "chain", "odd", "inputs"),
                         [](const auto& tested) { return tested.param; });

// A circuit of bits and field elements with parameters of its own.
class MixedProof : public ::testing::Test {
 protected:
  void SetUp() override {
    vk_ = setup(mixed_.circuit, toxic_from_seed(5), folder_ / "x.params", pool_).value();
    parameters_ = load(folder_ / "x.params", pool_);
  }
  // In memory that holds something else.
  Result<Pending> start_mixed(uint64_t missing = 0) {
    std::vector<std::byte> workspace(start_bytes(mixed_.circuit, pool_.threads()) - missing, std::byte{0xa5});
    return start(mixed_.circuit, parameters_, mixed_.witness, workspace, pool_);
  }
  bool verifies(const r1cs::Witness& witness, const Proof& proof) {
    return verify(prepare(vk_), std::span(witness.inputs).subspan(1), proof, pool_).value();
  }

  exec::Pool pool_{2};
  testing::Mixed mixed_ = testing::make_mixed(75, true, 51);
  TemporaryFolder folder_;
  VerifyingKey vk_;
  Parameters parameters_;
};

TEST_F(MixedProof, Verifies) {
  auto proof = prove(mixed_.circuit, parameters_, mixed_.witness, Fr::from_u64(3), Fr::from_u64(4), pool_);
  ASSERT_TRUE(proof) << proof.error().message;
  EXPECT_TRUE(verifies(mixed_.witness, *proof));
  // Without blinding, too, which the formulas allow.
  EXPECT_TRUE(
      verifies(mixed_.witness, *prove(mixed_.circuit, parameters_, mixed_.witness, Fr::zero(), Fr::zero(), pool_)));
}

TEST_F(MixedProof, PackingBitsChangesNothing) {
  auto plain = testing::make_mixed(75, false, 51);
  const Fr r = Fr::from_u64(3), s = Fr::from_u64(4);
  EXPECT_EQ(prove(mixed_.circuit, parameters_, mixed_.witness, r, s, pool_).value(),
            prove(plain.circuit, parameters_, plain.witness, r, s, pool_).value());
}

TEST_F(MixedProof, StartAndFinishInTwoSteps) {
  const Fr r = Fr::from_u64(3), s = Fr::from_u64(4);
  auto pending = start_mixed();
  ASSERT_TRUE(pending);
  EXPECT_EQ(finish(*pending, vk_, r, s).value(),
            prove(mixed_.circuit, parameters_, mixed_.witness, r, s, pool_).value());
}

TEST_F(MixedProof, FreshBlindingMakesProofsDistinct) {
  auto pending = start_mixed().value();
  std::set<std::string> seen;
  for (int i = 0; i < 10; i++) {
    Blinding blinding = random_blinding().value();
    Proof proof = finish(pending, vk_, blinding.r, blinding.s).value();
    EXPECT_TRUE(verifies(mixed_.witness, proof));
    EXPECT_TRUE(seen.insert(to_hex(encode_proof(proof))).second);
  }
}

TEST_F(MixedProof, ABrokenWitnessDoesNotVerifyAndIsExplained) {
  const r1cs::Witness broken = r1cs::testing::copy(mixed_.circuit, mixed_.witness);
  broken.fields[1] += Fr::one();  // x_1, the product of row 1
  auto proof = prove(mixed_.circuit, parameters_, broken, Fr::one(), Fr::one(), pool_);
  ASSERT_TRUE(proof);
  EXPECT_FALSE(verifies(broken, *proof));
  Error error = explain_failure(mixed_.circuit, broken, pool_);
  EXPECT_EQ(error.code, Code::kUnsatisfied);
  EXPECT_THAT(error.message, HasSubstr("constraint 1 of 151 in mixed"));
  // Where every row holds, the fault is elsewhere.
  EXPECT_EQ(explain_failure(mixed_.circuit, mixed_.witness, pool_).code, Code::kVerifyFailed);
}

TEST_F(MixedProof, RefusesWhatDoesNotFit) {
  const Fr one = Fr::one();
  auto code = [&](const Parameters& parameters, const r1cs::Assignment& witness) {
    auto proof = prove(mixed_.circuit, parameters, witness, one, one, pool_);
    return proof ? std::optional<Code>() : proof.error().code;
  };
  EXPECT_EQ(code(load(testing::data() / "odd/circuit.params", pool_), mixed_.witness), Code::kInvalidParams);
  Parameters identity = parameters_;
  identity.vk.delta_g1 = G1Affine::infinity();
  EXPECT_EQ(code(identity, mixed_.witness), Code::kInvalidParams);
  identity = parameters_;
  identity.vk.delta_g2 = G2Affine::infinity();
  EXPECT_EQ(code(identity, mixed_.witness), Code::kInvalidParams);
  const auto shorter = [](auto values) { return values.first(values.size() - 1); };
  r1cs::Assignment witness = mixed_.witness;
  witness.inputs = shorter(witness.inputs);
  EXPECT_EQ(code(parameters_, witness), Code::kInvalidInput);
  witness = mixed_.witness;
  witness.fields = shorter(witness.fields);
  EXPECT_EQ(code(parameters_, witness), Code::kInvalidInput);
  witness = mixed_.witness;
  witness.bits = shorter(witness.bits);
  EXPECT_EQ(code(parameters_, witness), Code::kInvalidInput);
  EXPECT_EQ(start_mixed(1).error().code, Code::kResourceExhausted);
}

}  // namespace
}  // namespace cuzk::groth16
