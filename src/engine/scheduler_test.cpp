// The rules one by one, without threads and without time.

#include "engine/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = Decision::Kind;
using Step = Scheduler::Step;
using Lines = std::vector<std::string>;

// Decisions as lines: "parse 0", "load c", "load c@1", "evict c@0", "synth 0.2", "start 0.2@1", "finish 0.2", "drop
// 0.2", "overdue start", "end 0 completed".
struct Bench {
  Scheduler scheduler;
  Time now{};

  explicit Bench(Policy policy = {}, std::vector<DeviceSpec> devices = {{"d0", 1, 0}})
      : scheduler(std::move(policy), std::move(devices)) {}

  // The circuit is known by one letter; every device needs the same.
  size_t circuit(char name, uint64_t circuit_bytes = 0, uint64_t witness_bytes = 0, Needs needs = {},
                 size_t devices = 1) {
    const size_t index = scheduler.circuit(std::string(1, name));
    scheduler.know(index, {circuit_bytes, witness_bytes, std::vector<Needs>(devices, needs)});
    names.push_back(name);
    return index;
  }
  // A job whose request is parsed and whose circuit and parameters are there.
  JobId job(size_t circuit, uint32_t partitions = 1, Priority priority = Priority::kNormal, JobSpec spec = {}) {
    const JobId id = next++;
    spec.priority = priority;
    EXPECT_TRUE(scheduler.admit(id, spec, now));
    for (std::string& line : decide()) {
      if (line != fmt::format("parse {}", id)) before.push_back(std::move(line));
    }
    parsed(id, circuit, partitions);
    return id;
  }
  void parsed(JobId id, size_t circuit, uint32_t partitions) {
    scheduler.parsed(id, Scheduler::Parsed{circuit, partitions}, now);
  }
  void loaded(size_t circuit, std::vector<size_t> devices = {0}) {
    scheduler.preload(circuit);
    decide();
    scheduler.circuit_loaded(circuit, needs_of(circuit), now);
    decide();
    for (size_t device : devices) scheduler.params_loaded(circuit, device, {}, now);
    decide();
  }
  CircuitNeeds needs_of(size_t circuit) { return known.at(circuit); }

  Lines decide() {
    Lines lines = std::exchange(before, {});
    last = scheduler.decide(now);
    for (const Decision& d : last) {
      const std::string circuit_name(1, d.circuit < names.size() ? names[d.circuit] : '?');
      const std::string part = fmt::format("{}.{}", d.job, d.partition);
      const std::string at = d.device == kNoDevice ? "" : fmt::format("@{}", d.device);
      switch (d.kind) {
        case Kind::kParse: lines.push_back(fmt::format("parse {}", d.job)); break;
        case Kind::kLoadCircuit: lines.push_back("load " + circuit_name); break;
        case Kind::kLoadParams: lines.push_back("load " + circuit_name + at); break;
        case Kind::kEvict: lines.push_back("evict " + circuit_name + at); break;
        case Kind::kSynthesise: lines.push_back("synth " + part); break;
        case Kind::kStart: lines.push_back("start " + part + at); break;
        case Kind::kFinish: lines.push_back("finish " + part); break;
        case Kind::kDrop: lines.push_back("drop " + part); break;
        case Kind::kOverdue:
          lines.push_back(fmt::format("overdue {}", kStageNames[static_cast<size_t>(d.origin->stage)]));
          break;
        case Kind::kEnd:
          constexpr std::array kEnds = {"completed", "failed", "cancelled"};
          lines.push_back(fmt::format("end {} {}", d.job,
                                      kEnds[static_cast<size_t>(d.state) - static_cast<size_t>(State::kCompleted)]));
          if (d.error) error = *d.error;
      }
    }
    return lines;
  }
  Lines synthesised(JobId job, uint32_t partition = 0, Status status = {}) {
    scheduler.synthesised({job, partition}, status, now);
    return decide();
  }
  Lines started(JobId job, uint32_t partition = 0, Status status = {}) {
    scheduler.started({job, partition}, status, now);
    return decide();
  }
  Lines finished(JobId job, uint32_t partition = 0, Status status = {}) {
    scheduler.finished({job, partition}, status, now);
    return decide();
  }
  Lines dropped(JobId job, uint32_t partition = 0) {
    scheduler.dropped({job, partition}, now);
    return decide();
  }

  std::vector<char> names;
  std::map<size_t, CircuitNeeds> known;
  JobId next = 0;
  Lines before;  // decisions between two jobs
  std::vector<Decision> last;
  Error error{Code::kInternal, ""};
};

