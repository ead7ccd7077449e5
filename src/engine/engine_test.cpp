#include "engine/engine.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <latch>

#include "engine/testing.h"
#include "hash/sha256.h"

namespace cuzk::engine {
namespace {

using namespace std::chrono_literals;
using testing::CubicSource;
using testing::proves;

// The CPU back end with a say over each start, counted from 0.
class WatchedBackend final : public Backend {
 public:
  explicit WatchedBackend(exec::Pool& pool) : inner_(make_cpu_backend(pool)) {}

  Needs needs(const r1cs::Circuit& circuit) const override { return inner_->needs(circuit); }
  Footprint params_needs(const r1cs::Circuit& circuit, const std::filesystem::path& path) const override {
    return {inner_->params_needs(circuit, path).host, params_on_device};
  }
  Result<std::shared_ptr<const Params>> load(const std::filesystem::path& path, const r1cs::Circuit& circuit,
                                             Memory memory) override {
    loads++;
    if (on_load) on_load();
    return inner_->load(path, circuit, std::move(memory));
  }
  Result<std::unique_ptr<Pending>> start(const Setting& setting, r1cs::Witness witness, Memory memory) override {
    int number = starts++;
    if (failure) return tl::unexpected(*failure);
    if (on_start) on_start(number, witness);
    return inner_->start(setting, std::move(witness), std::move(memory));
  }

  std::atomic<int> starts = 0, loads = 0;
  uint64_t params_on_device = 0;
  std::optional<Error> failure;  // of every start
  std::function<void(int number, r1cs::Witness& witness)> on_start;
  std::function<void()> on_load;

 private:
  std::unique_ptr<Backend> inner_;
};

// Tells before each synthesis.
class WatchedSource final : public CubicSource {
 public:
  using Watch = std::function<void(uint64_t x)>;
  WatchedSource(std::vector<uint64_t> xs, const Watch& watch) : CubicSource(xs), xs_(std::move(xs)), watch_(watch) {}
  Status assign(uint32_t partition, const r1cs::Circuit& circuit, const r1cs::Assignment& to) const override {
    if (watch_) watch_(xs_[partition]);
    return CubicSource::assign(partition, circuit, to);
  }

 private:
  std::vector<uint64_t> xs_;
  const Watch& watch_;
};

struct EngineTest : ::testing::Test {
  exec::Pool pool{2};
  testing::TemporaryFolder folder;
  CircuitStore circuits{folder.path()};
  ParamsStore params{[](const std::string&) -> Result<std::filesystem::path> { return testing::cubic_params().file; }};
  WatchedBackend backend{pool};
  std::atomic<Clock::duration> clock_shift = Clock::duration{};
  WatchedSource::Watch on_synthesise;

  Options options() {
    Options chosen;
    chosen.now = [this] { return Clock::now() + clock_shift.load(); };
    return chosen;
  }
  std::unique_ptr<Engine> make(Options chosen) {
    return std::make_unique<Engine>(std::move(chosen), circuits, params, backend, pool);
  }

