// Cases of what hurts operators of provers, by the numbers of that list, as far as the engine answers for them: a toy
// statement, faults on purpose, a clock that the test moves.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <set>

#include "engine/engine.h"
#include "engine/faults_testing.h"
#include "hash/sha256.h"

namespace cuzk::engine {
namespace {

using namespace std::chrono_literals;
using testing::faults;
using ::testing::HasSubstr;
using testing::proves;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kShare = 10;  // of the repetitions, one in so many
#else
constexpr size_t kShare = 1;
#endif

struct Acceptance : ::testing::Test {
  exec::Pool pool{2};
  testing::TemporaryFolder folder;
  testing::Gate gate{folder};
  CircuitStore circuits{""};
  ParamsStore params{[](const std::string&) -> Result<std::filesystem::path> { return testing::cubic_params().file; }};
  std::unique_ptr<Backend> one = testing::make_faulty(make_cpu_backend(pool));
  std::unique_ptr<Backend> other = testing::make_faulty(make_cpu_backend(pool));
  std::atomic<Clock::duration> passed = Clock::duration{};
  Options options;
  std::unique_ptr<Engine> engine;

  Acceptance() {
    options.now = [this] { return Clock::now() + passed.load(); };
    options.policy.stage_limit = 1000s;
    options.policy.max_waiting = 1000;
  }
  ~Acceptance() override {
    gate.release();
    plan("");
  }
  void plan(std::string_view text) {
    const Status understood = faults().plan(text);
    EXPECT_TRUE(understood) << understood.error().message;
  }
  void begin(std::vector<Device> devices) {
    engine = std::make_unique<Engine>(options, circuits, params, std::move(devices), pool);
  }
  void begin() { begin({{{"one", 1, 0}, one.get()}}); }
  void begin_with_two() { begin({{{"one", 1, 0}, one.get()}, {{"other", 1, 0}, other.get()}}); }
  // The engine looks at its clock.
  void pass(Clock::duration time) {
    passed = passed.load() + time;
    engine->adjust(options.policy.max_waiting, options.result_ttl);
  }

  // The stage that was given up.
  void let_it_end() {
    gate.release();
    while (engine->snapshot().stale_reports == 0) std::this_thread::yield();
  }