// With circuit c known, loaded and free of charge.
struct Ready : Bench {
  size_t c;
  explicit Ready(Policy policy = {}, std::vector<DeviceSpec> devices = {{"d0", 1, 0}}, uint64_t witness = 0,
                 Needs needs = {})
      : Bench(std::move(policy), devices) {
    c = add('c', witness, needs, devices.size());
  }
  size_t add(char name, uint64_t witness, Needs needs, size_t devices) {
    const size_t index = circuit(name, 0, witness, needs, devices);
    known[index] = {0, witness, std::vector<Needs>(devices, needs)};
    std::vector<size_t> all(devices);
    for (size_t d = 0; d < devices; d++) all[d] = d;
    loaded(index, all);
    return index;
  }
};

TEST(Scheduler, LeadsAJobThroughItsStages) {
  Bench bench;
  const size_t c = bench.circuit('c');
  ASSERT_TRUE(bench.scheduler.admit(0, {}, bench.now));
  EXPECT_THAT(bench.decide(), ElementsAre("parse 0"));
  bench.parsed(0, c, 1);
  EXPECT_THAT(bench.decide(), ElementsAre("load c"));
  EXPECT_EQ(bench.scheduler.waiting(), 1u);
  bench.scheduler.circuit_loaded(c, CircuitNeeds{0, 0, {{}}}, bench.now);
  EXPECT_THAT(bench.decide(), ElementsAre("load c@0"));
  bench.scheduler.params_loaded(c, 0, {}, bench.now);
  EXPECT_THAT(bench.decide(), ElementsAre("synth 0.0"));
  EXPECT_EQ(bench.scheduler.waiting(), 0u);
  EXPECT_THAT(bench.synthesised(0), ElementsAre("start 0.0@0"));
  EXPECT_THAT(bench.started(0), ElementsAre("finish 0.0"));
  EXPECT_THAT(bench.finished(0), ElementsAre("end 0 completed"));
  EXPECT_TRUE(bench.scheduler.idle());
}

TEST(Scheduler, PartitionsOfSeveralJobsOverlapAndTheOldestGoesFirst) {
  Policy policy;
  policy.partition_workers = 3;
  Ready bench(policy);
  bench.job(bench.c, 2);
  bench.now += 1s;
  bench.job(bench.c, 2);
  EXPECT_THAT(bench.decide(), ElementsAre("synth 0.0", "synth 0.1", "synth 1.0"));
  EXPECT_THAT(bench.synthesised(1, 0), ElementsAre("start 1.0@0", "synth 1.1"));
  EXPECT_THAT(bench.synthesised(0, 1), IsEmpty());
  EXPECT_THAT(bench.synthesised(1, 1), IsEmpty());
  EXPECT_THAT(bench.synthesised(0, 0), IsEmpty());
  EXPECT_THAT(bench.started(1, 0), ElementsAre("finish 1.0", "start 0.0@0")) << "the older job";
  EXPECT_THAT(bench.started(0, 0), ElementsAre("start 0.1@0")) << "one finisher";
}

TEST(Scheduler, ThePermitIsHeldUntilADeviceTakesThePartition) {
  Policy policy;
  policy.partition_workers = 2;
  for (bool held : {true, false}) {
    policy.permit_through_hand_over = held;
    Ready bench(policy);
    bench.job(bench.c, 5);
    EXPECT_THAT(bench.decide(), ElementsAre("synth 0.0", "synth 0.1"));
    EXPECT_THAT(bench.synthesised(0, 0), ElementsAre("start 0.0@0", "synth 0.2"));
    EXPECT_THAT(bench.synthesised(0, 1), held ? Lines{} : Lines{"synth 0.3"});
    EXPECT_THAT(bench.synthesised(0, 2), held ? Lines{} : Lines{"synth 0.4"});
  }
}

TEST(Scheduler, HigherPriorityFirstAtEveryQueueUntilAgeing) {
  Policy policy;
  policy.ageing = 60s;
  Ready bench(policy);
  bench.job(bench.c, 1);
  bench.decide();
  const JobId low = bench.job(bench.c, 1, Priority::kLow);
  bench.now += 59s;
  bench.job(bench.c, 1, Priority::kNormal);
  bench.now += 2s;
  bench.job(bench.c, 1, Priority::kNormal);
  const JobId critical = bench.job(bench.c, 1, Priority::kCritical);
  std::vector<JobId> order;
  for (const auto& job : bench.scheduler.jobs()) order.push_back(job.id);
  EXPECT_THAT(order, ElementsAre(critical, 0, 2, low, 3));
  EXPECT_THAT(bench.synthesised(0), ElementsAre("start 0.0@0", fmt::format("synth {}.0", critical)));
}

