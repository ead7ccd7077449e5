// What `cuzk bench` makes of a daemon's answers.

#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "cli/cli.h"

namespace cuzk::cli {
namespace {

class BenchTest : public ::testing::Test {
 protected:
  // Runs it against a daemon that answers so; the exit code, and what it printed on stdout.
  std::pair<int, nlohmann::json> bench(std::vector<Result<nlohmann::json>> answers, std::vector<const char*> more) {
    calls_ = 0;
    const Remote remote{
        .status = {},
        .prove = [&](const auto&, const auto&, const auto&) { return answers.at(calls_++ % answers.size()); },
        .metrics = [](const auto&) -> Result<std::string> {
          return std::string(
              "# TYPE cuzk_ledger_peak_bytes gauge\ncuzk_ledger_peak_bytes{class=\"c1\"} 3000\n"
              "cuzk_ledger_peak_bytes{class=\"witness\"} 4000\ncuzk_ledger_peak_bytes{class=\"pending\"} 0\n"
              "cuzk_ledger_bytes{class=\"c1\"} 5\ncuzk_process_resident_peak_bytes 9000\n");
        },
        .configure = {}};
    std::vector<const char*> arguments = {"cuzk",
                                          "--json",
                                          "bench",
                                          "--daemon",
                                          "somewhere",
                                          "--c1",
                                          CUZK_SOURCE_DIR "/tests/data/sectors/2KiB/c1-wrapped.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    ::testing::internal::CaptureStdout();
    const int code = run_tool(static_cast<int>(arguments.size()), arguments.data(), remote);
    return {code, nlohmann::json::parse(::testing::internal::GetCapturedStdout())["runs"].at(0)};
  }
  static nlohmann::json proof(int gpu_ms) {
    return {{"status", "COMPLETED"}, {"proof", "00"},        {"queue_wait_ms", "1"},
            {"srs_load_ms", "0"},    {"synthesis_ms", "20"}, {"gpu_compute_ms", std::to_string(gpu_ms)},
            {"total_ms", "1500"}};
  }
  std::atomic<size_t> calls_ = 0;
};

TEST_F(BenchTest, RanksTimesAndAddsUpPeaks) {
  const auto [code, run] = bench({proof(300), proof(100), proof(500), proof(200), proof(400), proof(700), proof(600)},
                                 {"-c", "7", "-j", "3", "--warm-up", "7"});
  EXPECT_EQ(code, 0);
  EXPECT_EQ(calls_, 14u);
  EXPECT_EQ(run["completed"], 7);
  const nlohmann::json ranks = {{"min", 0.1}, {"median", 0.4}, {"p90", 0.7}, {"max", 0.7}};
  EXPECT_EQ(run["stage_seconds"]["gpu_compute"], ranks);
  EXPECT_EQ(run["resident_peak_bytes"], 9000);
  EXPECT_EQ(run["ledger_peak_bytes"], 7000);
  EXPECT_EQ(run["ledger_peak_by_class"], (nlohmann::json{{"c1", 3000}, {"witness", 4000}}));
}

TEST_F(BenchTest, CountsWhatFailedOrWasRefused) {
  const nlohmann::json failed = {{"status", "FAILED"}, {"proof", ""}, {"error_message", "too_large: a job"}};
  const auto [code, run] =
      bench({proof(1), failed, fail(Code::kResourceExhausted, "the queue is full"), proof(1)}, {"-c", "4"});
  EXPECT_EQ(code, 1);
  EXPECT_EQ(run["completed"], 2);
  EXPECT_EQ(run["failed"], 2);
  EXPECT_EQ(run["first_failure"], "too_large: a job");
  EXPECT_NEAR(run["seconds_per_proof"].get<double>() * 2, run["seconds"].get<double>(), 2e-6);
}

TEST_F(BenchTest, StopsWhereNobodyAnswers) {
  const auto [code, run] = bench({proof(1), fail(Code::kUnavailable, "Socket closed")}, {"-c", "100"});
  EXPECT_EQ(code, 4);
  EXPECT_EQ(calls_, 2u);
  EXPECT_EQ(run["error"], "the daemon does not answer: Socket closed");
}

}  // namespace
}  // namespace cuzk::cli
