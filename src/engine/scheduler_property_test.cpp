// Random machines and workloads under the virtual clock. The simulator keeps its own account of memory, from the
// profile and not from what the scheduler says that it granted.

#include <gtest/gtest.h>

#include <cmath>

#include "base/testing.h"
#include "engine/simulator.h"

namespace cuzk::engine {
namespace {

using Kind = Decision::Kind;
using Step = Scheduler::Step;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kRuns = 500;
#else
constexpr int kRuns = 10'000;
#endif

struct Random {
  std::mt19937_64 bits;
  uint64_t below(uint64_t end) { return bits() % end; }
  uint64_t from(uint64_t least, uint64_t most) { return least + below(most - least + 1); }
  bool chance(double share) { return static_cast<double>(bits() >> 11) * 0x1p-53 < share; }
  double seconds(double mean) { return -mean * std::log(1 - static_cast<double>(bits() >> 11) * 0x1p-53); }
};

Profile random_machine(Random& random, bool reserves) {
  Profile profile;
  profile.memory_bytes = UINT64_MAX;
  profile.loaded = random.chance(0.5);
  profile.slowdown = random.chance(0.5) ? 0.05 : 0;
  Policy& policy = profile.policy;
  policy.partition_workers = random.from(1, 5);
  policy.parsers = random.from(1, 2);
  policy.loaders = random.from(1, 2);
  policy.finishers = random.from(1, 2);
  policy.max_waiting = random.from(3, 40);
  policy.host_bytes = random.from(60, 300);
  policy.request_bytes = random.from(10, 60);
  policy.circuit_allowance = random.from(10, 30);
  policy.attempts = static_cast<unsigned>(random.from(1, 3));
  policy.device_failures = static_cast<unsigned>(random.from(1, 3));
  policy.quarantine = std::chrono::seconds(random.from(1, 50));
  policy.ageing = std::chrono::seconds(random.from(0, 100));
  policy.stage_limit = std::chrono::seconds(random.chance(0.5) ? random.from(5, 30) : 0);
  policy.permit_through_hand_over = random.chance(0.9);
  if (reserves) {
    for (Reserve* reserve : {&policy.high, &policy.critical})
      *reserve = {random.below(2), random.below(3), random.below(30), random.below(20), random.below(5)};
  }
  const size_t devices = random.chance(0.5) ? 1 : random.from(2, 3);
  for (size_t d = 0; d < devices; d++)
    profile.devices.push_back({"device", random.from(1, 2), random.chance(0.3) ? 0 : random.from(40, 150)});
  const size_t circuits = random.from(1, 4);
  for (size_t c = 0; c < circuits; c++) {
    CircuitProfile circuit{.id = fmt::format("circuit {}", c),
                           .partitions = static_cast<uint32_t>(random.from(1, 5)),
                           .parse = 1,
                           .load_circuit = 2,
                           .load_params = 10,
                           .synthesis = 5,
                           .device = 2,
                           .worker = 1,
                           .finish = 1,
                           .request_bytes = random.below(10)};
    circuit.needs = {random.from(1, 15), random.from(1, 12), {}};
    for (const DeviceSpec& device : profile.devices) {
      const bool inside = device.memory_bytes > 0;
      Needs needs;
      needs.params = {random.below(inside ? 5 : 50), inside ? random.below(60) : 0};
      needs.start = {random.below(inside ? 5 : 40), inside ? random.below(40) : 0};
      needs.pending = {random.below(circuit.needs.witness_bytes + needs.start.host + 1),
                       random.below(needs.start.device + 1)};
      circuit.needs.devices.push_back(needs);
    }
    profile.circuits.push_back(circuit);
  }
  return profile;
}

Workload random_workload(Random& random, const Profile& profile) {
  Workload workload;
  const double span = random.chance(0.5) ? 5 : 200;
  const size_t jobs = random.from(1, 30);
  for (size_t j = 0; j < jobs; j++) {
    Submission submission{static_cast<double>(random.below(1000)) / 1000 * span, random.below(profile.circuits.size()),
                          static_cast<Priority>(random.below(4))};
    if (random.chance(0.1)) submission.deadline = submission.at + random.seconds(60);
    if (random.chance(0.15)) submission.cancel_at = submission.at + random.seconds(20);
    workload.submissions.push_back(submission);
  }
  for (uint64_t wishes = random.chance(0.5) ? 0 : random.below(5); wishes > 0; wishes--)
    workload.wishes.push_back({random.seconds(50), random.below(profile.circuits.size()), random.chance(0.7)});
  return workload;
}

// What must hold after each round of decisions.
struct Watcher {
  const Profile& profile;
  bool reserves;
  std::map<Kind, size_t>& seen;
  size_t& doubted;
  std::map<JobId, int> ends;
  uint64_t faults = 0;