TEST(Scheduler, MemoryIsGrantedByStageAndGivenBackEarly) {
  Policy policy;
  policy.host_bytes = 100;
  policy.partition_workers = 4;
  Ready bench(policy, {{"d0", 1, 50}}, 10, {.params = {20, 5}, .start = {30, 40}, .pending = {6, 1}});
  auto used = [&] { return bench.scheduler.host().used; };
  EXPECT_EQ(used(), 20u);
  bench.job(bench.c, 4);
  // 20 stay, and 30 must remain for a device stage: five witnesses would fit.
  EXPECT_EQ(bench.decide().size(), 4u);
  EXPECT_EQ(used(), 60u);
  bench.synthesised(0, 0);
  EXPECT_EQ(used(), 90u);
  EXPECT_EQ(bench.scheduler.device_memory(0).used, 45u);
  bench.scheduler.shrunk({0, 0}, {35, 40}, bench.now);
  EXPECT_EQ(used(), 85u);
  bench.started(0, 0);
  EXPECT_EQ(used(), 56u);
  EXPECT_EQ(bench.scheduler.device_memory(0).used, 6u);
  bench.finished(0, 0);
  EXPECT_EQ(used(), 50u);
  EXPECT_EQ(bench.scheduler.device_memory(0).used, 5u);
}

TEST(Scheduler, AWitnessIsGrantedOnlyWhereAScratchStillFits) {
  Policy policy;
  policy.host_bytes = 100;
  policy.partition_workers = 9;
  Ready bench(policy, {{"d0", 2, 0}}, 20, {.start = {50, 0}});
  bench.job(bench.c, 9);
  EXPECT_EQ(bench.decide().size(), 2u) << "a third would leave 40 for a stage that takes 50";
  EXPECT_THAT(bench.synthesised(0, 0), ElementsAre("start 0.0@0"));
  EXPECT_THAT(bench.synthesised(0, 1), IsEmpty()) << "50 more are not there";
  EXPECT_THAT(bench.started(0, 0), ElementsAre("finish 0.0", "start 0.1@0", "synth 0.2"));
}

TEST(Scheduler, WhoIsNextIsNotOvertakenByASmallerOne) {
  Policy policy;
  policy.host_bytes = 100;
  policy.partition_workers = 9;
  Ready bench(policy, {{"d0", 1, 0}}, 60);
  const size_t small = bench.add('s', 10, {}, 1);
  bench.job(bench.c);
  bench.job(bench.c);
  bench.job(small);
  EXPECT_THAT(bench.decide(), ElementsAre("synth 0.0"));
  bench.job(small, 1, Priority::kHigh);
  EXPECT_THAT(bench.decide(), ElementsAre("synth 3.0")) << "which comes first anyhow";
}

TEST(Scheduler, PostClassesHaveTheirReserve) {
  Policy policy;
  policy.host_bytes = 100;
  policy.high = {.lanes = 1, .waiting = 1, .host_bytes = 20};
  policy.critical = {.lanes = 1, .waiting = 1, .host_bytes = 10};
  policy.max_waiting = 4;
  Ready bench(policy, {{"d0", 1, 0}}, 10);
  const size_t large = bench.add('l', 71, {}, 1);
  bench.job(bench.c, 3);
  EXPECT_THAT(bench.decide(), ElementsAre("synth 0.0"));
  const JobId critical = bench.job(bench.c, 2, Priority::kCritical), high = bench.job(bench.c, 2, Priority::kHigh);
  EXPECT_THAT(bench.decide(), ElementsAre(fmt::format("synth {}.0", critical), fmt::format("synth {}.1", critical)));
  bench.scheduler.synthesised({critical, 0}, {}, bench.now);
  bench.scheduler.synthesised({critical, 1}, {}, bench.now);
  EXPECT_THAT(bench.decide(), ElementsAre(fmt::format("start {}.0@0", critical), fmt::format("start {}.1@0", critical),
                                          fmt::format("synth {}.0", high)))
      << "one place at a time for what is no more than high, one more for critical";
  bench.job(large, 1, Priority::kNormal);
  EXPECT_THAT(bench.decide(), ElementsAre("end 3 failed"));
  EXPECT_EQ(bench.error.code, Code::kTooLarge);
  EXPECT_THAT(bench.error.message, HasSubstr("the limit is 70 B"));
  // Waiting: 4 for all, and one for each of the two classes.
  for (JobId id = 10; id < 14; id++) EXPECT_TRUE(bench.scheduler.admit(id, {Priority::kLow}, bench.now));
  EXPECT_EQ(bench.scheduler.admit(14, {Priority::kNormal}, bench.now).error().code, Code::kResourceExhausted);
  EXPECT_TRUE(bench.scheduler.admit(15, {Priority::kHigh}, bench.now));
  EXPECT_FALSE(bench.scheduler.admit(16, {Priority::kHigh}, bench.now));
  EXPECT_TRUE(bench.scheduler.admit(17, {Priority::kCritical}, bench.now));
}

