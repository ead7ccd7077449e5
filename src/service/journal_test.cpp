// A crash is the copy of the journal's files as they are at that moment: what a killed process leaves.

#include "service/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <fstream>
#include <latch>
#include <random>
#include <sstream>

#include "engine/testing.h"
#include "hash/sha256.h"

namespace cuzk::service {
namespace {

using namespace std::chrono_literals;
using engine::Outcome;
using engine::State;
using engine::testing::proves;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr uint64_t kPlenty = 1 << 20;
// Counted for a job beside its payload or proof.
constexpr uint64_t kRow = 4096;

// Tells before each synthesis.
class WatchedSource final : public engine::testing::CubicSource {
 public:
  using Watch = std::function<void(uint64_t x)>;
  WatchedSource(std::vector<uint64_t> xs, const Watch& watch) : CubicSource(xs), xs_(std::move(xs)), watch_(watch) {}
  Status assign(uint32_t partition, const r1cs::Circuit& circuit, const r1cs::Assignment& to) const override {
    watch_(xs_[partition]);
    return CubicSource::assign(partition, circuit, to);
  }

 private:
  std::vector<uint64_t> xs_;
  const Watch& watch_;
};

struct JournalTest : ::testing::Test {
  engine::testing::TemporaryFolder folder;
  exec::Pool pool{2};
  engine::CircuitStore circuits{""};
  engine::ParamsStore params{
      [](const std::string&) -> Result<std::filesystem::path> { return engine::testing::cubic_params().file; }};
  std::unique_ptr<engine::Backend> backend = engine::make_cpu_backend(pool);
  std::mutex mutex;
  std::map<uint64_t, int> syntheses;  // by x
  std::latch started{1}, go{1};       // of x = 1000, which waits
  WatchedSource::Watch watch = [this](uint64_t x) {
    {
      std::lock_guard lock(mutex);
      syntheses[x]++;
    }
    if (x != 1000 || go.try_wait()) return;
    started.count_down();
    go.wait();
  };

  // The payload is xs in decimal.
  Result<std::shared_ptr<const groth16::CircuitSource>> parse(const std::string& payload) {
    std::istringstream stream(payload);
    std::vector<uint64_t> xs;
    for (uint64_t x; stream >> x;) xs.push_back(x);
    if (xs.empty()) return fail(Code::kInvalidInput, "C1 parse failed: no number");
    return std::make_shared<WatchedSource>(xs, watch);
  }
  engine::Request request(std::string id, const std::string& payload) {
    return {.id = std::move(id),
            .kind = "cubic",
            .payload_digest = hash::sha256(as_bytes(payload)),
            .parse = [this, payload] { return parse(payload); },
            .bytes = payload.size(),
            .payload = [payload] { return payload; }};
  }

  std::filesystem::path path(const std::string& name = "journal.db") { return folder.path() / name; }
  std::unique_ptr<Journal> open(const std::string& name = "journal.db", uint64_t max_bytes = kPlenty) {
    auto journal = Journal::open(path(name), max_bytes);
    EXPECT_TRUE(journal) << journal.error().message;
    return journal ? std::move(*journal) : nullptr;
  }
  std::unique_ptr<engine::Engine> start(Journal& journal, engine::Recorder* recorder = nullptr) {
    engine::Options options;
    options.recorder = recorder ? recorder : &journal;
    options.policy.max_waiting = 3;
    auto engine = std::make_unique<engine::Engine>(options, circuits, params, *backend, pool);
    EXPECT_TRUE(journal.resume(*engine, [this](std::string payload) { return parse(payload); }));
    return engine;
  }
  // Nothing is in progress but what waits in `watch`.
  void crash(Journal& journal, const std::string& to) {
    journal.settle();
    std::filesystem::copy_file(path(), path(to));
    if (std::filesystem::exists(path("journal.db-wal")))
      std::filesystem::copy_file(path("journal.db-wal"), path(to + "-wal"));
  }
  void alter(const std::string& name, const std::string& sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path(name).c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
  Outcome prove(engine::Engine& engine, const std::string& id, const std::string& payload) {
    return *engine.await(*engine.submit(request(id, payload)));
  }
  Outcome result(engine::Engine& engine, const std::string& id) { return *engine.await(*engine.find(id)); }
};

// Passes on what it is told, and tells when so many partitions are proved.
struct Counting final : engine::Recorder {
  Counting(Journal& journal, ptrdiff_t partitions) : inner(journal), proofs(partitions) {}
  void accepted(const engine::Job& job, std::function<std::string()> payload) override {
    inner.accepted(job, std::move(payload));
  }
  void proved(const engine::Job& job, uint32_t partition, ByteSpan proof) override {
    inner.proved(job, partition, proof);
    if (!proofs.try_wait()) proofs.count_down();
  }
  void ended(const engine::Job& job) override { inner.ended(job); }
  void forgotten(const engine::Job& job) override { inner.forgotten(job); }
  void settle() override { inner.settle(); }

