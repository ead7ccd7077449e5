#include "engine/simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::engine {
namespace {

constexpr double kGiB = 1 << 30;

struct Row {
  size_t partition_workers, gpu_workers;
  double peak_gib, seconds_per_proof;  // as published (wire.md, section 7)
  size_t concurrent;                   // jobs in flight; not published for these rows
};

// The rows of many workers have more jobs in flight than matter for the pace, and each holds the 3 GiB of its request;
// the others just enough to keep the workers busy.
TEST(Simulator, ShowsThePublishedPeaksAndPaces) {
  for (const Row& row :
       {Row{10, 2, 321, 38.5, 30}, Row{12, 2, 400, 37.7, 30}, Row{14, 2, 457, 37.8, 30}, Row{16, 2, 510, 38.4, 30},
        Row{2, 1, 110, 152, 1}, Row{5, 1, 170, 68.4, 2}, Row{7, 1, 208, 53.3, 2}}) {
    SCOPED_TRACE(row.partition_workers);
    const auto report =
        simulate(published_machine(row.partition_workers, row.gpu_workers), {.jobs = 30, .concurrent = row.concurrent});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->completed, 30u);
    const double peak_gib = static_cast<double>(report->peak_host) / kGiB;
    fmt::print("pw {:2} gw {}: peak {:.0f} GiB (published {}, {:+.1f} %), {:.1f} s a proof (published {}, {:+.1f} %)\n",
               row.partition_workers, row.gpu_workers, peak_gib, row.peak_gib, 100 * (peak_gib / row.peak_gib - 1),
               report->seconds_per_proof, row.seconds_per_proof,
               100 * (report->seconds_per_proof / row.seconds_per_proof - 1));
    EXPECT_NEAR(peak_gib, row.peak_gib, 0.15 * row.peak_gib);
    EXPECT_NEAR(report->seconds_per_proof, row.seconds_per_proof, 0.15 * row.seconds_per_proof);
    EXPECT_FALSE(report->out_of_memory_at);
  }
}

TEST(Simulator, ShowsThePublishedAccident) {
  auto old = [](size_t workers) { return *simulate(published_accident(workers, 2), {.jobs = 15, .concurrent = 15}); };
  const Report twelve = old(12), fifteen = old(15);
  fmt::print("old policy: pw 12 {:.0f} GiB and {} queued; pw 15 out of memory after {:.0f} s\n",
             static_cast<double>(twelve.peak_host) / kGiB, twelve.peak_queued, fifteen.out_of_memory_at.value_or(0));
  EXPECT_GE(static_cast<double>(twelve.peak_host) / kGiB, 600);
  EXPECT_GE(twelve.peak_queued, 25u);
  EXPECT_FALSE(twelve.out_of_memory_at);
  EXPECT_TRUE(fifteen.out_of_memory_at);
}

// A machine small enough to reckon by hand.
TEST(Simulator, AddsUpByHand) {
  Profile profile;
  profile.memory_bytes = 1000;
  profile.policy.host_bytes = 600;
  profile.policy.request_bytes = 400;
  profile.policy.partition_workers = 2;
  profile.policy.circuit_allowance = 100;
  profile.devices = {{"d", 2, 50}};
  profile.loaded = false;
  profile.slowdown = 0.5;
  profile.circuits = {{.id = "c",
                       .partitions = 2,
                       .parse = 1,
                       .load_circuit = 2,
                       .load_params = 3,
                       .synthesis = 4,
                       .device = 5,
                       .worker = 1,
                       .finish = 2,
                       .request_bytes = 7,
                       .needs = {.circuit_bytes = 10,
                                 .witness_bytes = 20,
                                 .devices = {{.params = {30, 10}, .start = {40, 20}, .pending = {5, 1}}}}}};
  const auto report = simulate(profile, {.jobs = 1});
  ASSERT_TRUE(report) << report.error().message;
  // parse 1, circuit 3, parameters 6; both witnesses at 6 + 4 * 1.5 = 12; kernels until 17 and 22; one second more for
  // the worker, two to finish.
  EXPECT_NEAR(report->seconds, 25, 1e-6);
  EXPECT_EQ(report->peak_host, 7u + 10 + 30 + 2 * 20 + 2 * 40);
  EXPECT_EQ(report->peak.pending, 5u);
  EXPECT_EQ(report->peak_on_device[0], 10u + 2 * 20);
  EXPECT_NEAR(report->device_idle[0], 1 - 10.0 / 25, 1e-6);
  EXPECT_NEAR(report->synthesis_idle, 1 - 12.0 / 50, 1e-6);
  EXPECT_EQ(report->left.host(), 10u + 30);
}

}  // namespace
}  // namespace cuzk::engine
