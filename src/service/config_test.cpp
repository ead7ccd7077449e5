#include "service/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/listener.h"
#include "service/units.h"

namespace cuzk::service {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

std::string error_of(std::string_view toml) {
  auto config = parse_config(toml, "f.toml");
  if (config) return "no error";
  EXPECT_EQ(config.error().code, Code::kUsage);
  return config.error().message;
}

TEST(Config, ReadsEverySetting) {
  auto config = parse_config(R"(
    [daemon]
    listen = ["unix:///run/a.sock", "localhost:9820"]
    drain_timeout = "90s"
    [srs]
    param_cache = "/params"
    circuit_cache = "/circuits"
    [srs.files]
    "porep-2KiB" = "/dev.params"
    [synthesis]
    threads = 3
    partition_workers = 2
    [memory]
    total_budget = "256GiB"
    safety_margin = "5GiB"
    [gpus]
    devices = [1, "GPU-12ab"]
    gpu_workers_per_device = 3
    memory_limit = "16GiB"
    [scheduler]
    max_queue = 7
    result_ttl = 60
    result_bytes = "1MiB"
    [journal]
    enabled = false
    path = "/journal.db"
    max_bytes = "2GiB"
    [logging]
    level = "warn"
    format = "json"
  )",
                             "f.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_THAT(config->listen, ElementsAre("unix:///run/a.sock", "localhost:9820"));
  EXPECT_EQ(config->drain_timeout, 90s);
  EXPECT_EQ(config->param_cache, "/params");
  EXPECT_EQ(config->circuit_cache, "/circuits");
  EXPECT_EQ(config->param_files.at("porep-2KiB"), "/dev.params");
  EXPECT_EQ(config->threads, 3u);
  EXPECT_EQ(config->partition_workers, 2u);
  EXPECT_EQ(config->total_budget, uint64_t{256} << 30);
  EXPECT_EQ(config->safety_margin, uint64_t{5} << 30);
  EXPECT_THAT(config->gpu_devices, ElementsAre("1", "GPU-12ab"));
  EXPECT_EQ(config->gpu_workers_per_device, 3u);
  EXPECT_EQ(config->gpu_memory_limit, uint64_t{16} << 30);
  EXPECT_EQ(config->max_waiting, 7u);
  EXPECT_EQ(config->result_ttl, 60s);
  EXPECT_EQ(config->result_bytes, uint64_t{1} << 20);
  EXPECT_FALSE(config->journal);
  EXPECT_EQ(config->journal_path, "/journal.db");
  EXPECT_EQ(config->journal_bytes, uint64_t{2} << 30);
  EXPECT_EQ(config->log_level, log::Level::kWarn);
  EXPECT_TRUE(config->log_json);
  EXPECT_TRUE(config->warnings.empty());
}

TEST(Config, EmptyIsAllDefaults) {
  auto config = parse_config("", "f.toml");
  ASSERT_TRUE(config);
  EXPECT_THAT(config->listen, ElementsAre("unix:///run/curio/cuzk.sock"));
  EXPECT_EQ(config->param_cache, "/data/zk/params");
  EXPECT_EQ(config->result_ttl, 1h);
  EXPECT_TRUE(config->journal);
}

TEST(Config, FaultsHaveFileAndLine) {
  EXPECT_EQ(error_of("[daemon]\nlistne = 'x:1'"), "f.toml:2: unknown key 'daemon.listne'");
  EXPECT_EQ(error_of("\n[deamon]\n"), "f.toml:2: unknown table 'deamon'");
  EXPECT_EQ(error_of("listen = 'x:1'"), "f.toml:1: unknown key 'listen'");
  EXPECT_EQ(error_of("daemon = 3"), "f.toml:1: unknown key 'daemon'");
  EXPECT_THAT(error_of("[daemon]\n\nlisten = 3"), HasSubstr("f.toml:3: daemon.listen: "));
  EXPECT_THAT(error_of("[daemon]\nlisten = []"), HasSubstr("f.toml:2: "));
  EXPECT_THAT(error_of("[daemon]\nlisten = 'nowhere'"), HasSubstr("'nowhere' is no address"));
  EXPECT_THAT(error_of("[daemon]\nlisten = ['a:1', 2]"), HasSubstr("a string is wanted"));
  EXPECT_THAT(error_of("[synthesis]\nthreads = -1"), HasSubstr("f.toml:2: synthesis.threads: a number from 0"));
  EXPECT_THAT(error_of("[synthesis]\nthreads = '2'"), HasSubstr("a number"));
  EXPECT_THAT(error_of("[synthesis]\nthreads = 1.5"), HasSubstr("a number"));
  EXPECT_THAT(error_of("[scheduler]\nresult_ttl = '5 years'"), HasSubstr("is not a duration"));
  EXPECT_THAT(error_of("[scheduler]\nmax_queue = 0"), HasSubstr("from 1"));
  EXPECT_THAT(error_of("[journal]\nenabled = 'yes'"), HasSubstr("f.toml:2: journal.enabled: true or false"));
  EXPECT_THAT(error_of("[journal]\nmax_bytes = 'auto'"), HasSubstr("'auto' is not a size"));
  EXPECT_THAT(error_of("[logging]\nlevel = 'loud'"), HasSubstr("'loud' is not one of debug, error, info, trace, warn"));
  EXPECT_THAT(error_of("[srs]\nfiles = 'x'"), HasSubstr("table"));
  EXPECT_THAT(error_of("[memory]\ntotal_budget = '256G'"),
              HasSubstr("f.toml:2: memory.total_budget: '256G' is not a size"));
  EXPECT_THAT(error_of("[gpus]\ndevices = '0'"), HasSubstr("f.toml:2: gpus.devices: a list is wanted"));
  EXPECT_THAT(error_of("[gpus]\ndevices = [1.5]"), HasSubstr("a string is wanted"));
  EXPECT_THAT(error_of("[daemon\n"), HasSubstr("f.toml:1: "));
  EXPECT_THAT(error_of("[daemon]\nlisten = 'a:1'\nlisten = 'a:2'"), HasSubstr("f.toml:3: "));
}

TEST(Config, OldKeysWarn) {
  auto config = parse_config("[memory]\npinned_budget = '256GiB'\n[pipeline]\nenabled = true", "f.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_THAT(config->warnings, ElementsAre("f.toml:2: 'memory.pinned_budget' has no effect in this version",
                                            "f.toml:4: 'pipeline.enabled' has no effect in this version"));
}

