// The metrics against a small reader of the text format, and against what the engine was seen to do.

#include "service/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "service/testing.h"

namespace cuzk::service {
namespace {

using engine::Histogram;
using testing::ServiceTest;
using namespace std::chrono_literals;

// Values by name with labels, as written. Refuses what Prometheus would.
std::map<std::string, double> read_metrics(const std::string& text) {
  static const std::regex kSample(
      R"re(([a-z_]+)(\{[a-z_]+="(\\[\\"n]|[^"\\\n])*"(,[a-z_]+="(\\[\\"n]|[^"\\\n])*")*\})? (\S+))re");
  std::map<std::string, double> values;
  std::istringstream lines(text);
  std::string type;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) type = line.substr(line.rfind(' ') + 1);
    if (line.starts_with("#")) continue;
    std::smatch match;
    EXPECT_TRUE(std::regex_match(line, match, kSample)) << line;
    const std::string key = match[1].str() + match[2].str();
    EXPECT_TRUE(values.emplace(key, std::stod(match[match.size() - 1].str())).second) << "twice: " << key;
    if (type != "histogram" && type != "summary") {
      EXPECT_FALSE(key.find("_bucket") != key.npos) << key;
    }
  }
  return values;
}

TEST_F(ServiceTest, MetricsSayWhatHappened) {
  grpc::ClientContext context;
  v1::AwaitProofResponse result;
  ASSERT_TRUE(prove(request("a", "3"), result).ok());
  ASSERT_TRUE(prove(request("b", "4"), result).ok());
  ASSERT_TRUE(prove(request("bad", ""), result).ok());
  v1::SubmitProofResponse submitted;
  ASSERT_TRUE(submit(request("held", "wait 5"), submitted).ok());
  gate_.started.wait();
  for (const char* id : {"c", "d"}) ASSERT_TRUE(submit(request(id, "6"), submitted).ok());
  ASSERT_FALSE(submit(request("too many", "7"), submitted).ok());

  v1::GetMetricsResponse response;
  ASSERT_TRUE(stub_->GetMetrics(&context, {}, &response).ok());
  auto values = read_metrics(response.prometheus_text());
  gate_.go.count_down();
  const auto value = [&](const std::string& key) {
    auto found = values.find(key);
    EXPECT_NE(found, values.end()) << key;
    return found == values.end() ? -1 : found->second;
  };
  EXPECT_EQ(value("cuzk_proofs_completed_total"), 2);
  EXPECT_EQ(value("cuzk_proofs_failed_total"), 1);
  EXPECT_EQ(value("cuzk_queue_depth"), 2);
  EXPECT_EQ(value("cuzk_running_jobs"), 1);
  EXPECT_EQ(value("cuzk_gpu_workers"), 1);
  EXPECT_GT(value("cuzk_uptime_seconds"), 0);
  for (const char* kind : {"snap_update", "window_post", "winning_post"}) {
    EXPECT_EQ(value(fmt::format("cuzk_proofs_completed{{proof_kind=\"{}\"}}", kind)), 0);
    EXPECT_EQ(value(fmt::format("cuzk_proof_duration_seconds_count{{proof_kind=\"{}\"}}", kind)), 0);
  }
  EXPECT_EQ(value("cuzk_proofs_completed{proof_kind=\"porep_c2\"}"), 2);
  EXPECT_EQ(value("cuzk_proofs_failed{proof_kind=\"porep_c2\"}"), 1);
  EXPECT_EQ(value("cuzk_proof_duration_seconds_count{proof_kind=\"porep_c2\"}"), 2);
  EXPECT_GT(value("cuzk_proof_duration_seconds_sum{proof_kind=\"porep_c2\"}"), 0);
  EXPECT_EQ(value("cuzk_job_duration_seconds_bucket{proof_kind=\"porep_c2\",le=\"+Inf\"}"), 2);
  EXPECT_EQ(value("cuzk_job_failures_total{proof_kind=\"porep_c2\",code=\"invalid_input\"}"), 1);
  EXPECT_EQ(value("cuzk_requests_refused_total{code=\"resource_exhausted\"}"), 1);
  EXPECT_EQ(value("cuzk_stage_duration_seconds_count{proof_kind=\"porep_c2\",stage=\"verify\"}"), 2);
  EXPECT_GT(value("cuzk_queue_age_seconds{proof_kind=\"porep_c2\"}"), 0);
  EXPECT_EQ(value("cuzk_ledger_objects{class=\"witness\"}"), 1);
  EXPECT_GT(value("cuzk_ledger_bytes{class=\"params_mapped\"}"), 0);
  EXPECT_GT(value("cuzk_process_resident_bytes"), 1 << 20);
  EXPECT_EQ(value("cuzk_srs_users{circuit_id=\"cubic\",device=\"cpu\"}"), 1);
  EXPECT_EQ(value("cuzk_device_quarantined{device=\"cpu\"}"), 0);
  EXPECT_EQ(value("cuzk_draining"), 0);
}