  Request request(std::string id, std::vector<uint64_t> xs, Priority priority = Priority::kNormal) {
    Bytes32 digest = hash::sha256({reinterpret_cast<const uint8_t*>(xs.data()), xs.size() * 8});
    Request made{.id = std::move(id), .kind = "cubic", .priority = priority, .payload_digest = digest};
    made.bytes = 100;
    made.parse = [this, xs]() -> Result<std::shared_ptr<const groth16::CircuitSource>> {
      return std::make_shared<WatchedSource>(xs, on_synthesise);
    };
    return made;
  }
  // The statement of 1 says that it is being synthesised, and waits.
  void hold_the_first(std::latch& started, std::latch& go) {
    on_synthesise = [&](uint64_t x) {
      if (x > 1) return;
      started.count_down();
      go.wait();
    };
  }
};

TEST_F(EngineTest, ProvesEveryPartitionInOrder) {
  auto engine = make(options());
  auto ticket = engine->submit(request("a job", {1, 2, 3}));
  ASSERT_TRUE(ticket);
  Outcome outcome = *engine->await(*ticket);
  ASSERT_EQ(outcome.state, State::kCompleted) << outcome.error->message;
  EXPECT_TRUE(proves(outcome.proof, {1, 2, 3}));
  EXPECT_FALSE(proves(outcome.proof, {1, 3, 2}));
  for (Stage stage :
       {Stage::kCircuit, Stage::kParams, Stage::kSynthesise, Stage::kStart, Stage::kFinish, Stage::kVerify}) {
    EXPECT_GT(outcome.times[stage], Clock::duration{}) << kStageNames[static_cast<size_t>(stage)];
  }
  EXPECT_GE(outcome.total, outcome.times[Stage::kStart]);
  EXPECT_EQ(engine->snapshot().completed, 1u);
}

TEST_F(EngineTest, CompilesOnceAndKeepsTheCircuitOnDisk) {
  int before = CubicSource::compilations;
  {
    Options chosen = options();
    chosen.policy.partition_workers = 3;
    auto engine = make(chosen);
    ASSERT_EQ(engine->await(*engine->submit(request("first", {1, 2, 3, 4, 5, 6})))->state, State::kCompleted);
  }
  EXPECT_EQ(CubicSource::compilations, before + 1);
  auto compile = [] { return CubicSource({1}).compile(); };
  CircuitStore second(folder.path());
  ASSERT_TRUE(second.load("cubic", compile));
  EXPECT_EQ(CubicSource::compilations, before + 1);

  // A damaged file is a warning and a compilation, never a wrong circuit.
  std::filesystem::resize_file(folder.path() / "cubic.circuit", 40);
  CircuitStore third(folder.path());
  ASSERT_TRUE(third.load("cubic", compile));
  EXPECT_EQ(CubicSource::compilations, before + 2);
  CircuitStore fourth(folder.path());
  ASSERT_TRUE(fourth.load("cubic", compile));
  EXPECT_EQ(CubicSource::compilations, before + 2);
}

TEST_F(EngineTest, SameIdAndPayloadJoinsThenReturnsTheKeptProof) {
  std::latch started(1), go(1);
  backend.on_start = [&](int, r1cs::Witness&) {
    started.count_down();
    go.wait();
  };
  auto engine = make(options());
  auto first = engine->submit(request("same", {7}));
  started.wait();
  auto second = engine->submit(request("same", {7}));
  EXPECT_EQ(first->job, second->job);
  go.count_down();
  Outcome one = *engine->await(*first), two = *engine->await(*second);
  ASSERT_EQ(one.state, State::kCompleted);
  EXPECT_EQ(one.proof, two.proof);
  EXPECT_EQ(engine->await(*engine->submit(request("same", {7})))->proof, one.proof);
  EXPECT_EQ(backend.starts, 1);
}

TEST_F(EngineTest, SameIdWithAnotherPayloadSupersedes) {
  std::latch started(1), go(1);
  backend.on_start = [&](int number, r1cs::Witness&) {
    if (number > 0) return;
    started.count_down();
    go.wait();
  };
  auto engine = make(options());
  auto old = engine->submit(request("same", {7}));
  started.wait();
  auto next = engine->submit(request("same", {8}));
  EXPECT_EQ(engine->await(*old)->state, State::kCancelled);
  EXPECT_EQ(engine->find("same")->job, next->job);
  go.count_down();
  Outcome outcome = *engine->await(*next);
  ASSERT_EQ(outcome.state, State::kCompleted);
  EXPECT_TRUE(proves(outcome.proof, {8}));
  engine->drain();
  EXPECT_EQ(engine->snapshot().completed, 1u);
}

TEST_F(EngineTest, AFailedJobIsTriedAnewUnderItsId) {
  auto engine = make(options());
  Request bad = request("id", {9});
  bad.parse = [] { return fail(Code::kInvalidInput, "C1 parse failed: empty"); };
  Outcome outcome = *engine->await(*engine->submit(bad));
  ASSERT_EQ(outcome.state, State::kFailed);
  EXPECT_EQ(outcome.error->code, Code::kInvalidInput);
  EXPECT_EQ(outcome.error->message, "C1 parse failed: empty");
  EXPECT_TRUE(outcome.proof.empty());
  EXPECT_EQ(engine->await(*engine->submit(request("id", {9})))->state, State::kCompleted);
  Snapshot snapshot = engine->snapshot();
  EXPECT_EQ(snapshot.completed, 1u);
  EXPECT_EQ(snapshot.failed, 1u);
}

TEST_F(EngineTest, HigherPriorityThenOlderFirst) {
  std::latch started(1), go(1);
  std::vector<uint64_t> order;
  on_synthesise = [&](uint64_t x) {
    order.push_back(x);
    if (x > 1) return;
    started.count_down();
    go.wait();
  };
  auto engine = make(options());
  std::vector<Ticket> tickets;
  auto submit = [&](std::string id, uint64_t x, Priority priority) {
    tickets.push_back(*engine->submit(request(std::move(id), {x}, priority)));
  };
  submit("blocker", 1, Priority::kNormal);
  started.wait();
  submit("low", 2, Priority::kLow);
  submit("normal", 3, Priority::kNormal);
  submit("critical", 4, Priority::kCritical);
  submit("normal too", 5, Priority::kNormal);
  submit("high", 6, Priority::kHigh);
  Snapshot snapshot = engine->snapshot();
  EXPECT_EQ(snapshot.kinds["cubic"].waiting, 5u);
  EXPECT_EQ(snapshot.kinds["cubic"].running, 1u);
  EXPECT_EQ(tickets.back().queue_position, 4u);
  go.count_down();
  for (const Ticket& ticket : tickets) EXPECT_EQ(engine->await(ticket)->state, State::kCompleted);
  EXPECT_EQ(order, (std::vector<uint64_t>{1, 4, 6, 3, 5, 2}));
}

TEST_F(EngineTest, FullQueueRefuses) {
  std::latch started(1), go(1);
  hold_the_first(started, go);
  Options chosen = options();
  chosen.policy.max_waiting = 1;
  auto engine = make(chosen);
  auto running = engine->submit(request("running", {1}));
  started.wait();
  auto waiting = engine->submit(request("waiting", {2}));
  ASSERT_TRUE(waiting);
  auto refused = engine->submit(request("refused", {3}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kResourceExhausted);
  EXPECT_TRUE(engine->submit(request("waiting", {2}))) << "joining takes no place";
  EXPECT_FALSE(engine->find("refused"));
  go.count_down();
  EXPECT_EQ(engine->await(*waiting)->state, State::kCompleted);
}

TEST_F(EngineTest, Case70_AFullQueueHasPlacesForPosts) {
  std::latch started(1), go(1);
  hold_the_first(started, go);
  Options chosen = options();
  chosen.policy.max_waiting = 2;
  chosen.policy.high = {.lanes = 1, .waiting = 3};
  chosen.policy.critical = {.waiting = 4};
  auto engine = make(chosen);
  EXPECT_EQ(engine->snapshot().free_places, (std::array<size_t, 4>{2, 2, 5, 9}));
  auto running = engine->submit(request("running", {1}));
  started.wait();
  for (const char* id : {"first", "second"}) ASSERT_TRUE(engine->submit(request(id, {2})));
  EXPECT_FALSE(engine->submit(request("refused", {2})));
  EXPECT_EQ(engine->snapshot().free_places, (std::array<size_t, 4>{0, 0, 3, 7}));
  auto post = engine->submit(request("post", {3}, Priority::kHigh));
  ASSERT_TRUE(post);
  EXPECT_EQ(engine->await(*post)->state, State::kCompleted) << "while the others wait";
  go.count_down();
}

TEST_F(EngineTest, AwaitHonoursItsTimeout) {
  std::latch go(1);
  backend.on_start = [&](int, r1cs::Witness&) { go.wait(); };
  auto engine = make(options());
  auto ticket = engine->submit(request("slow", {1}));
  EXPECT_EQ(engine->await(*ticket, 1ms), std::nullopt);
  go.count_down();
  EXPECT_EQ(engine->await(*ticket)->state, State::kCompleted);
  auto unknown = engine->find("nobody");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::kNotFound);
  EXPECT_EQ(unknown.error().message, "job not found: nobody");
}

TEST_F(EngineTest, ResultsAreForgottenAfterTheirTime) {
  auto engine = make(options());
  ASSERT_EQ(engine->await(*engine->submit(request("id", {1})))->state, State::kCompleted);
  clock_shift = 59min;
  EXPECT_TRUE(engine->find("id"));
  clock_shift = 61min;
  EXPECT_FALSE(engine->find("id"));
}

TEST_F(EngineTest, TheOldestResultsLeaveWhereTheyTakeTooMuch) {
  Options chosen = options();
  chosen.result_bytes = 3 * (sizeof(Job) + 4 * sizeof(Span) + 250);
  auto engine = make(chosen);
  auto first = engine->submit(request("0", {1}));
  engine->await(*first);
  for (uint64_t i = 1; i < 6; i++) engine->await(*engine->submit(request(fmt::format("{}", i), {i})));
  // The id and the proof of one take 198 bytes beside the Job.
  for (int i = 0; i < 6; i++) EXPECT_EQ(engine->find(fmt::format("{}", i)).has_value(), i >= 3) << i;
  EXPECT_TRUE(proves(engine->await(*first)->proof, {1})) << "who has the ticket has the result";
  // The id of a result that leaves may belong to a newer job by then.
  std::latch started(1), go(1);
  on_synthesise = [&](uint64_t x) {
    if (x != 9) return;
    started.count_down();
    go.wait();
  };
  auto newer = engine->submit(request("3", {9, 9}));
  started.wait();
  Request bad = request("bad", {});
  bad.parse = [] { return fail(Code::kInvalidInput, "{}", std::string(3000, 'x')); };
  engine->await(*engine->submit(bad));
  EXPECT_FALSE(engine->find("4"));
  EXPECT_EQ(engine->find("3")->job, newer->job);
  go.count_down();
  EXPECT_EQ(engine->await(*newer)->state, State::kCompleted);
}

// Writes down what it is told.
struct Notes final : Recorder {
  void accepted(const Job& job, std::function<std::string()> payload) override {
    lines.push_back(fmt::format("accepted {} {}", job.number, payload()));
  }
  void proved(const Job& job, uint32_t partition, ByteSpan proof) override {
    lines.push_back(fmt::format("proved {} {}", job.number, partition));
    proofs[partition].assign(proof.begin(), proof.end());
  }
  void ended(const Job& job) override { lines.push_back(fmt::format("ended {}", job.number)); }
  void forgotten(const Job& job) override { lines.push_back(fmt::format("forgotten {}", job.number)); }
  void settle() override { settled++; }