TEST(Config, MissingFile) {
  auto config = load_config("/nonexistent/cuzk.toml");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, Code::kNotFound);
}

TEST(Duration, Units) {
  EXPECT_EQ(parse_duration("500ms"), 500ms);
  EXPECT_EQ(parse_duration("30s"), 30s);
  EXPECT_EQ(parse_duration("30"), 30s);
  EXPECT_EQ(parse_duration("5m"), 5min);
  EXPECT_EQ(parse_duration("1h"), 1h);
  for (std::string_view bad : {"", "h", "1d", "-1s", "1.5h", "1 h", "99999999999999999999s", "9999999999999h"}) {
    EXPECT_FALSE(parse_duration(bad)) << bad;
  }
}

TEST(ListenAddress, Forms) {
  EXPECT_EQ(parse_listen("unix:///run/x.sock")->target(), "unix:/run/x.sock");
  EXPECT_EQ(parse_listen("0.0.0.0:9820")->target(), "0.0.0.0:9820");
  EXPECT_EQ(parse_listen("[::1]:0")->target(), "[::1]:0");
  EXPECT_EQ(parse_listen("host.example:65535")->port, 65535);
  std::string long_path = "unix:///" + std::string(200, 'x');
  for (const std::string& bad : {std::string(""), std::string("unix://relative"), std::string("host"),
                                 std::string("host:"), std::string("host:x"), std::string("host:65536"),
                                 std::string("::1:80"), std::string(":80"), std::string("http://host:80"), long_path}) {
    auto parsed = parse_listen(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code, Code::kUsage);
  }
}

}  // namespace
}  // namespace cuzk::service