TEST(Scheduler, WhatCanNeverFitIsRefusedAtOnce) {
  Policy policy;
  policy.host_bytes = 1000;
  policy.request_bytes = 50;
  policy.circuit_allowance = 100;
  Bench bench(policy, {{"gpu", 1, 500}});
  EXPECT_EQ(bench.scheduler.admit(9, {.request_bytes = 51}, bench.now).error().code, Code::kTooLarge);
  const size_t known = bench.circuit('k', 10, 20, {.params = {0, 400}, .start = {0, 101}});
  const JobId first = bench.job(known);
  EXPECT_THAT(bench.decide(), ElementsAre(fmt::format("end {} failed", first)));
  EXPECT_EQ(bench.error.code, Code::kTooLarge);
  EXPECT_THAT(bench.error.message, HasSubstr("501 B of memory on gpu"));
  // Unknown until the circuit is there.
  const size_t unknown = bench.scheduler.circuit("u");
  bench.names.push_back('u');
  const JobId second = bench.job(unknown, 3);
  EXPECT_THAT(bench.decide(), ElementsAre("load u"));
  EXPECT_EQ(bench.last[0].grant.host, 100u);
  bench.scheduler.circuit_loaded(unknown, CircuitNeeds{10, 20, {{.params = {900, 0}, .start = {71, 0}}}}, bench.now);
  EXPECT_THAT(bench.decide(), ElementsAre(fmt::format("end {} failed", second)));
  EXPECT_THAT(bench.error.message, HasSubstr("1001 B of host memory"));
  EXPECT_EQ(bench.scheduler.host().used, 10u);
  EXPECT_TRUE(bench.scheduler.idle());
}

TEST(Scheduler, RequestsWaitForTheirMemory) {
  Policy policy;
  policy.request_bytes = 100;
  policy.parsers = 9;
  Ready bench(policy);
  ASSERT_TRUE(bench.scheduler.admit(0, {.request_bytes = 60}, bench.now));
  ASSERT_TRUE(bench.scheduler.admit(1, {.request_bytes = 60}, bench.now));
  ASSERT_TRUE(bench.scheduler.admit(2, {.request_bytes = 10}, bench.now));
  EXPECT_THAT(bench.decide(), ElementsAre("parse 0"));
  bench.scheduler.parsed(0, fail(Code::kInvalidInput, "broken"), bench.now);
  EXPECT_THAT(bench.decide(), ElementsAre("end 0 failed", "parse 1", "parse 2"));
  EXPECT_EQ(bench.scheduler.requests().used, 70u);
}

TEST(Scheduler, LoadsOnceForAllWhoWait) {
  Bench bench;
  const size_t c = bench.circuit('c');
  for (int i = 0; i < 3; i++) bench.job(c, 2);
  EXPECT_THAT(bench.decide(), ElementsAre("load c"));
  EXPECT_EQ(bench.scheduler.resident(c, kNoDevice), Scheduler::Residency::kLoading);
  bench.scheduler.circuit_loaded(c, CircuitNeeds{0, 0, {{}}}, bench.now);
  EXPECT_THAT(bench.decide(), ElementsAre("load c@0"));
  bench.scheduler.params_loaded(c, 0, fail(Code::kNotFound, "no such file"), bench.now);
  EXPECT_THAT(bench.decide(), ElementsAre("end 0 failed", "end 1 failed", "end 2 failed"));
  EXPECT_EQ(bench.error.message, "no such file");
  bench.job(c);
  EXPECT_THAT(bench.decide(), ElementsAre("load c@0")) << "a failure is not remembered";
  bench.scheduler.params_loaded(c, 0, fail(Code::kIo, "the disk is slow"), bench.now);
  EXPECT_THAT(bench.decide(), ElementsAre("load c@0")) << "and once more where that may help";
}