  static Request request(std::string id, std::vector<uint64_t> xs, Priority priority = Priority::kNormal) {
    Request made{.id = std::move(id), .kind = "cubic", .priority = priority};
    made.payload_digest = hash::sha256({reinterpret_cast<const uint8_t*>(xs.data()), xs.size() * sizeof(uint64_t)});
    made.bytes = 100;
    made.parse = [xs]() -> Result<std::shared_ptr<const groth16::CircuitSource>> {
      return std::make_shared<testing::FaultySource>(xs);
    };
    return made;
  }
  Ticket submit(Request request) { return *engine->submit(std::move(request)); }
  Outcome prove(Request request) { return *engine->await(submit(std::move(request))); }
  Outcome prove(std::string id, std::vector<uint64_t> xs) { return prove(request(std::move(id), std::move(xs))); }
  void expect_proof(const Outcome& outcome, const std::vector<uint64_t>& xs) {
    ASSERT_EQ(outcome.state, State::kCompleted) << outcome.error->message;
    EXPECT_TRUE(proves(outcome.proof, xs));
  }
  void expect_nothing_left() {
    ASSERT_TRUE(engine->drain());
    for (const mem::Ledger::Line& line : engine->snapshot().ledger)
      EXPECT_TRUE(!line.transient || line.bytes + line.objects == 0) << line.name;
  }
};

TEST_F(Acceptance, Case05_UrgentAndOtherJobsOfOneInstantNeverWaitForEachOther) {
  begin();
  std::vector<Clock::duration> times;
  for (uint64_t i = 0; i < 20 / kShare; i++) {
    std::latch both(2);
    const Clock::time_point start = Clock::now();
    auto client = [&](std::string id, Priority priority) {
      both.arrive_and_wait();
      EXPECT_EQ(prove(request(std::move(id), {i}, priority)).state, State::kCompleted);
    };
    {
      std::jthread high(client, fmt::format("high {}", i), Priority::kHigh);
      std::jthread normal(client, fmt::format("normal {}", i), Priority::kNormal);
    }
    times.push_back(Clock::now() - start);
  }
  std::sort(times.begin(), times.end());
  EXPECT_LT(times.back(), std::max<Clock::duration>(20 * times[times.size() / 2], 10s));
  const Snapshot quiet = engine->snapshot();
  EXPECT_THAT(quiet.overdue, ::testing::Each(0u));
  // Held by a stall, it is told of.
  plan(fmt::format("start 1 stall {}", gate.path()));
  const Ticket held = submit(request("held", {5}));
  gate.wait_for_stage();
  ::testing::internal::CaptureStderr();
  pass(1000s);
  EXPECT_EQ(engine->await(held)->error->code, Code::kDeadline);
  const std::string told = ::testing::internal::GetCapturedStderr();
  for (const char* word : {"job='held'", "stage='start'", "partition=0", "device='one'", "1000 s"})
    EXPECT_THAT(told, HasSubstr(word));
}

TEST_F(Acceptance, Case14_AStageThatThrowsFailsItsJobWithTheReason) {
  begin();
  plan("start 1 throw; finish 2 throw");
  const Outcome outcome = prove("thrown", {5});
  ASSERT_EQ(outcome.state, State::kFailed);
  EXPECT_EQ(outcome.error->message, "unexpected failure: made to throw");
  EXPECT_EQ(outcome.origin->stage, Stage::kStart);
  expect_proof(prove("thrown", {5}), {5});
  EXPECT_EQ(prove("in finish", {5}).origin->stage, Stage::kFinish);
  expect_proof(prove("in finish", {5}), {5});
  expect_nothing_left();
}

TEST_F(Acceptance, Case16_AWrongProofOfAnyKindIsMadeAgainAndCounted) {
  begin();
  uint64_t wrong = 0;
  for (const char* kind : {"porep-c2", "snap-update", "window-post", "winning-post"}) {
    plan("finish 3 flip");
    for (uint64_t i = 0; i < 5; i++) {
      Request asked = request(fmt::format("{} {}", kind, i), {i, i + 1});
      asked.kind = kind;
      expect_proof(prove(std::move(asked)), {i, i + 1});
    }
    EXPECT_EQ(faults().calls("finish"), 5u * 2 + 1);
    EXPECT_EQ(engine->snapshot().devices[0].failures.at(Code::kVerifyFailed), ++wrong);
    EXPECT_EQ(engine->snapshot().kinds.at(kind).totals.completed, 5u);
  }
}

// A bit of a point in memory, of the file that is mapped.
TEST_F(Acceptance, Case16_ABrokenPointInMemoryIsReplaced) {
  const auto file = folder.path() / "broken.params";
  std::filesystem::copy_file(testing::cubic_params().file, file);
  ParamsStore broken([&](const std::string&) -> Result<std::filesystem::path> { return file; });
  options.policy.partition_workers = 3;
  options.policy.device_failures = 9;
  engine = std::make_unique<Engine>(options, circuits, broken, *one, pool);
  plan("load 1 flip");
  ::testing::internal::CaptureStderr();
  expect_proof(prove("id", {5, 6, 7, 8}), {5, 6, 7, 8});
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("the parameters are dropped"));
  EXPECT_GE(engine->snapshot().devices[0].failures.at(Code::kVerifyFailed), 1u);
  EXPECT_EQ(engine->snapshot().params[0].doubts, 1u) << "whatever else was made with them";
  EXPECT_EQ(faults().calls("load"), 2u);
  expect_proof(prove("next", {5}), {5});
  EXPECT_EQ(faults().calls("load"), 2u);
  // Nor can it go round and round.
  ASSERT_TRUE(engine->evict("cubic"));
  plan("load 1+ flip");
  const Outcome outcome = prove("hopeless", {5});
  ASSERT_EQ(outcome.state, State::kFailed);
  EXPECT_EQ(outcome.error->code, Code::kVerifyFailed);
  EXPECT_TRUE(outcome.proof.empty());
  EXPECT_EQ(faults().calls("load"), 2u);
  plan("");
  expect_proof(prove("hopeless", {5}), {5});
  expect_nothing_left();
}

TEST_F(Acceptance, Case17_ProofsBackToBackAllHold) {
  begin();
  for (uint64_t i = 0; i < 50 / kShare; i++) expect_proof(prove(fmt::format("{}", i), {i}), {i});
  EXPECT_TRUE(engine->snapshot().devices[0].failures.empty());
}

TEST_F(Acceptance, Case20_ManyClientsEachGetTheProofOfTheirOwnStatement) {
  const uint64_t rounds = kShare > 1 ? 1 : 3;
  options.policy.partition_workers = 3;
  begin_with_two();
  std::atomic<size_t> good = 0;
  {
    std::vector<std::jthread> clients;
    for (uint64_t client = 0; client < 16; client++) {
      clients.emplace_back([&, client] {
        for (uint64_t i = 0; i < rounds; i++) {
          const std::vector<uint64_t> xs = {100 * client + i, client};
          const Outcome outcome = prove(fmt::format("{} {}", client, i), xs);
          good += outcome.state == State::kCompleted && proves(outcome.proof, xs);
        }
      });
    }
  }
  EXPECT_EQ(good, 16u * rounds);
}

TEST_F(Acceptance, Case26_MalformedRequestsHarmNobodyElse) {
  begin();
  for (uint64_t i = 0; i < 20 / kShare; i++) {
    Request malformed = request(fmt::format("bad {}", i), {i});
    malformed.parse = [i]() -> Result<std::shared_ptr<const groth16::CircuitSource>> {
      if (i % 2) throw std::runtime_error("a surprise");
      return fail(Code::kInvalidInput, "C1 parse failed: empty");
    };
    EXPECT_EQ(prove(std::move(malformed)).error->code, i % 2 ? Code::kInternal : Code::kInvalidInput);
    expect_proof(prove(fmt::format("good {}", i), {i}), {i});
  }
}

// The clients of five jobs go; two of the jobs are asked for again.
TEST_F(Acceptance, Case34_JobsThatNobodyClaimsAfterARestartOfTheClientAreCancelled) {
  plan(fmt::format("start 1 stall {}", gate.path()));
  options.policy.partition_workers = 5;
  begin();
  std::vector<Ticket> jobs;
  for (uint64_t i = 0; i < 5; i++) {
    jobs.push_back(submit(request(fmt::format("{}", i), {i})));
    engine->watch(jobs.back());
  }
  gate.wait_for_stage();
  for (const Ticket& job : jobs) engine->unwatch(job);
  for (const char* id : {"1", "3"}) engine->watch(*engine->find(id));
  pass(options.policy.grace);
  for (size_t i : {0, 2, 4}) EXPECT_EQ(engine->await(jobs[i])->state, State::kCancelled) << i;
  gate.release();
  for (uint64_t i : {1, 3}) expect_proof(*engine->await(jobs[i]), {i});
  EXPECT_TRUE(engine->snapshot().jobs.empty());
  expect_nothing_left();
}

TEST_F(Acceptance, Case38_WhatALateAttemptReportsDoesNotTouchTheNext) {
  plan(fmt::format("start 1 stall {}; start 1 fail unavailable", gate.path()));
  begin_with_two();
  const Ticket first = submit(request("id", {5}));
  gate.wait_for_stage();
  pass(1000s);
  EXPECT_EQ(engine->await(first)->error->code, Code::kDeadline);
  const Ticket second = submit(request("id", {5}));
  const Outcome proved = *engine->await(second);
  expect_proof(proved, {5});
  EXPECT_EQ(engine->snapshot().stale_reports, 0u);
  gate.release();
  expect_nothing_left();
  const Snapshot after = engine->snapshot();
  EXPECT_EQ(after.stale_reports, 1u);
  EXPECT_EQ(engine->await(*engine->find("id"))->proof, proved.proof);
  EXPECT_EQ(after.completed, 1u);
  EXPECT_EQ(after.failed, 1u);
}

TEST_F(Acceptance, Case40_AHangingStageFailsItsJobAtTheLimitAndFreesItsPlaceWhenItEnds) {
  plan(fmt::format("start 1 stall {}", gate.path()));
  options.policy.quarantine = 10s;
  begin();
  const Ticket hangs = submit(request("hangs", {5}));
  gate.wait_for_stage();
  pass(900s);
  EXPECT_EQ(engine->await(hangs, 0ms), std::nullopt);
  pass(100s);
  const Outcome outcome = *engine->await(hangs);
  ASSERT_EQ(outcome.state, State::kFailed);
  EXPECT_EQ(outcome.error->code, Code::kDeadline);
  EXPECT_EQ(outcome.error->message, "partition 0: stage start takes longer than 1000 s and is given up");
  EXPECT_EQ(outcome.origin->stage, Stage::kStart);
  EXPECT_EQ(outcome.origin->device, "one");

  pass(10s);
  const Ticket next = submit(request("next", {6}));
  EXPECT_TRUE(engine->snapshot().devices[0].health.quarantined_until) << "it still hangs";
  EXPECT_EQ(engine->snapshot().overdue[static_cast<size_t>(Stage::kStart)], 1u);
  EXPECT_EQ(engine->await(next, 0ms), std::nullopt);
  for (unsigned limits = 2; limits < 4; limits++) {
    pass(1000s);
    EXPECT_EQ(engine->snapshot().devices[0].health.quarantines, limits);
  }
  let_it_end();
  pass(1h);
  expect_proof(*engine->await(next), {6});
  EXPECT_EQ(engine->snapshot().devices[0].health.quarantines, 0u);
  expect_nothing_left();
}

// One fault a row.
struct Row {
  const char* plan;
  Code code;
  Stage stage;
  bool retryable;
  std::function<void(Request&)> change = {};
  bool hangs = false;
};

struct NoCircuit final : testing::CubicSource {
  explicit NoCircuit(std::function<Result<r1cs::Circuit>()> make) : CubicSource({5}, "none"), make_(std::move(make)) {}
  Result<r1cs::Circuit> compile() const override { return make_(); }
  std::function<Result<r1cs::Circuit>()> make_;
};

TEST_F(Acceptance, Case52_EachFaultHasItsCodeStageAndWhetherToTryAgain) {
  auto parse = [](auto body) {
    return [body](Request& request) {
      request.parse = [body]() -> Result<std::shared_ptr<const groth16::CircuitSource>> { return body(); };
    };
  };
  using Source = Result<std::shared_ptr<const groth16::CircuitSource>>;
  auto compile = [&](auto body) {
    return parse([body]() -> Source {
      return std::make_shared<NoCircuit>([body]() -> Result<r1cs::Circuit> { return body(); });
    });
  };
  const std::vector<Row> rows = {
      {"", Code::kInvalidInput, Stage::kParse, false,
       parse([]() -> Source { return fail(Code::kInvalidInput, "no C1"); })},
      {"", Code::kInvalidInput, Stage::kParse, false,
       parse([]() -> Source { return std::make_shared<testing::CubicSource>(std::vector<uint64_t>{}); })},
      {"", Code::kInternal, Stage::kParse, false, parse([]() -> Source { throw std::runtime_error("made to throw"); })},
      {"", Code::kInternal, Stage::kParse, false, parse([]() -> Source { throw 5; })},
      {"", Code::kResourceExhausted, Stage::kParse, true, parse([]() -> Source { throw std::bad_alloc(); })},
      {"", Code::kUnimplemented, Stage::kCircuit, false,
       compile([] { return fail(Code::kUnimplemented, "not built"); })},
      {"", Code::kResourceExhausted, Stage::kCircuit, true,
       compile([]() -> Result<r1cs::Circuit> { throw std::bad_alloc(); })},
      {"reserve 1+ fail resource_exhausted", Code::kResourceExhausted, Stage::kCircuit, true},
      {"reserve 2+ fail resource_exhausted", Code::kResourceExhausted, Stage::kParams, true},
      {"load 1+ fail not_found", Code::kNotFound, Stage::kParams, false},
      {"load 1+ fail invalid_params", Code::kInvalidParams, Stage::kParams, false},
      {"load 1+ fail io", Code::kIo, Stage::kParams, true},
      {"load 1+ throw", Code::kInternal, Stage::kParams, false},
      {"load 1 stall", Code::kDeadline, Stage::kParams, true, {}, true},
      {"synthesise 1+ fail unsatisfied", Code::kUnsatisfied, Stage::kSynthesise, false},
      {"synthesise 1+ throw", Code::kInternal, Stage::kSynthesise, false},
      {"synthesise 1+ starve 1", Code::kResourceExhausted, Stage::kSynthesise, true},
      {"synthesise 1+ flip", Code::kUnsatisfied, Stage::kSynthesise, false},
      {"synthesise 1 stall", Code::kDeadline, Stage::kSynthesise, true, {}, true},
      {"reserve 4 fail resource_exhausted; reserve 6 fail resource_exhausted", Code::kResourceExhausted, Stage::kStart,
       true},
      {"start 1+ fail unavailable", Code::kUnavailable, Stage::kStart, true},
      {"start 1+ fail resource_exhausted", Code::kResourceExhausted, Stage::kStart, true},
      {"start 1+ fail internal", Code::kInternal, Stage::kStart, false},
      {"start 1+ throw", Code::kInternal, Stage::kStart, false},
      {"start 1+ starve 1", Code::kResourceExhausted, Stage::kStart, true},
      {"start 1+ flip", Code::kVerifyFailed, Stage::kVerify, false},
      {"start 1 stall", Code::kDeadline, Stage::kStart, true, {}, true},
      {"random 1+ fail io", Code::kIo, Stage::kFinish, true},
      {"finish 1+ throw", Code::kInternal, Stage::kFinish, false},
      {"finish 1+ flip", Code::kVerifyFailed, Stage::kVerify, false},
      {"finish 1 stall", Code::kDeadline, Stage::kFinish, true, {}, true},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.plan);
    begin();
    plan(row.hangs ? fmt::format("{} {}", row.plan, gate.path()) : row.plan);
    Request asked = request("id", {5});
    if (row.change) row.change(asked);
    const Ticket ticket = submit(std::move(asked));
    if (row.hangs) {
      gate.wait_for_stage();
      pass(1000s);
    }
    const Outcome outcome = *engine->await(ticket);
    ASSERT_EQ(outcome.state, State::kFailed);
    EXPECT_EQ(code_name(outcome.error->code), code_name(row.code));
    EXPECT_EQ(retryable(outcome.error->code), row.retryable);
    ASSERT_TRUE(outcome.origin);
    EXPECT_EQ(kStageNames[static_cast<size_t>(outcome.origin->stage)], kStageNames[static_cast<size_t>(row.stage)]);
    EXPECT_EQ(outcome.origin->device, row.stage == Stage::kParams || row.stage >= Stage::kStart ? "one" : "");
    EXPECT_THAT(outcome.error->message, ::testing::Not(::testing::ContainsRegex("0x|::|^$")));
    EXPECT_TRUE(outcome.proof.empty());
    // The engine is as good as before.
    if (row.hangs) let_it_end();
    plan("");
    pass(1h);
    expect_proof(prove("next", {6}), {6});
    expect_nothing_left();
  }
}

