#include "engine/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing.h"
#include "engine/simulator.h"

namespace cuzk::engine {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

TEST(Plan, Case10_TakesTheSmallestLimitAndSaysWhich) {
  const mem::MemoryLimits limits{{64 * kGiB, "MemTotal"}, {40 * kGiB, "cgroup v2 memory.max of /a"}};
  HostPlan plan = plan_host(limits);
  EXPECT_EQ(plan.host_bytes + plan.request_bytes, 35 * kGiB);
  EXPECT_EQ(plan.request_bytes, 35 * kGiB / 8);
  EXPECT_THAT(plan.source, ::testing::HasSubstr("40.0 GiB by cgroup v2 memory.max of /a, less 5.0 GiB"));
  plan = plan_host(limits, 8 * kGiB);
  EXPECT_EQ(plan.host_bytes + plan.request_bytes, 7 * kGiB) << "an eighth is kept";
  EXPECT_THAT(plan.source, ::testing::HasSubstr("configuration"));
  plan = plan_host(limits, {}, 50 * kGiB);
  EXPECT_EQ(plan.host_bytes, 0u);
}

// What the scheduler does when there is enough work.
TEST(Plan, AgreesWithTheScheduler) {
  auto random = testing::rng();
  size_t fitting = 0, bound = 0;
  for (int run = 0; run < 300; run++) {
    auto below = [&](uint64_t end) { return random() % end; };
    Policy policy;
    policy.host_bytes = 50 + below(200);
    policy.partition_workers = 1 + below(10);
    const std::vector<DeviceSpec> devices = {{"d", 1 + below(2), 40}};
    const CircuitNeeds needs{below(20), 1 + below(20), {{{below(30), below(40)}, {below(60), below(20)}, {}}}};
    const CircuitPlan plan = plan_circuit(policy, devices, "c", needs);
    Profile profile{.memory_bytes = UINT64_MAX, .policy = policy, .devices = devices};
    profile.circuits = {{.id = "c", .partitions = 40, .synthesis = 1, .device = 1, .finish = 1, .needs = needs}};
    size_t at_once = 0;
    SimulationHooks hooks;
    hooks.after_round = [&](const Scheduler&, const auto&, const Sample& sample, double) {
      at_once = std::max(at_once, sample.synthesising + sample.queued);
    };
    const auto report = simulate(profile, {.jobs = 1}, hooks);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->completed, plan.why_not ? 0u : 1u);
    EXPECT_EQ(at_once, plan.at_once);
    if (!plan.why_not) {
      EXPECT_LE(report->peak_host, plan.peak_host_bytes);
    }
    fitting += !plan.why_not;
    bound += plan.bound_by_memory;
  }
  EXPECT_GT(fitting, 50u);
  EXPECT_GT(bound, 20u);
}

}  // namespace
}  // namespace cuzk::engine