  void fault(const std::string& what) {
    if (faults++ == 0) ADD_FAILURE() << what;
  }

  void look(const Scheduler& scheduler, const std::vector<Decision>& decisions, const Sample& sample, double now) {
    const Policy& policy = profile.policy;
    const Live& live = sample.live;
    if (live.host() - live.requests > policy.host_bytes)
      fault(fmt::format("at {}: {} bytes of host memory are live, {} were allowed", now, live.host() - live.requests,
                        policy.host_bytes));
    if (live.requests > policy.request_bytes) fault(fmt::format("at {}: {} bytes of requests", now, live.requests));
    if (live.requests != scheduler.requests().used) fault("the accounts of requests differ");
    if (live.host() - live.requests > scheduler.host().used) fault("more is live than was granted");
    for (size_t d = 0; d < profile.devices.size(); d++) {
      if (sample.on_device_bytes[d] > profile.devices[d].memory_bytes) fault("a device has too much");
      if (sample.on_device_bytes[d] != scheduler.device_memory(d).used) fault("the accounts of a device differ");
    }
    const size_t extra = policy.high.lanes + policy.critical.lanes;
    if (policy.permit_through_hand_over && sample.synthesising + sample.queued > policy.partition_workers + extra)
      fault("more permits than there are");
    for (const Decision& decision : decisions) {
      seen[decision.kind]++;
      doubted += decision.doubted;
      if (decision.kind == Kind::kEnd) ends[decision.job]++;
      if (decision.kind == Kind::kSynthesise && profile.devices.size() == 1) check_order(scheduler, decision, now);
    }
  }

