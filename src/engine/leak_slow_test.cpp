// CUZK_TEST_JOBS=2000 makes it longer: 200 fit into what CI may take.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "engine/engine.h"
#include "engine/faults_testing.h"
#include "mem/machine.h"

namespace cuzk::engine {
namespace {

using testing::faults;

struct Use {
  uint64_t resident_bytes;
  size_t files, threads;
};

size_t entries(const char* folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

Use use() { return {mem::process_memory()->resident_bytes, entries("/proc/self/fd"), entries("/proc/self/task")}; }

// Of every ten jobs one fails and one is cancelled.
TEST(Acceptance, Case29_NothingGrowsWithTheNumberOfJobs) {
  const char* wanted = std::getenv("CUZK_TEST_JOBS");
  const uint64_t jobs = wanted ? std::strtoull(wanted, nullptr, 10) : 200;
  exec::Pool pool(2);
  CircuitStore circuits("");
  ParamsStore params([](const std::string&) -> Result<std::filesystem::path> { return testing::cubic_params().file; });
  const auto backend = testing::make_faulty(make_cpu_backend(pool));
  Options options;
  options.result_bytes = 16 << 10;  // so that results leave before the first look, too
  Engine engine(options, circuits, params, *backend, pool);
  std::optional<Use> early;
  // The fewest threads after any of ten jobs: a stage of a cancelled job may run beside the next job's, and a thread is
  // counted until it is gone.
  size_t early_threads = ~size_t{0}, late_threads = ~size_t{0};
  for (uint64_t i = 0; i < jobs; i++) {
    ASSERT_TRUE(faults().plan(i % 10 == 3 ? "start 1 fail internal" : ""));
    Request request{.id = fmt::format("{}", i), .kind = "cubic", .bytes = 100};
    request.parse = [i]() -> Result<std::shared_ptr<const groth16::CircuitSource>> {
      return std::make_shared<testing::FaultySource>(std::vector<uint64_t>{i, i + 1});
    };
    const Ticket ticket = *engine.submit(std::move(request));
    if (i % 10 == 7) {
      EXPECT_TRUE(engine.cancel(ticket.job->id));
    }
    const State state = engine.await(ticket)->state;
    EXPECT_EQ(state, i % 10 == 3 ? State::kFailed : i % 10 == 7 ? State::kCancelled : State::kCompleted) << i;
    if (i == 50) early = use();
    if (i > 40 && i <= 50) early_threads = std::min(early_threads, use().threads);
    if (i + 10 >= jobs) late_threads = std::min(late_threads, use().threads);
  }
  const Use late = use();
  EXPECT_LT(late.resident_bytes, early->resident_bytes + (16 << 20));
  EXPECT_EQ(late.files, early->files);
  EXPECT_LE(late_threads, early_threads + 1);
  ASSERT_TRUE(engine.drain());
  for (const mem::Ledger::Line& line : engine.snapshot().ledger)
    EXPECT_TRUE(!line.transient || line.bytes + line.objects == 0) << line.name;
}

}  // namespace
}  // namespace cuzk::engine