// The first, the second ... allocation of a stage fails: always an error of that job alone, never the end.
TEST_F(Acceptance, Case52_EveryAllocationOfAStageMayFail) {
  options.policy.attempts = 1;
  for (const std::string place : {"synthesise", "start"}) {
    bool starved = true;
    for (size_t n = 1; starved; n++) {
      begin();
      plan(fmt::format("{} 1 starve {}", place, n));
      const Outcome outcome = prove("id", {5});
      starved = outcome.state != State::kCompleted;
      EXPECT_TRUE(!starved || outcome.error->code == Code::kResourceExhausted) << outcome.error->message;
      EXPECT_TRUE(starved || n > 1) << place << " allocates nothing";
      ASSERT_LT(n, 1000u);
      expect_nothing_left();
    }
  }
}

TEST_F(Acceptance, Case53_AnErrorNamesDeviceAndAttemptInAnswerAndLog) {
  begin();
  plan("start 2+ fail unavailable");
  ::testing::internal::CaptureStderr();
  const Outcome outcome = prove("id", {5, 6});
  const std::string log = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(outcome.origin);
  EXPECT_EQ(outcome.origin->device, "one");
  EXPECT_EQ(outcome.origin->attempt, 2u);
  const std::string last = log.substr(log.find("job failed"));
  for (const char* word :
       {"job='id'", "kind='cubic'", "code='unavailable'", "stage='start'", "attempt=2", "device='one'"})
    EXPECT_THAT(last, HasSubstr(word));
}

TEST_F(Acceptance, Case65_NoProofWithoutRandomnessAndNoTwoAlike) {
  begin();
  plan("random 1+ fail io");
  const Outcome outcome = prove("id", {5});
  ASSERT_EQ(outcome.state, State::kFailed);
  EXPECT_EQ(outcome.error->code, Code::kIo);
  EXPECT_THAT(outcome.error->message, HasSubstr("no random bytes"));
  EXPECT_TRUE(outcome.proof.empty());
  plan("");
  std::set<std::string> proofs;
  for (int i = 0; i < 10; i++) {
    const Outcome good = prove(fmt::format("{}", i), {5});
    expect_proof(good, {5});
    EXPECT_TRUE(proofs.insert(to_hex(good.proof)).second) << i;
  }
}

}  // namespace
}  // namespace cuzk::engine