  // Nobody whose circuit is ready waits while somebody behind it begins, unless that one's class has a reserve.
  void check_order(const Scheduler& scheduler, const Decision& decision, double now) {
    const auto jobs = scheduler.jobs();
    auto behind = std::find_if(jobs.begin(), jobs.end(), [&](const auto& job) { return job.id == decision.job; });
    for (auto ahead = jobs.begin(); ahead != behind; ++ahead) {
      if (ahead->partitions[size_t(Step::kWaiting)] == 0 || is_final(ahead->state)) continue;
      if (reserves && ahead->priority != behind->priority) continue;
      if (scheduler.resident(ahead->circuit, 0) != Scheduler::Residency::kReady) continue;
      if (scheduler.resident(ahead->circuit, kNoDevice) != Scheduler::Residency::kReady) continue;
      fault(fmt::format("at {}: job {} overtakes job {}", now, behind->id, ahead->id));
    }
  }
};

Status random_outcome(Random& random, double failures, const Decision& decision) {
  if (!random.chance(failures)) return {};
  constexpr std::array kCodes = {Code::kUnavailable, Code::kResourceExhausted, Code::kInternal, Code::kInvalidInput};
  Code code = kCodes[random.below(kCodes.size())];
  if (decision.kind == Kind::kFinish && random.chance(0.7)) code = Code::kVerifyFailed;
  if (decision.kind == Kind::kSynthesise && decision.check_rows && random.chance(0.5)) code = Code::kUnsatisfied;
  return fail(code, "made to fail");
}

TEST(SchedulerProperties, HoldForRandomWorkloads) {
  size_t completed = 0, failed = 0, cancelled = 0;
  std::map<Kind, size_t> seen;  // decisions
  size_t doubted = 0;           // evictions
  for (int run = 0; run < kRuns && !HasFailure(); run++) {
    SCOPED_TRACE(fmt::format("run {}", run));
    Random random{testing::rng(static_cast<uint64_t>(run))};
    const bool reserves = random.chance(0.5);
    const Profile profile = random_machine(random, reserves);
    const Workload workload = random_workload(random, profile);
    const double failures = random.chance(0.5) ? 0 : 0.1;
    Watcher watcher{profile, reserves, seen, doubted};
    SimulationHooks hooks;
    hooks.timeline = false;
    hooks.max_rounds = 50'000;
    hooks.duration = [&](const Decision&, double mean) { return random.seconds(mean); };
    hooks.outcome = [&](const Decision& decision) { return random_outcome(random, failures, decision); };
    hooks.after_round = [&](const Scheduler& scheduler, const auto& decisions, const Sample& sample, double now) {
      watcher.look(scheduler, decisions, sample, now);
    };
    const Result<Report> report = simulate(profile, workload, hooks);
    ASSERT_TRUE(report) << report.error().message;
    completed += report->completed, failed += report->failed, cancelled += report->cancelled;
    EXPECT_EQ(report->completed + report->failed + report->cancelled + report->refused, workload.submissions.size());
    EXPECT_EQ(watcher.ends.size() + report->refused, workload.submissions.size());
    for (const auto& [id, count] : watcher.ends) EXPECT_EQ(count, 1) << "ends of job " << id;
    const Live& left = report->left;
    EXPECT_EQ(left.requests + left.witnesses + left.evaluations + left.pending, 0u);
  }
  // The workloads are not trivial.
  EXPECT_GT(completed, size_t{kRuns});
  EXPECT_GT(failed, size_t{kRuns} / 10);
  EXPECT_GT(cancelled, size_t{kRuns} / 10);
  for (Kind kind : {Kind::kParse, Kind::kLoadCircuit, Kind::kLoadParams, Kind::kEvict, Kind::kSynthesise, Kind::kStart,
                    Kind::kFinish, Kind::kDrop, Kind::kOverdue, Kind::kEnd})
    EXPECT_GT(seen[kind], size_t{kRuns} / 10) << static_cast<int>(kind);
  EXPECT_GT(doubted, size_t{kRuns} / 10);
}

// A machine that only just keeps up with small urgent jobs: one that is not urgent is done in its time all the same.
TEST(SchedulerProperties, Case7_NoJobStarves) {
  for (Priority urgent : {Priority::kNormal, Priority::kHigh, Priority::kCritical}) {
    Profile profile;
    profile.memory_bytes = UINT64_MAX;
    profile.policy.host_bytes = 100;
    profile.policy.ageing = std::chrono::minutes(10);
    profile.devices = {{"device", 1, 0}};
    const Needs needs{.params = {10, 0}, .start = {20, 0}, .pending = {1, 0}};
    profile.circuits = {
        {.id = "small", .partitions = 1, .synthesis = 1, .device = 1, .finish = 1, .needs = {1, 5, {needs}}},
        {.id = "large",
         .partitions = 4,
         .load_params = 5,
         .synthesis = 9,
         .device = 9,
         .finish = 1,
         .needs = {1, 40, {needs}}}};
    Workload workload;
    for (int second = 0; second < 7200; second++)
      workload.submissions.push_back({.at = static_cast<double>(second), .circuit = 0, .priority = urgent});
    workload.submissions.push_back({.at = 100.5, .circuit = 1, .priority = Priority::kLow});
    profile.policy.max_waiting = workload.submissions.size();
    std::optional<JobId> low;
    std::optional<double> ended;
    SimulationHooks hooks{.timeline = false};
    hooks.after_round = [&](const Scheduler& scheduler, const auto& decisions, const Sample&, double now) {
      for (const auto& job : scheduler.jobs()) {
        if (job.priority == Priority::kLow) low = job.id;
      }
      for (const Decision& decision : decisions) {
        if (decision.kind == Kind::kEnd && decision.job == low) ended = now;
      }
    };
    ASSERT_TRUE(simulate(profile, workload, hooks));
    // The bound is the ageing of the classes between; the work that came before it, here a second a job; and its own
    // stages, one after the other.
    const double bound = 600 * static_cast<double>(urgent) + 100.5 + 600 * static_cast<double>(urgent) + 4 * 19 + 5;
    ASSERT_TRUE(ended);
    EXPECT_LT(*ended - 100.5, bound) << static_cast<int>(urgent);
    EXPECT_GT(*ended - 100.5, 500 * static_cast<double>(urgent)) << "the others go first until then";
  }
}

}  // namespace
}  // namespace cuzk::engine