TEST(Histogram, CountsByTheLeastBoundThatHolds) {
  Histogram histogram;
  histogram.add(0s);
  histogram.add(1ms);
  histogram.add(2ms);
  histogram.add(3000s);
  histogram.add(3001s);
  EXPECT_EQ(histogram.counts[0], 2u);
  EXPECT_EQ(histogram.counts[1], 1u);
  EXPECT_EQ(histogram.counts[Histogram::kBounds.size() - 1], 1u);
  EXPECT_EQ(histogram.counts.back(), 1u);
  EXPECT_NEAR(histogram.sum, 6001.003, 1e-9);
}

TEST(Metrics, BucketsAreCumulativeAndLabelsEscaped) {
  Reading reading;
  Histogram& duration = reading.engine.kinds["porep-c2"].totals.duration;
  duration.add(2ms);
  duration.add(2s);
  duration.add(4000s);
  reading.engine.memory.push_back({"a \"b\"\\\n", 7, 0, 0, 0});
  auto values = read_metrics(metrics_text(reading));
  EXPECT_EQ(values["cuzk_memory_limit_bytes{pool=\"a \\\"b\\\"\\\\\\n\"}"], 7);
  const auto bucket = [&](std::string_view bound) {
    return values.at(fmt::format("cuzk_job_duration_seconds_bucket{{proof_kind=\"porep_c2\",le=\"{}\"}}", bound));
  };
  EXPECT_EQ(bucket("0.001"), 0);
  EXPECT_EQ(bucket("0.003"), 1);
  EXPECT_EQ(bucket("3"), 2);
  EXPECT_EQ(bucket("3000"), 2);
  EXPECT_EQ(bucket("+Inf"), 3);
}

// Graphics cards as the engine may know them, without one in this machine.
TEST_F(ServiceTest, GpusAreRowsWithWhatTheyRun) {
  engine::Options options;
  engine::Engine engine(options, circuits_, params_,
                        {{{"GPU-1", 2, uint64_t{1} << 30}, backend_.get()}, {{"cpu", 1, 0}, backend_.get()}}, pool_);
  Observer observer(engine, {{.ordinal = 3, .name = "A card", .uuid = "GPU-1", .memory_bytes = uint64_t{8} << 30}},
                    [](int ordinal) -> Result<uint64_t> { return uint64_t(ordinal) << 20; });
  const Reading reading = observer.read();
  ASSERT_EQ(reading.gpus.size(), 2u);
  ASSERT_TRUE(reading.gpus[0]);
  EXPECT_FALSE(reading.gpus[1]);
  EXPECT_EQ(reading.pinned_limit_bytes, reading.engine.memory[0].limit_bytes);
  auto values = read_metrics(metrics_text(reading));
  EXPECT_EQ(values.at("cuzk_gpu_workers"), 3);
  EXPECT_EQ(values.at("cuzk_gpu_memory_free_bytes{device=\"GPU-1\"}"), 3 << 20);
  EXPECT_FALSE(values.count("cuzk_gpu_memory_free_bytes{device=\"cpu\"}"));

  auto server = GrpcServer::start(engine, observer, [this](const Payload& payload) { return parse(payload); },
                                  find_cubic, {.listen = {"localhost:0"}});
  ASSERT_TRUE(server);
  stub_ = connect((*server)->addresses()[0]);
  const v1::GetStatusResponse status = this->status();
  ASSERT_EQ(status.gpus_size(), 1);
  EXPECT_EQ(status.gpus(0).ordinal(), 3u);
  EXPECT_EQ(status.gpus(0).name(), "A card");
  EXPECT_EQ(status.gpus(0).vram_total_bytes(), uint64_t{8} << 30);
  EXPECT_EQ(status.gpus(0).vram_free_bytes(), 3u << 20);
  EXPECT_EQ(status.gpus(0).current_job_id(), "");
  EXPECT_EQ(status.pinned_memory_limit_bytes(), reading.pinned_limit_bytes);
}

}  // namespace
}  // namespace cuzk::service