  Journal& inner;
  std::latch proofs;
};

TEST_F(JournalTest, AJobGoesOnWithThePartitionsThatWereProved) {
  auto journal = open();
  Counting counting(*journal, 2);
  auto engine = start(*journal, &counting);
  auto ticket = engine->submit(request("a [job]", "1 2 1000"));
  counting.proofs.wait();
  started.wait();
  crash(*journal, "crashed.db");
  go.count_down();
  const Outcome undisturbed = *engine->await(*ticket);

  auto again = open("crashed.db");
  EXPECT_EQ(again->condition().jobs, 1u);
  auto next = start(*again);
  const Outcome outcome = result(*next, "a [job]");
  ASSERT_EQ(outcome.state, State::kCompleted) << outcome.error->message;
  EXPECT_TRUE(proves(outcome.proof, {1, 2, 1000}));
  EXPECT_TRUE(std::equal(outcome.proof.begin(), outcome.proof.begin() + 384, undisturbed.proof.begin()));
  EXPECT_EQ(syntheses, (std::map<uint64_t, int>{{1, 1}, {2, 1}, {1000, 2}}));
  EXPECT_EQ(prove(*next, "a [job]", "1 2 1000").proof, outcome.proof) << "a retry joins";
  ASSERT_TRUE(next->drain());
  for (const mem::Ledger::Line& line : next->snapshot().ledger)
    EXPECT_TRUE(!line.transient || line.bytes + line.objects == 0) << line.name;
}

TEST_F(JournalTest, ResultsOfEveryStateAreKept) {
  auto journal = open();
  auto engine = start(*journal);
  const Outcome good = prove(*engine, "good", "1 2");
  EXPECT_EQ(prove(*engine, "bad", "no numbers").error->code, Code::kInvalidInput);
  auto running = engine->submit(request("cancelled", "1000"));
  started.wait();
  EXPECT_TRUE(engine->cancel("cancelled"));
  crash(*journal, "crashed.db");
  go.count_down();

  auto again = open("crashed.db");
  EXPECT_EQ(again->condition().jobs, 0u);
  EXPECT_EQ(again->condition().results, 3u);
  auto next = start(*again);
  const Outcome kept = result(*next, "good");
  EXPECT_EQ(kept.state, State::kCompleted);
  EXPECT_EQ(kept.proof, good.proof);
  EXPECT_EQ(kept.total, good.total);
  EXPECT_EQ(kept.times.spent, good.times.spent);
  EXPECT_EQ(result(*next, "bad").state, State::kFailed);
  EXPECT_EQ(result(*next, "bad").error->code, Code::kInvalidInput);
  EXPECT_EQ(result(*next, "bad").error->message, "C1 parse failed: no number");
  EXPECT_EQ(result(*next, "cancelled").state, State::kCancelled);
  EXPECT_EQ(prove(*next, "good", "1 2").proof, good.proof);
  EXPECT_EQ(syntheses[1], 1) << "a kept result is not proved again";
  EXPECT_TRUE(proves(prove(*next, "good", "3").proof, {3})) << "another payload is another job";
  EXPECT_TRUE(proves(prove(*next, "cancelled", "4").proof, {4}));
}

TEST_F(JournalTest, AnIdBelongsToTheNewestPayload) {
  auto journal = open();
  auto engine = start(*journal);
  auto old = engine->submit(request("id", "1000"));
  started.wait();
  auto next = engine->submit(request("id", "1000 5"));
  EXPECT_EQ(engine->await(*old)->state, State::kCancelled);
  crash(*journal, "crashed.db");
  go.count_down();
  auto again = open("crashed.db");
  EXPECT_EQ(again->condition().jobs, 1u);
  EXPECT_EQ(again->condition().results, 0u);
  auto resumed = start(*again);
  EXPECT_TRUE(proves(result(*resumed, "id").proof, {1000, 5}));
  EXPECT_EQ(again->condition().results + again->condition().jobs, 1u);
}

TEST_F(JournalTest, WhatAShutdownPutsOffGoesOn) {
  auto journal = open();
  auto engine = start(*journal);
  auto running = engine->submit(request("running", "1000"));
  started.wait();
  auto waiting = engine->submit(request("waiting", "1000 7"));
  EXPECT_FALSE(engine->drain(1ms));
  EXPECT_EQ(engine->await(*waiting)->error->code, Code::kUnavailable);
  go.count_down();
  EXPECT_EQ(engine->await(*running)->state, State::kCompleted);
  engine.reset();
  journal.reset();
  journal = open();
  EXPECT_EQ(journal->condition().jobs, 1u);
  EXPECT_EQ(journal->condition().results, 1u);
  auto next = start(*journal);
  EXPECT_TRUE(proves(result(*next, "waiting").proof, {1000, 7}));
  EXPECT_EQ(syntheses[1000], 2);
}

TEST_F(JournalTest, AllAcceptedJobsFindAPlaceAgain) {
  auto journal = open();
  auto engine = start(*journal);
  auto blocker = engine->submit(request("blocker", "1000"));
  started.wait();
  for (int i = 0; i < 3; i++) ASSERT_TRUE(engine->submit(request(fmt::format("{}", i), "1000")));
  EXPECT_EQ(engine->submit(request("one more", "1000")).error().code, Code::kResourceExhausted);
  crash(*journal, "crashed.db");
  go.count_down();
  auto again = open("crashed.db");
  auto next = start(*again);  // all four wait at first, and the queue has three places
  for (const char* id : {"blocker", "0", "1", "2"}) EXPECT_TRUE(proves(result(*next, id).proof, {1000})) << id;
  EXPECT_FALSE(next->find("one more"));
}

TEST_F(JournalTest, DamagedRowsAreFoundAndHarmNobodyElse) {
  auto journal = open();
  Counting counting(*journal, 3);
  auto engine = start(*journal, &counting);
  prove(*engine, "result", "1");
  prove(*engine, "other", "2");
  auto proofs = engine->submit(request("proofs", "3 1000"));
  counting.proofs.wait();
  started.wait();
  auto payload = engine->submit(request("payload", "1000 4"));
  crash(*journal, "crashed.db");
  go.count_down();
  engine->drain();
  alter("crashed.db",
        "UPDATE jobs SET proof = zeroblob(192) WHERE id = 'result'; UPDATE proofs SET proof = zeroblob(192);"
        "UPDATE jobs SET payload = CAST('1000 5' AS BLOB) WHERE id = 'payload'");
  const int before = syntheses[3];
  auto again = open("crashed.db");
  auto next = start(*again);
  EXPECT_FALSE(next->find("result"));
  EXPECT_TRUE(proves(result(*next, "other").proof, {2}));
  EXPECT_TRUE(proves(result(*next, "proofs").proof, {3, 1000}));
  EXPECT_EQ(syntheses[3], before + 1);
  const Outcome lost = result(*next, "payload");
  ASSERT_EQ(lost.state, State::kFailed);
  EXPECT_EQ(lost.error->code, Code::kIo);
  EXPECT_THAT(lost.error->message, HasSubstr("send it again"));
  EXPECT_TRUE(proves(prove(*next, "payload", "1000 4").proof, {1000, 4}));
  EXPECT_TRUE(proves(prove(*next, "result", "1").proof, {1}));
}

TEST_F(JournalTest, AFileThatIsNoUsableJournalIsRefused) {
  auto refused = [&](const std::string& name) {
    auto journal = Journal::open(path(name), kPlenty);
    EXPECT_FALSE(journal) << name;
    if (journal) return Error{};
    EXPECT_THAT(journal.error().message, HasSubstr(path(name).string()));
    return journal.error();
  };
  {
    auto journal = open();
    auto engine = start(*journal);
    for (int i = 0; i < 20; i++) prove(*engine, fmt::format("{}", i), "1");
    EXPECT_EQ(refused("journal.db").code, Code::kUnavailable) << "one process at a time";
  }
  const std::uintmax_t size = std::filesystem::file_size(path());
  for (const char* name : {"bytes.db", "cut.db", "version.db"}) std::filesystem::copy_file(path(), path(name));
  std::fstream(path("bytes.db"), std::ios::in | std::ios::out | std::ios::binary).seekp(16384).write("damage", 6);
  std::filesystem::resize_file(path("cut.db"), size - 16384);
  std::ofstream(path("text.db")) << std::string(20000, 'x');
  alter("version.db", "PRAGMA user_version = 2");
  alter("foreign.db", "CREATE TABLE jobs (number INTEGER)");
  for (auto [name, what] : {std::pair("bytes.db", "damaged|malformed"),
                            {"cut.db", "damaged|malformed"},
                            {"text.db", "not a database"},
                            {"version.db", "version 2"},
                            {"foreign.db", "no journal"}}) {
    const Error error = refused(name);
    EXPECT_EQ(error.code, Code::kInvalidInput) << name;
    EXPECT_THAT(error.message, ContainsRegex(what));
    EXPECT_THAT(error.message, HasSubstr("move the file away"));
  }
  std::ofstream(path("file")) << "no folder";
  EXPECT_EQ(refused("file/journal.db").code, Code::kIo);
  auto intact = open();
  EXPECT_EQ(intact->condition().results, 20u);
}

TEST_F(JournalTest, TheOldestResultsLeaveFirstAndOpenJobsNever) {
  const uint64_t limit = 5 * kRow;
  auto journal = open("journal.db", limit);
  auto engine = start(*journal);
  auto blocker = engine->submit(request("blocker", "1000"));
  started.wait();
  for (int i = 0; i < 3; i++) {
    // They end while the blocker runs, and need no device.
    EXPECT_EQ(prove(*engine, fmt::format("{}", i), "not a number").state, State::kFailed);
    journal->settle();
    EXPECT_LE(journal->condition().bytes, limit);
  }
  for (int i = 3; i < 6; i++) EXPECT_EQ(prove(*engine, fmt::format("{}", i), "none").state, State::kFailed);
  journal->settle();
  EXPECT_EQ(journal->condition().lost, 0u);
  EXPECT_EQ(journal->condition().jobs, 1u);
  EXPECT_EQ(journal->condition().results, 3u);

  // One that has no room beside the blocker is proved all the same.
  auto large = engine->submit(request("large", "5" + std::string(4 * kRow, ' ')));
  ASSERT_TRUE(large);
  EXPECT_EQ(journal->condition().lost, 1u);
  EXPECT_EQ(journal->condition().error->code, Code::kResourceExhausted);
  EXPECT_THAT(journal->condition().error->message, HasSubstr("job 'large'"));
  EXPECT_EQ(journal->condition().results, 3u) << "nothing leaves in vain";
  crash(*journal, "crashed.db");
  go.count_down();
  EXPECT_TRUE(proves(engine->await(*large)->proof, {5}));

  auto again = open("crashed.db", limit);
  auto next = start(*again);
  EXPECT_TRUE(proves(result(*next, "blocker").proof, {1000}));
  for (int i = 0; i < 6; i++) EXPECT_EQ(next->find(fmt::format("{}", i)).has_value(), i >= 3) << i;
  EXPECT_FALSE(next->find("large"));
}

TEST_F(JournalTest, ResultsLeaveWithTheEngines) {
  auto journal = open();
  auto engine = start(*journal);
  for (const char* id : {"old", "young"}) prove(*engine, id, "1");
  engine.reset();
  journal.reset();
  alter("journal.db", "UPDATE jobs SET ended = ended - 3601000 WHERE id = 'old'");
  journal = open();
  EXPECT_EQ(journal->condition().results, 2u);
  engine = start(*journal);
  EXPECT_FALSE(engine->find("old"));
  EXPECT_TRUE(engine->find("young"));
  journal->settle();
  EXPECT_EQ(journal->condition().results, 1u);
}

TEST_F(JournalTest, AFullDiskIsToldAndSurvived) {
  auto journal = open("journal.db", 64 << 20);
  auto engine = start(*journal);
  prove(*engine, "before", "1");
  journal->settle();
  signal(SIGXFSZ, SIG_IGN);
  rlimit unlimited{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
  rlimit little = unlimited;
  little.rlim_cur = std::filesystem::file_size(path("journal.db-wal")) + 100'000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &little), 0);
  const Outcome during = prove(*engine, "during", "2" + std::string(8 << 20, ' '));
  journal->settle();
  const Journal::Condition full = journal->condition();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
  EXPECT_TRUE(proves(during.proof, {2}));
  EXPECT_GE(full.lost, 1u);

  EXPECT_TRUE(proves(prove(*engine, "after", "3").proof, {3}));
  journal->settle();
  EXPECT_FALSE(journal->condition().error) << journal->condition().error->message;
  EXPECT_EQ(journal->condition().lost, full.lost);
  crash(*journal, "crashed.db");
  auto again = open("crashed.db", 64 << 20);
  auto next = start(*again);
  EXPECT_TRUE(proves(result(*next, "before").proof, {1}));
  EXPECT_TRUE(proves(result(*next, "after").proof, {3}));
}

struct JournalAcceptance : JournalTest {};

// Stored inputs of jobs that wait: one replaced, one emptied, one as it was.
TEST_F(JournalAcceptance, Case41_AJobWhoseInputIsLostSaysSo) {
  auto journal = open();
  auto engine = start(*journal);
  auto running = engine->submit(request("running", "1000"));
  started.wait();
  for (const char* id : {"replaced", "emptied", "whole"}) ASSERT_TRUE(engine->submit(request(id, "1000 2")));
  crash(*journal, "crashed.db");
  go.count_down();
  engine->drain();
  alter("crashed.db",
        "UPDATE jobs SET payload = CAST('1000 3' AS BLOB) WHERE id = 'replaced';"
        "UPDATE jobs SET payload = x'' WHERE id = 'emptied'");
  auto again = open("crashed.db");
  auto next = start(*again);
  for (const char* id : {"replaced", "emptied"}) {
    const Outcome lost = result(*next, id);
    ASSERT_EQ(lost.state, State::kFailed) << id;
    EXPECT_THAT(lost.error->message, HasSubstr("input lost: "));
    EXPECT_EQ(lost.origin->stage, engine::Stage::kParse);
    EXPECT_TRUE(retryable(lost.error->code));
  }
  EXPECT_TRUE(proves(result(*next, "whole").proof, {1000, 2}));
  EXPECT_TRUE(proves(prove(*next, "replaced", "1000 2").proof, {1000, 2})) << "sent again";
}

// Whatever happened before a crash, an id answers for the newest payload that was accepted under it.
TEST_F(JournalTest, RandomLife) {
  const char* chosen = std::getenv("CUZK_TEST_SEED");
  const uint64_t seed = chosen ? std::stoull(chosen) : std::random_device()();
  SCOPED_TRACE(fmt::format("CUZK_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  struct Known {
    std::string payload;
    State state;  // kWaiting: to be proved
  };
  std::map<std::string, Known> model;
  auto journal = open();
  auto engine = start(*journal);
  for (int step = 0; step < 100; step++) {
    const std::string id = fmt::format("job {}", random() % 6);
    auto known = model.find(id);
    if (random() % 3 == 0) {
      EXPECT_EQ(engine->cancel(id).has_value(), known != model.end());
      if (known != model.end() && known->second.state == State::kWaiting) known->second.state = State::kCancelled;
      continue;
    }
    const bool good = random() % 4 > 0;
    const std::string payload = good ? fmt::format("1000 {}", random() % 2) : "not a number";
    if (!engine->submit(request(id, payload))) continue;  // the queue is full
    const bool joined =
        known != model.end() && known->second.payload == payload && known->second.state == State::kWaiting;
    if (!joined) model[id] = {payload, good ? State::kWaiting : State::kFailed};
  }
  crash(*journal, "crashed.db");
  go.count_down();
  engine->drain();

  auto again = open("crashed.db");
  auto next = start(*again);
  for (const auto& [id, known] : model) {
    ASSERT_TRUE(next->find(id)) << id;
    const Outcome outcome = result(*next, id);
    const bool proved = known.state == State::kWaiting;
    EXPECT_EQ(outcome.state, proved ? State::kCompleted : known.state) << id;
    EXPECT_TRUE(!proved || proves(outcome.proof, {1000, known.payload.back() - uint64_t{'0'}})) << id;
  }
  again->settle();
  EXPECT_EQ(again->condition().jobs, 0u);
  EXPECT_EQ(again->condition().results, model.size());
}

}  // namespace
}  // namespace cuzk::service