TEST(Scheduler, EvictsWhatWasIdleLongestAndOnlyUnderPressure) {
  Policy policy;
  policy.host_bytes = 100;
  Ready bench(policy, {{"d0", 1, 0}}, 10, {.params = {25, 0}});
  bench.now += 1s;
  const size_t b = bench.add('b', 10, {.params = {25, 0}}, 1);
  bench.now += 1s;
  const JobId uses_c = bench.job(bench.c);  // c is now the one used last, and in use
  EXPECT_THAT(bench.decide(), ElementsAre("synth 0.0"));
  const size_t d = bench.circuit('d', 0, 10, {.params = {45, 0}});
  bench.job(d);
  EXPECT_THAT(bench.decide(), ElementsAre("load d"));
  bench.scheduler.circuit_loaded(d, CircuitNeeds{0, 10, {{.params = {45, 0}}}}, bench.now);
  EXPECT_THAT(bench.decide(), ElementsAre("evict b@0"));
  EXPECT_THAT(bench.decide(), IsEmpty()) << "waits for it";
  bench.scheduler.evicted(b, 0, bench.now);
  EXPECT_THAT(bench.decide(), ElementsAre("load d@0")) << "b was pinned, but a job goes first";
  EXPECT_FALSE(bench.scheduler.unload(bench.c));
  bench.synthesised(uses_c);
  bench.started(uses_c);
  bench.finished(uses_c);
  EXPECT_TRUE(bench.scheduler.unload(bench.c));
  EXPECT_THAT(bench.decide(), ElementsAre("evict c@0", "evict c"));
}

// A load works in more than it leaves.
TEST(Scheduler, ParametersHoldOnlyWhatTheyKeep) {
  Policy policy;
  policy.host_bytes = 100;
  Ready bench(policy, {{"d0", 1, 0}}, 10, {});
  const size_t d = bench.circuit('d', 0, 10, {.params = {60, 0}});
  bench.job(d);
  bench.decide();
  bench.scheduler.circuit_loaded(d, CircuitNeeds{0, 10, {{.params = {60, 0}}}}, bench.now);
  EXPECT_THAT(bench.decide(), ElementsAre("load d@0"));
  EXPECT_EQ(bench.scheduler.host().used, 60u);
  bench.scheduler.params_shrunk(d, 0, 25);
  bench.scheduler.params_shrunk(d, 0, UINT64_MAX);
  bench.scheduler.params_loaded(d, 0, {}, bench.now);
  EXPECT_THAT(bench.decide(), ElementsAre("synth 0.0"));
  EXPECT_EQ(bench.scheduler.host().used, 25u + 10);
}

TEST(Scheduler, CancelsAtTheBordersOfStages) {
  Policy policy;
  policy.partition_workers = 4;
  policy.host_bytes = 100;
  Ready bench(policy, {{"d0", 1, 0}}, 10, {.start = {5, 0}, .pending = {2, 0}});
  bench.job(bench.c, 5, Priority::kNormal, {.request_bytes = 7});
  bench.decide();
  bench.synthesised(0, 0);
  bench.started(0, 0);      // finishing
  bench.synthesised(0, 1);  // started, no finisher is free
  bench.started(0, 1);
  bench.synthesised(0, 2);  // on the device
  bench.synthesised(0, 3);  // ready; 4 is in synthesis
  bench.scheduler.end(0, State::kCancelled, {Code::kCancelled, "no longer wanted"}, bench.now);
  EXPECT_THAT(bench.decide(), ElementsAre("end 0 cancelled", "drop 0.1", "drop 0.3"));
  bench.scheduler.end(0, State::kFailed, {Code::kInternal, "again"}, bench.now);
  EXPECT_THAT(bench.dropped(0, 1), IsEmpty());
  EXPECT_THAT(bench.dropped(0, 3), IsEmpty());
  EXPECT_THAT(bench.finished(0, 0), IsEmpty());
  EXPECT_THAT(bench.started(0, 2), ElementsAre("drop 0.2"));
  EXPECT_THAT(bench.dropped(0, 2), IsEmpty());
  EXPECT_EQ(bench.scheduler.requests().used, 7u) << "a stage still reads the request";
  EXPECT_THAT(bench.synthesised(0, 4, fail(Code::kInternal, "too late to matter")), IsEmpty());
  EXPECT_EQ(bench.scheduler.requests().used, 0u);
  EXPECT_EQ(bench.scheduler.host().used, 0u);
  EXPECT_TRUE(bench.scheduler.idle());
}

