#include "engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

  Result<std::unique_ptr<Pending>> start(const Setting& setting, r1cs::Witness witness) override {
    int number = starts++;
    if (on_start) on_start(number, witness);
    return inner_->start(setting, std::move(witness));
  }

  std::atomic<int> starts = 0;
  std::function<void(int number, r1cs::Witness& witness)> on_start;

 private:
  std::unique_ptr<Backend> inner_;
};

struct EngineTest : ::testing::Test {
  exec::Pool pool{2};
  testing::TemporaryFolder folder;
  CircuitStore circuits{folder.path()};
  ParamsStore params{
      [this](const std::string&) -> Result<std::filesystem::path> { return testing::cubic_params().file; }, pool};
  WatchedBackend backend{pool};
  std::atomic<Clock::duration> clock_shift = Clock::duration{};

  Options options() {
    Options chosen;
    chosen.now = [this] { return Clock::now() + clock_shift.load(); };
    return chosen;
  }
  std::unique_ptr<Engine> make(Options chosen) {
    return std::make_unique<Engine>(std::move(chosen), circuits, params, backend, pool);
  }

  static Request request(std::string id, std::vector<uint64_t> xs, Priority priority = Priority::kNormal) {
    Bytes32 digest = hash::sha256({reinterpret_cast<const uint8_t*>(xs.data()), xs.size() * 8});
    return {std::move(id), "cubic", priority, digest, [xs]() -> Result<std::shared_ptr<const groth16::CircuitSource>> {
              return std::make_shared<CubicSource>(xs);
            }};
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
    chosen.workers = 3;
    auto engine = make(chosen);
    ASSERT_EQ(engine->await(*engine->submit(request("first", {1, 2, 3, 4, 5, 6})))->state, State::kCompleted);
  }
  EXPECT_EQ(CubicSource::compilations, before + 1);
  CircuitStore second(folder.path());
  ASSERT_TRUE(second.get(CubicSource({1})));
  EXPECT_EQ(CubicSource::compilations, before + 1);

  // A damaged file is a warning and a compilation, never a wrong circuit.
  std::filesystem::resize_file(folder.path() / "cubic.circuit", 40);
  CircuitStore third(folder.path());
  ASSERT_TRUE(third.get(CubicSource({1})));
  EXPECT_EQ(CubicSource::compilations, before + 2);
  CircuitStore fourth(folder.path());
  ASSERT_TRUE(fourth.get(CubicSource({1})));
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
  std::vector<Fr> order;  // public input of each start
  backend.on_start = [&](int number, r1cs::Witness& witness) {
    order.push_back(witness.fields.front());
    if (number > 0) return;
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
  std::vector<Fr> expected;
  for (uint64_t x : {1, 4, 6, 3, 5, 2}) expected.push_back(Fr::from_u64(x));
  EXPECT_EQ(order, expected);
}

TEST_F(EngineTest, FullQueueRefuses) {
  std::latch started(1), go(1);
  backend.on_start = [&](int number, r1cs::Witness&) {
    if (number > 0) return;
    started.count_down();
    go.wait();
  };
  Options chosen = options();
  chosen.max_waiting = 1;
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

TEST_F(EngineTest, DrainFinishesWhatRunsAndFailsWhatWaits) {
  std::latch started(1), go(1);
  backend.on_start = [&](int, r1cs::Witness&) {
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
    Result<r1cs::Witness> synthesise(uint32_t partition, const r1cs::Circuit& circuit) const override {
      auto witness = CubicSource::synthesise(partition, circuit);
      witness->fields[1] = Fr::from_u64(26);
      return witness;
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
  ParamsStore late([&](const std::string&) -> Result<std::filesystem::path> { return file; }, pool);
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
  chosen.workers = 3;
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

TEST(SingleFlight, MakesOnceForAllWhoAsk) {
  SingleFlight<int> store;
  std::atomic<int> made = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; i++) {
      threads.emplace_back([&] {
        auto value = store.get(
            "key", [&]() -> Result<std::shared_ptr<const int>> { return std::make_shared<const int>(++made); });
        EXPECT_EQ(**value, 1);
      });
    }
  }
  EXPECT_EQ(made, 1);
  auto held = store.get("key", [] { return fail(Code::kInternal, "not called"); });
  EXPECT_EQ(store.entries()[0].users, 1u);
}

TEST(TaskKey, StartedWorkComesFirst) {
  TaskKey fresh_critical{true, 252, 0, 0}, started_low{false, 255, 9, 9};
  EXPECT_LT(started_low, fresh_critical);
  EXPECT_LT((TaskKey{true, 254, 1, 0}), (TaskKey{true, 254, 2, 0}));
  EXPECT_LT((TaskKey{true, 254, 1, 0}), (TaskKey{true, 254, 1, 1}));
  EXPECT_LT((TaskKey{true, 253, 2, 0}), (TaskKey{true, 254, 1, 0}));
}

}  // namespace
}  // namespace cuzk::engine