  std::vector<std::string> lines;
  std::map<uint32_t, Bytes> proofs;
  std::atomic<int> settled = 0;
};

TEST_F(EngineTest, TheRecorderHearsWhatARestartMustNotLose) {
  Notes notes;
  Options chosen = options();
  chosen.recorder = &notes;
  chosen.policy.partition_workers = 1;
  auto engine = make(chosen);
  Request first = request("id", {1, 2});
  first.payload = [] { return "payload"; };
  ASSERT_EQ(engine->await(*engine->submit(first))->state, State::kCompleted);
  EXPECT_EQ(notes.settled, 1);
  EXPECT_THAT(notes.lines, ::testing::ElementsAre("accepted 1 payload", "proved 1 0", "proved 1 1", "ended 1"));
  Request other = request("id", {3});
  other.payload = [] { return "other"; };
  ASSERT_EQ(engine->await(*engine->submit(other))->state, State::kCompleted);
  clock_shift = 61min;
  EXPECT_FALSE(engine->find("id"));
  notes.lines.erase(notes.lines.begin(), notes.lines.begin() + 4);
  EXPECT_THAT(notes.lines,
              ::testing::ElementsAre("accepted 2 other", "proved 2 0", "ended 2", "forgotten 1", "forgotten 2"));
}

TEST_F(EngineTest, AResumedJobProvesWhatIsMissingAndWhatDoesNotHold) {
  Notes notes;
  {
    Options chosen = options();
    chosen.recorder = &notes;
    auto engine = make(chosen);
    Request before = request("id", {1, 2, 3, 4});
    before.payload = [] { return ""; };
    ASSERT_EQ(engine->await(*engine->submit(before))->state, State::kCompleted);
  }
  std::map<uint32_t, Bytes> proofs = notes.proofs;
  proofs.erase(1);              // not proved
  proofs[2] = notes.proofs[3];  // of another statement
  proofs[3][100] ^= 1;          // no point
  proofs[7] = notes.proofs[0];  // of no partition
  std::vector<uint64_t> order;
  std::mutex mutex;
  on_synthesise = [&](uint64_t x) {
    std::lock_guard lock(mutex);
    order.push_back(x);
  };
  backend.starts = 0;
  auto engine = make(options());
  Request again = request("id", {1, 2, 3, 4});
  again.resumed = Resumed{17, proofs};
  auto ticket = engine->submit(again);
  ASSERT_TRUE(ticket);
  EXPECT_EQ(ticket->job->number, 17u);
  const Outcome outcome = *engine->await(*ticket);
  ASSERT_EQ(outcome.state, State::kCompleted) << outcome.error->message;
  EXPECT_TRUE(proves(outcome.proof, {1, 2, 3, 4}));
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, (std::vector<uint64_t>{2, 3, 4}));
  EXPECT_EQ(backend.starts, 3);
  EXPECT_EQ(engine->submit(request("next", {5}))->job->number, 18u);
  ASSERT_TRUE(engine->drain());
  const Snapshot after = engine->snapshot();
  EXPECT_EQ(after.devices[0].health.failures, 0u) << "a file's damage is not the device's fault";
  for (const mem::Ledger::Line& each : after.ledger)
    EXPECT_TRUE(!each.transient || each.bytes + each.objects == 0) << each.name;
}

TEST_F(EngineTest, KeptResultsAnswerUnderTheirIds) {
  auto engine = make(options());
  const Bytes proof(192, 7);
  const Bytes32 digest = request("", {5}).payload_digest;
  engine->adopt({4, "old", "cubic", digest, {State::kCompleted, proof, {}, {}, {}}, 61min});
  engine->adopt({3, "id", "cubic", digest, {State::kCompleted, proof, {}, {}, 5s}, 10min});
  EXPECT_FALSE(engine->find("old"));
  const Outcome kept = *engine->await(*engine->submit(request("id", {5})));
  EXPECT_EQ(kept.proof, proof);
  EXPECT_EQ(kept.total, 5s);
  EXPECT_EQ(backend.starts, 0);
  auto next = engine->submit(request("id", {6}));
  EXPECT_EQ(next->job->number, 5u);
  EXPECT_TRUE(proves(engine->await(*next)->proof, {6}));
  clock_shift = 51min;
  EXPECT_TRUE(engine->find("id"));
}

TEST_F(EngineTest, DrainFinishesWhatRunsAndFailsWhatWaits) {
  std::latch started(1), go(1);
  on_synthesise = [&](uint64_t) {
    started.count_down();
    go.wait();
  };
  auto engine = make(options());
  auto running = engine->submit(request("running", {1}));
  started.wait();
  auto waiting = engine->submit(request("waiting", {2}));
  EXPECT_FALSE(engine->drain(1ms));
  Outcome left = *engine->await(*waiting);
  EXPECT_EQ(left.state, State::kFailed);
  EXPECT_EQ(left.error->code, Code::kUnavailable);
  auto refused = engine->submit(request("late", {3}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
  go.count_down();
  EXPECT_TRUE(engine->drain());
  EXPECT_EQ(engine->await(*running)->state, State::kCompleted);
}

TEST_F(EngineTest, AbandonAnswersAtOnce) {
  std::latch started(1), go(1);
  backend.on_start = [&](int, r1cs::Witness&) {
    started.count_down();
    go.wait();
  };
  auto engine = make(options());
  auto running = engine->submit(request("running", {1}));
  started.wait();
  engine->abandon();
  Outcome outcome = *engine->await(*running);
  EXPECT_EQ(outcome.state, State::kFailed);
  EXPECT_EQ(outcome.error->code, Code::kUnavailable);
  go.count_down();
  EXPECT_TRUE(engine->drain());
  EXPECT_EQ(engine->await(*running)->state, State::kFailed) << "a final state is final";
}

TEST_F(EngineTest, AProofThatDoesNotVerifyIsMadeAgainAndNeverReturned) {
  // The device computes wrongly once: the witness it sees is not the one that was made.
  backend.on_start = [&](int number, r1cs::Witness& witness) {
    if (number == 0) witness.fields[0] = witness.fields[0] + Fr::one();
  };
  auto engine = make(options());
  Outcome outcome = *engine->await(*engine->submit(request("once", {5})));
  ASSERT_EQ(outcome.state, State::kCompleted);
  EXPECT_TRUE(proves(outcome.proof, {5}));
  EXPECT_EQ(backend.starts, 2);

  backend.on_start = [&](int, r1cs::Witness& witness) { witness.fields[0] = witness.fields[0] + Fr::one(); };
  outcome = *engine->await(*engine->submit(request("always", {5})));
  ASSERT_EQ(outcome.state, State::kFailed);
  EXPECT_EQ(outcome.error->code, Code::kVerifyFailed);
  EXPECT_TRUE(outcome.proof.empty());
}

TEST_F(EngineTest, AnUnsatisfiedWitnessNamesItsRow) {
  struct Liar final : CubicSource {
    Liar() : CubicSource({5}) {}
    Status assign(uint32_t partition, const r1cs::Circuit& circuit, const r1cs::Assignment& to) const override {
      CUZK_TRY(CubicSource::assign(partition, circuit, to));
      to.fields[1] = Fr::from_u64(26);
      return {};
    }
  };
  auto engine = make(options());
  Request lie = request("lie", {5});
  lie.parse = []() -> Result<std::shared_ptr<const groth16::CircuitSource>> { return std::make_shared<Liar>(); };
  Outcome outcome = *engine->await(*engine->submit(lie));
  ASSERT_EQ(outcome.state, State::kFailed);
  EXPECT_EQ(outcome.error->code, Code::kUnsatisfied);
  EXPECT_THAT(outcome.error->message, ::testing::HasSubstr("0"));
  EXPECT_EQ(backend.starts, 1);
}

TEST_F(EngineTest, AStatementThatContradictsItselfIsNotTheDevicesFault) {
  struct Contradiction final : CubicSource {
    Contradiction() : CubicSource({5}) {}
    Result<std::vector<Fr>> public_inputs(uint32_t) const override { return std::vector<Fr>{Fr::from_u64(26)}; }
  };
  auto engine = make(options());
  Request asked = request("id", {5});
  asked.parse = []() -> Result<std::shared_ptr<const groth16::CircuitSource>> {
    return std::make_shared<Contradiction>();
  };
  const Outcome outcome = *engine->await(*engine->submit(asked));
  ASSERT_EQ(outcome.state, State::kFailed);
  EXPECT_EQ(outcome.error->code, Code::kInternal);
  EXPECT_EQ(backend.starts, 1);
  EXPECT_EQ(engine->snapshot().devices[0].health.failures, 0u);
}

TEST_F(EngineTest, SnapshotsShowWherePartitionsAre) {
  std::latch started(1), go(1);
  backend.on_start = [&](int, r1cs::Witness&) {
    started.count_down();
    go.wait();
  };
  auto engine = make(options());
  auto ticket = engine->submit(request("id", {1, 2, 3}, Priority::kHigh));
  started.wait();
  const Snapshot snapshot = engine->snapshot();
  ASSERT_EQ(snapshot.jobs.size(), 1u);
  EXPECT_EQ(snapshot.jobs[0].id, "id");
  EXPECT_EQ(snapshot.jobs[0].priority, Priority::kHigh);
  EXPECT_EQ(snapshot.jobs[0].state, State::kRunning);
  EXPECT_EQ(snapshot.jobs[0].partitions.size(), 3u);
  EXPECT_EQ(snapshot.jobs[0].partitions[0], Scheduler::Step::kStarting);
  EXPECT_EQ(snapshot.devices[0].health.running, 1u);
  go.count_down();
  EXPECT_EQ(engine->await(*ticket)->state, State::kCompleted);
  EXPECT_TRUE(engine->snapshot().jobs.empty());
}

TEST_F(EngineTest, EveryStageIsNotedWhenItRunsAndKeptWithItsJob) {
  std::latch started(1), go(1);
  backend.on_start = [&](int number, r1cs::Witness& witness) {
    if (number == 0) {
      started.count_down();
      go.wait();
      witness.fields[1] = Fr::from_u64(26);  // does not verify, so there is a second attempt
    }
  };
  auto engine = make(options());
  auto ticket = engine->submit(request("id", {5}));
  started.wait();
  clock_shift = 3s;
  const Snapshot during = engine->snapshot();
  ASSERT_EQ(during.devices[0].running.size(), 1u);
  EXPECT_EQ(during.devices[0].running[0].id, "id");
  EXPECT_EQ(during.devices[0].running[0].partition, 0u);
  EXPECT_GE(during.time - during.devices[0].running[0].since, 3s);
  EXPECT_EQ(during.kinds.at("cubic").running, 1u);
  EXPECT_TRUE(during.ended.empty());
  go.count_down();
  ASSERT_EQ(engine->await(*ticket)->state, State::kCompleted);

  const Snapshot after = engine->snapshot();
  EXPECT_TRUE(after.devices[0].running.empty());
  EXPECT_EQ(after.devices[0].failures.at(Code::kVerifyFailed), 1u);
  const Totals& totals = after.kinds.at("cubic").totals;
  EXPECT_EQ(totals.completed, 1u);
  EXPECT_EQ(totals.failures(), 0u);
  EXPECT_GE(totals.duration.sum, 3);
  ASSERT_EQ(after.ended.size(), 1u);
  EXPECT_EQ(after.ended[0].partitions, std::vector{Scheduler::Step::kDone});
  std::vector<std::pair<Stage, unsigned>> seen;
  Clock::time_point border{};
  const auto job = engine->view("id");
  ASSERT_TRUE(job);
  for (const Span& span : job->spans) {
    seen.emplace_back(span.stage, span.attempt);
    ASSERT_TRUE(span.end);
    EXPECT_GE(*span.end, span.begin);
    if (span.partition == 0) {
      EXPECT_GE(span.begin, std::exchange(border, *span.end));
    }
    EXPECT_EQ(span.good, !(span.stage == Stage::kVerify && span.attempt == 1));
    EXPECT_EQ(span.partition, span.stage == Stage::kParse || span.stage == Stage::kWait ||
                                      span.stage == Stage::kCircuit || span.stage == Stage::kParams
                                  ? kWholeJob
                                  : 0u);
  }
  using enum Stage;
  std::erase_if(seen, [](const auto& each) { return each.first == kWait || each.first <= kParams; });
  // The second attempt begins with a look at the rows, and once more when the parameters have been loaded anew.
  EXPECT_THAT(seen, ::testing::ElementsAre(std::pair(kSynthesise, 1), std::pair(kStart, 1), std::pair(kFinish, 1),
                                           std::pair(kVerify, 1), std::pair(kSynthesise, 2), std::pair(kSynthesise, 2),
                                           std::pair(kStart, 2), std::pair(kFinish, 2), std::pair(kVerify, 2)));
  EXPECT_GT(totals.stages[static_cast<size_t>(kVerify)].sum, 0);
  EXPECT_GT(job->cost.cpu, Clock::duration{});
  EXPECT_EQ(job->cost.gpu, Clock::duration{}) << "the processor is no card";
  EXPECT_GE(*job->ended - job->submitted, 3s);

  clock_shift = 3s + kEndedShown + 1s;
  EXPECT_TRUE(engine->snapshot().ended.empty());
  EXPECT_TRUE(engine->view("id"));
  EXPECT_EQ(engine->view("unknown").error().code, Code::kNotFound);
}

TEST_F(EngineTest, OnlyTheLastOfManyEndedJobsAreShown) {
  auto engine = make(options());
  for (size_t i = 0; i < kMostEnded + 3; i++) {
    clock_shift = std::chrono::milliseconds(i);
    Request bad = request(fmt::format("{}", i), {1});
    bad.parse = []() -> Result<std::shared_ptr<const groth16::CircuitSource>> {
      return fail(Code::kInvalidInput, "no");
    };
    ASSERT_EQ(engine->await(*engine->submit(bad))->state, State::kFailed);
  }
  const Snapshot snapshot = engine->snapshot();
  ASSERT_EQ(snapshot.ended.size(), kMostEnded);
  EXPECT_EQ(snapshot.ended.front().id, fmt::format("{}", kMostEnded + 2));
  EXPECT_EQ(snapshot.ended.back().id, "3");
  EXPECT_EQ(snapshot.failed, kMostEnded + 3);
}

TEST_F(EngineTest, FailuresAreCountedByCode) {
  Options chosen = options();
  chosen.policy.max_waiting = 1;
  backend.failure = Error{Code::kInternal, "broken"};
  auto engine = make(chosen);
  ASSERT_EQ(engine->await(*engine->submit(request("id", {5})))->state, State::kFailed);
  ASSERT_TRUE(engine->drain());
  EXPECT_EQ(engine->submit(request("late", {5})).error().code, Code::kUnavailable);
  const Snapshot snapshot = engine->snapshot();
  EXPECT_TRUE(snapshot.draining);
  EXPECT_EQ(snapshot.kinds.at("cubic").totals.failed, (std::map<Code, uint64_t>{{Code::kInternal, 1}}));
  EXPECT_EQ(snapshot.refused, (std::map<Code, uint64_t>{{Code::kUnavailable, 1}}));
  EXPECT_EQ(snapshot.devices[0].failures, (std::map<Code, uint64_t>{{Code::kInternal, 1}}));
  ASSERT_EQ(snapshot.ended.size(), 1u);
  EXPECT_EQ(snapshot.ended[0].partitions, std::vector{Scheduler::Step::kDropping});
  EXPECT_EQ(snapshot.ended[0].error->message, "partition 0 prove failed: broken");
}

TEST_F(EngineTest, ExceptionsBecomeErrorsOfTheirJob) {
  auto engine = make(options());
  Request broken = request("parse", {1});
  broken.parse = []() -> Result<std::shared_ptr<const groth16::CircuitSource>> { throw std::bad_alloc(); };
  Outcome outcome = *engine->await(*engine->submit(broken));
  EXPECT_EQ(outcome.error->code, Code::kResourceExhausted);

  backend.on_start = [](int number, r1cs::Witness&) {
    if (number == 0) throw std::runtime_error("a surprise");
  };
  outcome = *engine->await(*engine->submit(request("start", {1})));
  EXPECT_EQ(outcome.error->code, Code::kInternal);
  EXPECT_EQ(engine->await(*engine->submit(request("start", {1})))->state, State::kCompleted);
}

TEST_F(EngineTest, MissingParametersAreAnErrorOfTheJobAndNotRemembered) {
  std::filesystem::path file = folder.path() / "late.params";
  ParamsStore late([&](const std::string&) -> Result<std::filesystem::path> { return file; });
  Engine engine(options(), circuits, late, backend, pool);
  Outcome outcome = *engine.await(*engine.submit(request("id", {1})));
  ASSERT_EQ(outcome.state, State::kFailed);
  EXPECT_EQ(outcome.error->code, Code::kNotFound);
  EXPECT_TRUE(late.loaded().empty());
  std::filesystem::copy_file(testing::cubic_params().file, file);
  EXPECT_EQ(engine.await(*engine.submit(request("id", {1})))->state, State::kCompleted);
  ASSERT_EQ(late.loaded().size(), 1u);
  EXPECT_EQ(late.loaded()[0].circuit_id, "cubic");
  EXPECT_GT(late.loaded()[0].bytes, 0u);
}

TEST_F(EngineTest, ManyJobsFromManyThreads) {
  Options chosen = options();
  chosen.policy.partition_workers = 3;
  auto engine = make(chosen);
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> clients;
    for (uint64_t client = 0; client < 4; client++) {
      clients.emplace_back([&, client] {
        for (uint64_t i = 0; i < 5; i++) {
          uint64_t x = 10 * client + i;
          auto ticket = engine->submit(request(fmt::format("{}", i % 2 ? x : i), {i % 2 ? x : i, 3}));
          Outcome outcome = *engine->await(*ticket);
          good += outcome.state == State::kCompleted && proves(outcome.proof, {i % 2 ? x : i, 3});
        }
      });
    }
  }
  EXPECT_EQ(good, 20);
}

TEST_F(EngineTest, EveryStageIsCoveredByMemoryAndNothingIsLeft) {
  const r1cs::Circuit circuit = CubicSource({1}).compile().value();
  const Needs needs = backend.needs(circuit);
  auto line = [](const Snapshot& snapshot, Class which) { return snapshot.ledger[static_cast<size_t>(which)].bytes; };
  std::optional<Snapshot> during;
  std::unique_ptr<Engine> engine;
  backend.on_start = [&](int, r1cs::Witness& witness) {
    EXPECT_EQ(witness.fields.size(), circuit.num_aux);
    during = engine->snapshot();
  };
  engine = make(options());
  ASSERT_EQ(engine->await(*engine->submit(request("id", {5})))->state, State::kCompleted);
  EXPECT_EQ(line(*during, Class::kC1), 100u);
  EXPECT_EQ(line(*during, Class::kCircuit), circuit.bytes());
  EXPECT_EQ(line(*during, Class::kParams), 0u);
  EXPECT_EQ(line(*during, Class::kMappedParams), groth16::lengths_of(circuit).native_bytes());
  EXPECT_EQ(line(*during, Class::kWitness), r1cs::witness_bytes(circuit));
  EXPECT_EQ(line(*during, Class::kEvaluations), needs.start.host);
  EXPECT_EQ(during->memory[0].reserved_bytes, circuit.bytes() + r1cs::witness_bytes(circuit) + needs.start.host +
                                                  groth16::verify_bytes(1, pool.threads()))
      << "mapped parameters take nothing once they are loaded";
  EXPECT_EQ(during->memory[1].reserved_bytes, 100u);
  EXPECT_EQ(during->params.at(0).users, 1u);

  ASSERT_TRUE(engine->drain());
  const Snapshot after = engine->snapshot();
  for (const mem::Ledger::Line& each : after.ledger) {
    EXPECT_TRUE(!each.transient || each.bytes + each.objects == 0) << each.name;
  }
  EXPECT_EQ(after.memory[0].reserved_bytes, circuit.bytes());
  EXPECT_EQ(after.memory[1].reserved_bytes, 0u);
  EXPECT_EQ(after.params.at(0).users, 0u);
}

// The cubic's parameters by a name in a folder where nothing can be made, so that they cannot be mapped.
class UnmappableParams {
 public:
  explicit UnmappableParams(const std::filesystem::path& folder) {
    std::filesystem::copy_file(testing::cubic_params().file, folder / "read-only.params");
    file_ = ::open((folder / "read-only.params").c_str(), O_RDONLY);
  }
  ~UnmappableParams() { ::close(file_); }
  std::filesystem::path path() const { return fmt::format("/proc/self/fd/{}", file_); }
  ParamsStore store() const {
    return ParamsStore([path = path()](const std::string&) -> Result<std::filesystem::path> { return path; });
  }

 private:
  int file_;
};

// Where the points cannot be mapped, the scheduler knows it before they are loaded, and they are on the heap.
TEST_F(EngineTest, PointsThatCannotBeMappedAreCoveredByMemory) {
  const r1cs::Circuit circuit = CubicSource({1}).compile().value();
  const uint64_t points = groth16::lengths_of(circuit).native_bytes(), mapped = backend.needs(circuit).params.host;
  const UnmappableParams unmappable(folder.path());
  EXPECT_EQ(backend.params_needs(circuit, folder.path() / "read-only.params").host, mapped);
  EXPECT_EQ(backend.params_needs(circuit, unmappable.path()).host, mapped + points);

  ParamsStore store = unmappable.store();
  Engine engine(options(), circuits, store, backend, pool);
  ASSERT_EQ(engine.await(*engine.submit(request("id", {5})))->state, State::kCompleted);
  const Snapshot after = engine.snapshot();
  EXPECT_EQ(after.ledger[static_cast<size_t>(Class::kParams)].bytes, points);
  EXPECT_EQ(after.ledger[static_cast<size_t>(Class::kMappedParams)].bytes, 0u);
  EXPECT_EQ(after.memory[0].reserved_bytes,
            circuit.bytes() + points - groth16::lengths_of(circuit).ic * sizeof(G1Affine));
}

TEST_F(EngineTest, StaysWithinABudgetForOnePartition) {
  const r1cs::Circuit circuit = CubicSource({1}).compile().value();
  const Needs needs = backend.needs(circuit);
  Options chosen = options();
  chosen.policy.partition_workers = 15;
  chosen.policy.host_bytes = 4 * (circuit.bytes() + needs.params.host + witness_bytes(circuit) + needs.start.host);
  chosen.policy.circuit_allowance = circuit.bytes();
  chosen.policy.request_bytes = 250;
  auto engine = make(chosen);
  std::vector<std::jthread> clients;
  std::atomic<int> good = 0;
  for (uint64_t client = 0; client < 15; client++) {
    clients.emplace_back([&, client] {
      good += engine->await(*engine->submit(request(fmt::format("{}", client), {client, 2, 3})))->state ==
              State::kCompleted;
    });
  }
  clients.clear();
  EXPECT_EQ(good, 15);
  const auto memory = engine->snapshot().memory;
  EXPECT_LE(memory[0].high_water_bytes, memory[0].limit_bytes);
  EXPECT_LE(memory[1].high_water_bytes, 250u);
}

TEST_F(EngineTest, WhatCanNeverFitFailsAtOnce) {
  const r1cs::Circuit circuit = CubicSource({1}).compile().value();
  Options chosen = options();
  chosen.policy.host_bytes = 4 * circuit.bytes();
  chosen.policy.circuit_allowance = circuit.bytes();
  chosen.policy.request_bytes = 99;
  ASSERT_GT(backend.needs(circuit).start.host, chosen.policy.host_bytes);
  auto engine = make(chosen);
  EXPECT_EQ(engine->submit(request("large", {5})).error().code, Code::kTooLarge);
  Request small = request("small", {5});
  small.bytes = 1;
  const Outcome outcome = *engine->await(*engine->submit(small));
  ASSERT_EQ(outcome.state, State::kFailed);
  EXPECT_EQ(outcome.error->code, Code::kTooLarge);
  EXPECT_THAT(outcome.error->message, ::testing::HasSubstr("cubic needs"));
  EXPECT_EQ(backend.loads, 0);
}

TEST_F(EngineTest, AFailedPartitionGoesToAnotherDevice) {
  WatchedBackend broken(pool);
  broken.failure = Error{Code::kUnavailable, "CUDA: an illegal memory access was encountered"};
  Options chosen = options();
  chosen.policy.partition_workers = 2;
  Engine engine(chosen, circuits, params, {{{"broken", 2, 0}, &broken}, {{"good", 2, 0}, &backend}}, pool);
  for (int job = 0; job < 3; job++) {
    const Outcome outcome = *engine.await(*engine.submit(request(fmt::format("{}", job), {5, 6, 7})));
    ASSERT_EQ(outcome.state, State::kCompleted) << outcome.error->message;
    EXPECT_TRUE(proves(outcome.proof, {5, 6, 7}));
  }
  EXPECT_GE(broken.starts, 2);
  EXPECT_LE(broken.starts, 4) << "it rests after two failures";
  const Snapshot snapshot = engine.snapshot();
  EXPECT_EQ(snapshot.devices[0].name, "broken");
  EXPECT_TRUE(snapshot.devices[0].health.quarantined_until);
  EXPECT_FALSE(snapshot.devices[1].health.quarantined_until);
}

TEST_F(EngineTest, CancelStopsAtTheNextBorder) {
  std::latch started(1), go(1);
  backend.on_start = [&](int, r1cs::Witness&) {
    started.count_down();
    go.wait();
  };
  auto engine = make(options());
  auto ticket = engine->submit(request("id", {1, 2, 3, 4}));
  started.wait();
  EXPECT_EQ(engine->cancel("nobody").error().code, Code::kNotFound);
  EXPECT_EQ(*engine->cancel("id"), true);
  EXPECT_EQ(engine->await(*ticket)->state, State::kCancelled);
  EXPECT_EQ(*engine->cancel("id"), false);
  go.count_down();
  EXPECT_TRUE(engine->drain());
  EXPECT_EQ(backend.starts, 1);
  EXPECT_EQ(engine->snapshot().ledger[static_cast<size_t>(Class::kWitness)].bytes, 0u);
}

TEST_F(EngineTest, AJobThatNobodyWaitsForAnyMoreIsCancelled) {
  std::latch go(1);
  on_synthesise = [&](uint64_t) { go.wait(); };
  Options chosen = options();
  chosen.policy.grace = 1ms;
  auto engine = make(chosen);
  Request wish = request("kept", {2});
  wish.keep = true;
  auto deserted = engine->submit(request("deserted", {1})), kept = engine->submit(wish);
  engine->watch(*kept);
  engine->unwatch(*kept);
  engine->watch(*deserted);
  engine->watch(*deserted);
  engine->unwatch(*deserted);
  EXPECT_EQ(engine->await(*deserted, 5ms), std::nullopt) << "one is still there";
  engine->unwatch(*deserted);
  EXPECT_EQ(engine->await(*deserted)->state, State::kCancelled);
  Request late = request("late", {3});
  late.time_limit = 1ms;
  EXPECT_EQ(engine->await(*engine->submit(late))->error->code, Code::kDeadline);
  go.count_down();
  EXPECT_EQ(engine->await(*kept)->state, State::kCompleted);
}

TEST_F(EngineTest, PreloadsAndEvicts) {
  auto compile = [] { return CubicSource({1}).compile(); };
  auto engine = make(options());
  auto first = engine->preload("cubic", compile);
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->already);
  EXPECT_GT(first->load_time, Clock::duration{});
  EXPECT_TRUE(engine->preload("cubic", compile)->already);
  ASSERT_EQ(engine->await(*engine->submit(request("id", {1})))->state, State::kCompleted);
  EXPECT_EQ(backend.loads, 1);
  const uint64_t held = engine->snapshot().memory[0].reserved_bytes;
  EXPECT_GT(held, 0u);
  EXPECT_EQ(*engine->evict("cubic"), held + groth16::lengths_of(CubicSource({1}).compile().value()).native_bytes());
  const Snapshot snapshot = engine->snapshot();
  EXPECT_EQ(snapshot.memory[0].reserved_bytes, 0u);
  EXPECT_EQ(snapshot.params.at(0).tier, Tier::kCold);
  EXPECT_TRUE(snapshot.circuits.empty());
  EXPECT_EQ(*engine->evict("cubic"), 0u);
  EXPECT_EQ(engine->preload("broken", [] { return fail(Code::kNotFound, "no such circuit"); }).error().code,
            Code::kNotFound);
  ASSERT_EQ(engine->await(*engine->submit(request("another", {2})))->state, State::kCompleted);
  EXPECT_EQ(backend.loads, 2);
}

// As PoolOf.StandsStillForWhatIsUrgent, with a load for what is urgent.
TEST_F(EngineTest, LoadsForPostsGoBeforeOtherLoops) {
  std::atomic<bool> going = true;
  std::atomic<size_t> pieces = 0;
  std::jthread background([&] {
    while (going) {
      pool.for_each(64, [&](size_t) {
        pieces++;
        pieces.notify_all();
      });
    }
  });
  pieces.wait(0);
  size_t meanwhile = SIZE_MAX;
  backend.on_load = [&] {
    const size_t before = pieces;
    for (int round = 0; round < 100; round++) pool.for_each(100, [](size_t) {});
    meanwhile = pieces - before;
  };
  auto engine = make(options());
  EXPECT_EQ(engine->await(*engine->submit(request("post", {1}, Priority::kHigh)))->state, State::kCompleted);
  going = false;
  EXPECT_LE(meanwhile, pool.threads() + 1);
}

TEST_F(EngineTest, EvictsIdleParametersForOthers) {
  // Two names of one circuit, and room on the device for one of them at a time.
  backend.params_on_device = 100;
  Engine engine(options(), circuits, params, {{{"one", 1, 150}, &backend}}, pool);
  for (int round = 0; round < 2; round++) {
    for (std::string name : {"one", "other"}) {
      Request asked = request(fmt::format("{} {}", name, round), {4});
      asked.parse = [name]() -> Result<std::shared_ptr<const groth16::CircuitSource>> {
        return std::make_shared<CubicSource>(std::vector<uint64_t>{4}, name);
      };
      ASSERT_EQ(engine.await(*engine.submit(asked))->state, State::kCompleted);
    }
  }
  EXPECT_EQ(backend.loads, 4);
  EXPECT_LE(engine.snapshot().memory.back().high_water_bytes, 150u);
}

}  // namespace
}  // namespace cuzk::engine