TEST(Scheduler, DeadlinesAndDesertedJobs) {
  Policy policy;
  policy.grace = 5s;
  policy.stage_limit = 0s;
  Ready bench(policy);
  bench.job(bench.c, 1, Priority::kNormal, {.deadline = bench.now + 10s});
  bench.job(bench.c);
  bench.decide();
  bench.scheduler.watched(1, false, bench.now);
  EXPECT_EQ(bench.scheduler.wake_time(), bench.now + 5s);
  bench.now += 3s;
  bench.scheduler.watched(1, true, bench.now);
  EXPECT_EQ(bench.scheduler.wake_time(), bench.now + 7s);
  bench.scheduler.watched(1, false, bench.now);
  bench.now += 5s;
  EXPECT_THAT(bench.decide(), ElementsAre("end 1 cancelled"));
  bench.now += 2s;
  EXPECT_THAT(bench.decide(), ElementsAre("end 0 failed"));
  EXPECT_EQ(bench.error.code, Code::kDeadline);
  EXPECT_EQ(bench.scheduler.wake_time(), std::nullopt);
}

TEST(Scheduler, AFailedPartitionIsMadeAgainElsewhere) {
  Ready bench({}, {{"d0", 1, 0}, {"d1", 1, 0}});
  bench.job(bench.c);
  bench.decide();
  EXPECT_THAT(bench.synthesised(0), ElementsAre("start 0.0@0"));
  EXPECT_THAT(bench.started(0, 0, fail(Code::kUnavailable, "lost")), ElementsAre("synth 0.0"));
  EXPECT_THAT(bench.synthesised(0), ElementsAre("start 0.0@1"));
  EXPECT_THAT(bench.started(0, 0, fail(Code::kUnavailable, "lost, too")), ElementsAre("end 0 failed"));
  EXPECT_EQ(bench.error.message, "lost, too");
  bench.job(bench.c);
  bench.decide();
  bench.synthesised(1);
  EXPECT_THAT(bench.started(1, 0, fail(Code::kInvalidParams, "of another circuit")), ElementsAre("end 1 failed"))
      << "that will not change";
}

TEST(Scheduler, ADeviceThatFailsTwiceRestsAndGetsOneMoreChance) {
  Policy policy;
  policy.attempts = 9;
  policy.quarantine = 60s;
  policy.partition_workers = 2;
  Ready bench(policy);
  bench.job(bench.c, 2);
  bench.decide();
  EXPECT_THAT(bench.synthesised(0, 0), ElementsAre("start 0.0@0"));
  EXPECT_THAT(bench.synthesised(0, 1), IsEmpty());
  EXPECT_THAT(bench.started(0, 0, fail(Code::kUnavailable, "1")), ElementsAre("start 0.1@0", "synth 0.0"));
  EXPECT_THAT(bench.synthesised(0, 0), IsEmpty());
  EXPECT_THAT(bench.started(0, 1, fail(Code::kResourceExhausted, "2")), ElementsAre("drop 0.0"));
  EXPECT_THAT(bench.dropped(0, 0), IsEmpty()) << "nothing to do it on";
  EXPECT_EQ(bench.scheduler.health(0).quarantined_until, bench.now + 60s);
  EXPECT_EQ(bench.scheduler.wake_time(), bench.now + 60s);
  bench.now += 60s;
  EXPECT_THAT(bench.decide(), ElementsAre("synth 0.0", "synth 0.1"));
  bench.synthesised(0, 0);
  EXPECT_THAT(bench.started(0, 0, fail(Code::kUnavailable, "3")), IsEmpty());
  EXPECT_EQ(bench.scheduler.health(0).quarantined_until, bench.now + 120s);
  EXPECT_THAT(bench.synthesised(0, 1), ElementsAre("drop 0.1"));
  bench.dropped(0, 1);
  bench.now += 120s;
  EXPECT_THAT(bench.decide(), ElementsAre("synth 0.0", "synth 0.1"));
  bench.synthesised(0, 0);
  bench.started(0, 0);
  bench.finished(0, 0);
  EXPECT_EQ(bench.scheduler.health(0).failures, 0u) << "a proof that verifies makes up for it";
}

