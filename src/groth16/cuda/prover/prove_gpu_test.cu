#include <gtest/gtest.h>

#include "gpu/testing.h"
#include "groth16/cuda/prover/prove.h"
#include "groth16/cuda/prover/setup.h"
#include "groth16/query.h"
#include "groth16/testing.h"

namespace cuzk::groth16 {
namespace {

exec::Pool& pool() {
  static exec::Pool shared(2);
  return shared;
}

Parameters parameters_of(const r1cs::Circuit& circuit, const Toxic& toxic) {
  testing::TemporaryFolder folder;
  EXPECT_TRUE(setup(circuit, toxic, folder / "params", pool()));
  return load_params(folder / "params", lengths_of(circuit), {}, pool()).value().parameters;
}

// Every sum, with all the memory that is of use and with as little as will do.
void expect_host_sums(const r1cs::Circuit& circuit, const r1cs::Witness& witness, uint64_t seed) {
  const Toxic toxic = toxic_from_seed(seed);
  const Parameters parameters = parameters_of(circuit, toxic);
  std::vector<std::byte> room(start_bytes(circuit, pool().threads()));
  const Pending want = start(circuit, parameters, witness, room, pool()).value();

  const auto stream = gpu::Stream::make(0).value();
  const DeviceProver prover =
      DeviceProver::make(circuit, gpu::test_memory(plan_device_proof(circuit).resident_bytes), stream).value();
  const DeviceParameters on_device =
      upload_params(parameters, gpu::test_memory(device_bytes(lengths_of(circuit)))).value();
  for (auto [windows, ample] : {std::pair(false, true), {false, false}, {true, true}, {true, false}}) {
    uint64_t least = 0, limit = uint64_t{1} << 33;
    while (!ample && least + 1 < limit) {
      const uint64_t middle = (least + limit) / 2;
      (prover.plan().workspace_bytes(windows, middle) ? limit : least) = middle;
    }
    const uint64_t workspace_bytes = prover.plan().workspace_bytes(windows, limit).value();
    EXPECT_LE(workspace_bytes, limit);
    const auto workspace = gpu::test_memory(workspace_bytes);
    auto got = prover.start(windows ? points_of(parameters) : points_of(on_device), witness, workspace.bytes(), stream);
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->h, want.h);
    EXPECT_EQ(got->l, want.l);
    EXPECT_EQ(got->a, want.a);
    EXPECT_EQ(got->b_g1, want.b_g1);
    EXPECT_EQ(got->b_g2, want.b_g2);
    const Fr r = Fr::from_u64(seed + 5), s = Fr::from_u64(seed + 7);
    EXPECT_EQ(finish(*got, parameters.vk, r, s).value(), finish(want, parameters.vk, r, s).value());

    auto points = windows ? points_of(parameters) : points_of(on_device);
    points.b_g2.reset();
    got = prover.start(points, witness, workspace.bytes(), stream);
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->b_g1, want.b_g1);
    EXPECT_TRUE(got->b_g2.is_infinity());
  }
  EXPECT_EQ(sum_b_g2(r1cs::WitnessView(circuit, witness), parameters.b_g2, room, pool()).value(), want.b_g2);
}

TEST(DeviceProver, SumsOfTheHost) {
  CUZK_SKIP_WITHOUT_DEVICE();
  for (uint32_t bits : {1u, 2u, 20u, 333u, 5000u}) {
    for (bool packed : {true, false}) {
      const auto [circuit, witness] = testing::make_mixed(bits, packed, bits);
      expect_host_sums(circuit, witness, bits);
    }
  }
}

TEST(DeviceProver, TinyCircuits) {
  CUZK_SKIP_WITHOUT_DEVICE();
  for (const char* name : {"mimc", "chain", "odd", "inputs"}) {
    if (testing::tiny_folder(name).empty()) continue;
    const testing::Tiny tiny = testing::load_tiny(name);
    expect_host_sums(tiny.circuit, tiny.witness, 1);
  }
}

TEST(DeviceProver, RefusesWhatDoesNotFit) {
  CUZK_SKIP_WITHOUT_DEVICE();
  const auto small = testing::make_mixed(8, true, 1), large = testing::make_mixed(40, true, 2);
  const auto stream = gpu::Stream::make(0).value();
  const auto prover =
      DeviceProver::make(small.circuit, gpu::test_memory(plan_device_proof(small.circuit).resident_bytes), stream)
          .value();
  EXPECT_EQ(prover.plan().workspace_bytes(false, 1000).error().code, Code::kTooLarge);
  const auto upload = [&](const r1cs::Circuit& circuit) {
    return upload_params(parameters_of(circuit, toxic_from_seed(1)),
                         gpu::test_memory(device_bytes(lengths_of(circuit))))
        .value();
  };
  const auto workspace = gpu::test_memory(prover.plan().workspace_bytes(false).value());
  const DeviceParameters of_large = upload(large.circuit), of_small = upload(small.circuit);
  EXPECT_EQ(prover.start(points_of(of_large), small.witness, workspace.bytes(), stream).error().code,
            Code::kInvalidParams);
  EXPECT_EQ(prover.start(points_of(of_small), large.witness, workspace.bytes(), stream).error().code,
            Code::kInvalidInput);
  EXPECT_EQ(prover.start(points_of(of_small), small.witness, workspace.bytes().first(1000), stream).error().code,
            Code::kInternal);
}

TEST(DeviceSetup, ParametersOfTheHost) {
  CUZK_SKIP_WITHOUT_DEVICE();
  const gpu::DeviceInfo device = gpu::find_device("").value();
  for (uint32_t bits : {1u, 100u, 3000u}) {
    const auto mixed = testing::make_mixed(bits, true, bits);
    const Toxic toxic = toxic_from_seed(bits);
    const Parameters want = parameters_of(mixed.circuit, toxic);
    const auto workspace = gpu::test_memory(setup_on_device_bytes(mixed.circuit, device));
    auto made = setup_on_device(mixed.circuit, toxic, device, gpu::test_memory(device_bytes(lengths_of(mixed.circuit))),
                                workspace.bytes());
    ASSERT_TRUE(made) << made.error().message;
    const Parameters got = download_params(*made).value();
    EXPECT_EQ(got.vk, want.vk);
    EXPECT_EQ(got.h, want.h);
    EXPECT_EQ(got.l, want.l);
    EXPECT_EQ(got.a, want.a);
    EXPECT_EQ(got.b_g1, want.b_g1);
    EXPECT_EQ(got.b_g2, want.b_g2);
  }
}

}  // namespace
}  // namespace cuzk::groth16
