#include "groth16/setup.h"

#include <gmock/gmock.h>

#include "groth16/testing.h"

namespace cuzk::groth16 {
namespace {

using testing::fr_from_hex;
using ::testing::HasSubstr;
using testing::read_file;
using testing::TemporaryFolder;

class TinySetup : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (testing::tiny_folder(GetParam()).empty()) GTEST_SKIP() << "no reference vectors: set CUZK_VECTORS";
    tiny_ = testing::load_tiny(GetParam());
  }
  testing::Tiny tiny_;
};

TEST_P(TinySetup, SecretsOfTheSeed) {
  Toxic toxic = toxic_from_seed(tiny_.info["toxic_seed"].get<uint64_t>());
  for (auto [name, value] : {std::pair{"alpha", toxic.alpha},
                             {"beta", toxic.beta},
                             {"gamma", toxic.gamma},
                             {"delta", toxic.delta},
                             {"tau", toxic.tau}}) {
    EXPECT_EQ(value, fr_from_hex(tiny_.info["toxic"][name])) << name;
  }
  EXPECT_EQ(toxic_from_json(tiny_.info["toxic"].dump()).value(), toxic);
  EXPECT_EQ(toxic_from_json(tiny_.info.dump()).value(), toxic);
}

TEST_P(TinySetup, FilesByteForByte) {
  TemporaryFolder folder;
  for (size_t threads : {1u, 3u}) {
    exec::Pool pool(threads);
    uint64_t last = 0, all = 0;
    auto vk = setup(tiny_.circuit, toxic_from_seed(tiny_.info["toxic_seed"].get<uint64_t>()), folder / "x.params", pool,
                    [&](uint64_t done, uint64_t total) { last = done, all = total; });
    ASSERT_TRUE(vk) << vk.error().message;
    EXPECT_TRUE(read_file(folder / "x.params") == read_file(tiny_.folder / "circuit.params"));
    EXPECT_TRUE(encode_vk(*vk) == read_file(tiny_.folder / "circuit.vk"));
    EXPECT_EQ(last, all);
    EXPECT_GT(all, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors, TinySetup, ::testing::Values("mimc", "chain", "odd", "inputs"),
                         [](const auto& tested) { return tested.param; });

// sum_i z_i A_i(tau) is the polynomial with the values a_q, at tau; the same for B and C. So A B = C modulo the
// vanishing polynomial, and at a point of the domain, where only A B - C = h Z matters, tau is refused.
TEST(Qap, MatchesLagrangeInterpolation) {
  auto mixed = testing::make_mixed(5, true, 1);
  const r1cs::Circuit& circuit = mixed.circuit;
  exec::Pool pool(2);
  const Fr tau = Fr::from_u64(123456789);
  auto qap = qap_at(circuit, tau, pool).value();

  const size_t m = size_t{1} << r1cs::log2_domain(circuit);
  const Fr root = fr_root_of_unity(r1cs::log2_domain(circuit));
  std::vector<Fr> a(m), b(m), c(m);
  r1cs::WitnessView view(circuit, mixed.witness);
  r1cs::evaluate(view, 0, circuit.num_constraints, std::span(a).first(circuit.num_constraints),
                 std::span(b).first(circuit.num_constraints), std::span(c).first(circuit.num_constraints));
  for (size_t i = 0; i < circuit.num_inputs; i++) a[circuit.num_constraints + i] = mixed.witness.inputs[i];
  auto interpolate = [&](const std::vector<Fr>& values) {  // by the definition of the Lagrange basis
    Fr sum;
    for (size_t q = 0; q < m; q++) {
      Fr basis = Fr::one(), x = root.pow(q);
      for (size_t j = 0; j < m; j++) {
        if (j != q) basis *= (tau - root.pow(j)) * (x - root.pow(j)).inverse();
      }
      sum += values[q] * basis;
    }
    return sum;
  };
  auto combine = [&](const std::vector<Fr>& polynomials) {
    Fr sum;
    for (size_t i = 0; i < polynomials.size(); i++) {
      sum += polynomials[i] * view.value(i < circuit.num_inputs
                                             ? r1cs::Var::input(static_cast<uint32_t>(i))
                                             : r1cs::Var::aux(static_cast<uint32_t>(i - circuit.num_inputs)));
    }
    return sum;
  };
  EXPECT_EQ(combine(qap.a), interpolate(a));
  EXPECT_EQ(combine(qap.b), interpolate(b));
  EXPECT_EQ(combine(qap.c), interpolate(c));

  EXPECT_FALSE(qap_at(circuit, Fr::one(), pool));
  EXPECT_FALSE(qap_at(circuit, root, pool));
}

TEST(Setup, RefusesBadSecretsAndCircuits) {
  exec::Pool pool(1);
  TemporaryFolder folder;
  auto mixed = testing::make_mixed(3, true, 2);
  for (Fr Toxic::*secret : {&Toxic::alpha, &Toxic::beta, &Toxic::gamma, &Toxic::delta, &Toxic::tau}) {
    Toxic toxic = toxic_from_seed(9);
    toxic.*secret = Fr::zero();
    auto vk = setup(mixed.circuit, toxic, folder / "x.params", pool);
    ASSERT_FALSE(vk);
    EXPECT_EQ(vk.error().code, Code::kInvalidInput);
    EXPECT_THAT(vk.error().message, HasSubstr("is zero"));
  }
  r1cs::Recorder recorder;  // auxiliary variable 1 is in no row
  recorder.alloc({});
  recorder.alloc({});
  recorder.enforce([](r1cs::RowBuilder& row) {
    row.a.add(r1cs::Var::aux(0), Fr::one());
    row.b.add(r1cs::Var::aux(0), Fr::one());
    row.c.add(r1cs::Var::one(), Fr::one());
  });
  auto vk = setup(std::move(recorder).finish("loose"), toxic_from_seed(9), folder / "x.params", pool);
  ASSERT_FALSE(vk);
  EXPECT_THAT(vk.error().message, HasSubstr("l[1]"));
  EXPECT_TRUE(std::filesystem::is_empty(folder / ""));
}

TEST(Toxic, RefusesMalformedJson) {
  const std::string r = "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001";
  auto with = [](const std::string& tau) {
    return toxic_from_json(R"({"alpha": "1", "beta": "2", "gamma": "3", "delta": "4", "tau": )" + tau + "}");
  };
  EXPECT_EQ(with("\"ff\"")->tau, Fr::from_u64(255));
  for (const std::string& tau :
       {"\"" + r + "\"", std::string("\"\""), std::string("\"xy\""), std::string("7"), "\"0" + r + "\""}) {
    auto toxic = with(tau);
    ASSERT_FALSE(toxic) << tau;
    EXPECT_THAT(toxic.error().message, HasSubstr("tau"));
  }
  for (const char* text : {"", "[]", "{}", "{\"alpha\": \"1\"}", "nonsense"})
    EXPECT_FALSE(toxic_from_json(text)) << text;
}

}  // namespace
}  // namespace cuzk::groth16