TEST(Scheduler, AWrongProofIsBlamedOnlyWhenTheWitnessHolds) {
  Policy policy;
  policy.device_failures = 1;
  policy.attempts = 3;
  for (bool liar : {true, false}) {
    Ready bench(policy, {{"d0", 1, 0}, {"d1", 1, 0}});
    bench.job(bench.c);
    bench.decide();
    EXPECT_FALSE(bench.scheduler.health(0).quarantined_until);
    bench.synthesised(0);
    bench.started(0);
    EXPECT_THAT(bench.finished(0, 0, fail(Code::kVerifyFailed, "wrong")), ElementsAre("synth 0.0"));
    EXPECT_TRUE(bench.last[0].check_rows);
    EXPECT_EQ(bench.last[0].attempt, 2u);
    if (liar) {
      EXPECT_THAT(bench.synthesised(0, 0, fail(Code::kUnsatisfied, "row 7")), ElementsAre("end 0 failed"));
      EXPECT_FALSE(bench.scheduler.health(0).quarantined_until);
      continue;
    }
    EXPECT_THAT(bench.synthesised(0), ElementsAre("start 0.0@1", "evict c@0"));
    EXPECT_TRUE(bench.scheduler.health(0).quarantined_until);
    bench.started(0);
    EXPECT_THAT(bench.finished(0, 0, fail(Code::kVerifyFailed, "wrong again")), IsEmpty());
    EXPECT_TRUE(bench.scheduler.health(1).quarantined_until);
  }
}

TEST(Scheduler, ParametersThatMadeAWrongProofAreLoadedAgain) {
  Policy policy;
  policy.partition_workers = 3;
  Ready bench(policy);
  const Status wrong = fail(Code::kVerifyFailed, "wrong");
  bench.job(bench.c, 3);
  EXPECT_THAT(bench.decide(), ElementsAre("synth 0.0", "synth 0.1", "synth 0.2"));
  EXPECT_THAT(bench.synthesised(0, 0), ElementsAre("start 0.0@0"));
  EXPECT_THAT(bench.synthesised(0, 1), IsEmpty());
  EXPECT_THAT(bench.started(0, 0), ElementsAre("finish 0.0", "start 0.1@0"));
  EXPECT_THAT(bench.finished(0, 0, wrong), ElementsAre("synth 0.0"));
  EXPECT_THAT(bench.synthesised(0, 0), ElementsAre("drop 0.0"));
  EXPECT_EQ(bench.scheduler.health(0).failures, 1u);
  EXPECT_THAT(bench.dropped(0, 0), IsEmpty()) << "0.1 and 0.2 hold them";
  EXPECT_THAT(bench.synthesised(0, 2), ElementsAre("drop 0.2"));
  EXPECT_THAT(bench.dropped(0, 2), IsEmpty());
  EXPECT_THAT(bench.started(0, 1), ElementsAre("finish 0.1"));
  EXPECT_THAT(bench.finished(0, 1, wrong), ElementsAre("evict c@0"));
  EXPECT_TRUE(bench.last[0].doubted);
  bench.scheduler.evicted(bench.c, 0, bench.now);
  EXPECT_THAT(bench.decide(), ElementsAre("load c@0"));
  bench.scheduler.params_loaded(bench.c, 0, {}, bench.now);
  EXPECT_THAT(bench.decide(), ElementsAre("synth 0.0", "synth 0.1", "synth 0.2"));
  for (size_t p : {0, 1, 2}) EXPECT_EQ(bench.last[p].check_rows, p == 1) << p;
  EXPECT_THAT(bench.synthesised(0, 1), ElementsAre("start 0.1@0")) << "what it was made with has left";
  EXPECT_EQ(bench.scheduler.health(0).failures, 1u);
  bench.started(0, 1);
  bench.finished(0, 1);
  EXPECT_THAT(bench.synthesised(0, 0), ElementsAre("start 0.0@0"));
  bench.started(0, 0);
  EXPECT_THAT(bench.finished(0, 0, wrong), ElementsAre("end 0 failed")) << "once a partition";
  EXPECT_EQ(bench.scheduler.doubts(bench.c, 0), 1u);
}

TEST(Scheduler, AStageThatTakesTooLongIsGivenUpAndItsDeviceWaitsForIt) {
  Policy policy;
  policy.stage_limit = 100s;
  policy.quarantine = 10s;
  Ready bench(policy, {{"d0", 2, 0}});
  bench.job(bench.c);
  bench.decide();
  bench.synthesised(0);
  bench.now += 99s;
  EXPECT_THAT(bench.decide(), IsEmpty());
  EXPECT_EQ(bench.scheduler.wake_time(), bench.now + 1s);
  bench.now += 1s;
  EXPECT_THAT(bench.decide(), ElementsAre("overdue start", "end 0 failed"));
  EXPECT_EQ(bench.error.code, Code::kDeadline);
  bench.job(bench.c);
  bench.now += 20s;
  EXPECT_THAT(bench.decide(), IsEmpty()) << "the other lane may hang, too";
  EXPECT_EQ(bench.scheduler.health(0).quarantines, 1u);
  bench.now += 80s;
  EXPECT_THAT(bench.decide(), IsEmpty()) << "it is told once";
  EXPECT_EQ(bench.scheduler.health(0).quarantines, 2u);
  EXPECT_THAT(bench.started(0, 0, fail(Code::kUnavailable, "late")), IsEmpty());
  EXPECT_EQ(bench.scheduler.stale_reports(), 1u);
  EXPECT_EQ(bench.scheduler.health(0).quarantines, 2u) << "it has been blamed";
  bench.now += 20s;
  EXPECT_THAT(bench.decide(), ElementsAre("synth 1.0"));
  // Stages that are no device's.
  bench.now += 100s;
  EXPECT_THAT(bench.decide(), ElementsAre("overdue synthesise", "end 1 failed"));
  EXPECT_FALSE(bench.scheduler.health(0).quarantined_until);
  EXPECT_THAT(bench.synthesised(1), ElementsAre("drop 1.0"));
  bench.dropped(1);
  EXPECT_EQ(bench.scheduler.stale_reports(), 2u);
  EXPECT_TRUE(bench.scheduler.idle());
}

TEST(Scheduler, ALoadThatTakesTooLongIsGivenUpWhereThereIsNoOther) {
  Policy policy;
  policy.stage_limit = 100s;
  Bench bench(policy, {{"d0", 1, 0}, {"d1", 1, 0}});
  const size_t c = bench.circuit('c', 0, 0, {}, 2);
  bench.job(c);
  EXPECT_THAT(bench.decide(), ElementsAre("load c"));
  bench.now += 100s;
  EXPECT_THAT(bench.decide(), ElementsAre("overdue circuit", "end 0 failed"));
  bench.scheduler.circuit_loaded(c, CircuitNeeds{0, 0, {{}, {}}}, bench.now);
  bench.job(c);
  EXPECT_THAT(bench.decide(), ElementsAre("load c@0"));
  bench.now += 100s;
  EXPECT_THAT(bench.decide(), ElementsAre("overdue params", "end 1 failed"));
  bench.job(c);
  EXPECT_THAT(bench.decide(), ElementsAre("load c@1")) << "whoever asks again is served elsewhere";
  bench.scheduler.params_loaded(c, 0, fail(Code::kUnavailable, "late"), bench.now);
  EXPECT_EQ(bench.scheduler.stale_reports(), 2u);
  bench.scheduler.params_loaded(c, 1, {}, bench.now);
  EXPECT_THAT(bench.decide(), ElementsAre("synth 2.0"));
}

TEST(Scheduler, SpreadsToFurtherDevicesWhereWorkWaits) {
  Policy policy;
  policy.partition_workers = 4;
  Bench bench(policy, {{"d0", 1, 100}, {"d1", 1, 100}});
  const Needs needs{.params = {0, 60}, .start = {0, 30}};
  const size_t c = bench.circuit('c', 0, 0, needs, 2);
  bench.job(c, 1);
  bench.decide();
  bench.scheduler.circuit_loaded(c, CircuitNeeds{0, 0, {needs, needs}}, bench.now);
  EXPECT_THAT(bench.decide(), ElementsAre("load c@0"));
  bench.scheduler.params_loaded(c, 0, {}, bench.now);
  EXPECT_THAT(bench.decide(), ElementsAre("synth 0.0")) << "one partition needs no second copy";
  bench.job(c, 4);
  EXPECT_THAT(bench.decide(), ElementsAre("synth 1.0", "synth 1.1", "synth 1.2", "load c@1"));
  bench.scheduler.params_loaded(c, 1, {}, bench.now);
  EXPECT_THAT(bench.synthesised(0), ElementsAre("start 0.0@0", "synth 1.3"));
  EXPECT_THAT(bench.synthesised(1, 0), ElementsAre("start 1.0@1"));
}

TEST(Scheduler, DrainingEndsWhatHasNotBegun) {
  Ready bench;
  bench.job(bench.c, 2);
  bench.job(bench.c);
  EXPECT_THAT(bench.decide(), ElementsAre("synth 0.0"));
  bench.scheduler.drain(bench.now);
  EXPECT_THAT(bench.decide(), ElementsAre("end 1 failed"));
  EXPECT_EQ(bench.error.code, Code::kUnavailable);
  EXPECT_EQ(bench.scheduler.admit(7, {}, bench.now).error().code, Code::kUnavailable);
  EXPECT_THAT(bench.synthesised(0), ElementsAre("start 0.0@0", "synth 0.1"));
}

}  // namespace
}  // namespace cuzk::engine
