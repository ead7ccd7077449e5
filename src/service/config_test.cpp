#include "service/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

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
    status_listen = "9821"
    drain_timeout = "90s"
    [srs]
    param_cache = "/params"
    circuit_cache = "/circuits"
    preload = ["winning-32g", "porep-2KiB"]
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
    b_g2 = "cpu"
    [scheduler]
    max_queue = 7
    result_ttl = 60
    result_bytes = "1MiB"
    stage_limit = "10m"
    quarantine = "5s"
    max_quarantines = 0
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
  EXPECT_EQ(config->status_listen, "9821");
  EXPECT_EQ(config->drain_timeout, 90s);
  EXPECT_EQ(config->param_cache, "/params");
  EXPECT_EQ(config->circuit_cache, "/circuits");
  EXPECT_EQ(config->param_files.at("porep-2KiB"), "/dev.params");
  EXPECT_THAT(config->preload, ElementsAre("winning-32g", "porep-2KiB"));
  EXPECT_EQ(config->threads, 3u);
  EXPECT_EQ(config->partition_workers, 2u);
  EXPECT_EQ(config->total_budget, uint64_t{256} << 30);
  EXPECT_EQ(config->safety_margin, uint64_t{5} << 30);
  EXPECT_THAT(config->gpu_devices, ElementsAre("1", "GPU-12ab"));
  EXPECT_EQ(config->gpu_workers_per_device, 3u);
  EXPECT_EQ(config->gpu_memory_limit, uint64_t{16} << 30);
  EXPECT_TRUE(config->b_g2_on_host);
  EXPECT_EQ(config->max_waiting, 7u);
  EXPECT_EQ(config->result_ttl, 60s);
  EXPECT_EQ(config->result_bytes, uint64_t{1} << 20);
  EXPECT_EQ(config->stage_limit, std::chrono::minutes(10));
  EXPECT_EQ(config->quarantine, std::chrono::seconds(5));
  EXPECT_EQ(config->max_quarantines, 0u);
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
  EXPECT_THAT(error_of("[daemon]\nstatus_listen = 'unix:///x'"), HasSubstr("host:port or a port is wanted"));
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
  EXPECT_THAT(error_of("[srs]\npreload = 'porep-32g'"), HasSubstr("f.toml:2: srs.preload: a list is wanted"));
  EXPECT_THAT(error_of("[srs]\npreload = ['porep-3g']"),
              HasSubstr("f.toml:2: srs.preload: unknown circuit ID: porep-3g"));
  EXPECT_THAT(error_of("[memory]\ntotal_budget = '256G'"),
              HasSubstr("f.toml:2: memory.total_budget: '256G' is not a size"));
  EXPECT_THAT(error_of("[gpus]\ndevices = '0'"), HasSubstr("f.toml:2: gpus.devices: a list is wanted"));
  EXPECT_THAT(error_of("[gpus]\ndevices = [1.5]"), HasSubstr("a string is wanted"));
  EXPECT_THAT(error_of("[daemon\n"), HasSubstr("f.toml:1: "));
  EXPECT_THAT(error_of("[daemon]\nlisten = 'a:1'\nlisten = 'a:2'"), HasSubstr("f.toml:3: "));
}

TEST(Config, WhatIsPrintedReadsAsTheSame) {
  auto config = parse_config(R"(
    daemon.listen = ["localhost:1", "unix:///a \"b\""]
    daemon.socket_mode = "0660"
    daemon.tls_cert = "/c"
    daemon.tls_key = "/k"
    daemon.token_file = "/t"
    srs.param_cache = "/with\\backslash\tand tab"
    srs.files = { "porep-2KiB" = "/f", other = "/g" }
    srs.preload = ["wpost-32g"]
    memory.total_budget = "3GiB"
    scheduler.result_ttl = "1500ms"
    gpus.devices = ["none"]
    logging.level = "trace"
  )",
                             "f.toml");
  ASSERT_TRUE(config) << config.error().message;
  const std::string printed = print_config(*config);
  auto again = parse_config(printed, "printed");
  ASSERT_TRUE(again) << again.error().message << printed;
  EXPECT_EQ(print_config(*again), printed);
  EXPECT_EQ(again->param_cache, "/with\\backslash\tand tab");
  EXPECT_THAT(again->listen, ElementsAre("localhost:1", "unix:///a \"b\""));
  EXPECT_EQ(again->param_files, config->param_files);
  EXPECT_EQ(again->preload, config->preload);
  EXPECT_EQ(again->socket.mode, 0660u);
  EXPECT_EQ(again->result_ttl, 1500ms);
  EXPECT_EQ(again->total_budget, uint64_t{3} << 30);
  EXPECT_THAT(printed, HasSubstr("\n# trace, debug, info, warn or error\nlevel = \"trace\"\n"));
  const Config defaults;
  EXPECT_TRUE(parse_config(print_config(defaults), "defaults"));
}

TEST(Config, IsChangedByNamesAndValues) {
  const std::string path = ::testing::TempDir() + "changed.toml";
  std::ofstream(path) << "[memory]\ntotal_budget = \"2GiB\"\n[synthesis]\nthreads = 3\n";
  auto changed = [&](const std::string& key, const std::string& value) -> Result<Config> {
    CUZK_TRY_ASSIGN(const std::string text, changed_config(path, {{"scheduler.max_queue", "7"}, {key, value}}));
    return parse_config(text, "changed");
  };
  auto config = changed("memory.total_budget", "1GiB");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->total_budget, uint64_t{1} << 30);
  EXPECT_EQ(config->threads, 3u);
  EXPECT_EQ(config->max_waiting, 7u);
  EXPECT_EQ(changed("memory.total_budget", "auto")->total_budget, std::nullopt);
  EXPECT_THAT(changed("gpus.devices", "[1, \"none\"]")->gpu_devices, ElementsAre("1", "none"));
  EXPECT_EQ(changed("daemon.status_listen", "")->status_listen, "");
  EXPECT_EQ(changed("synthesis.threads", "many").error().code, Code::kUsage);
  EXPECT_EQ(changed("synthesis.thread", "1").error().message, "synthesis.thread = 1: unknown key 'synthesis.thread'");
  EXPECT_EQ(changed_config(path + "absent", {}).error().code, Code::kNotFound);
}

TEST(Config, SaysWhatAReloadCanChange) {
  auto changes = [](std::string_view before, std::string_view after) {
    std::vector<std::string> list;
    for (const ConfigChange& change : compare(*parse_config(before, "a"), *parse_config(after, "b")))
      list.push_back(fmt::format("{} {} {} {}", change.key, change.before, change.after, change.needs_restart));
    return list;
  };
  EXPECT_THAT(changes("", ""), ElementsAre());
  EXPECT_THAT(changes("scheduler.result_ttl = 3600", "scheduler.result_ttl = '1h'"), ElementsAre());
  EXPECT_THAT(changes("logging.level = 'warn'\nsynthesis.threads = 1", "synthesis.threads = 2"),
              ElementsAre("synthesis.threads 1 2 true", "logging.level \"warn\" \"info\" false"));
}

TEST(Config, SettingsThatNeedEachOther) {
  EXPECT_EQ(error_of("daemon.tls_cert = '/c'"), "f.toml: daemon.tls_cert and daemon.tls_key go together");
  EXPECT_THAT(error_of("daemon.tls_client_ca = '/c'"), HasSubstr("of no use without daemon.tls_cert"));
  EXPECT_THAT(error_of("daemon.token_file = '/t'"), HasSubstr("daemon.token_file needs daemon.tls_cert"));
}

TEST(Config, SocketsHaveModeAndOwner) {
  for (const char* bad : {"", "8", "rw", "01000", "777777", "-1"})
    EXPECT_THAT(error_of(fmt::format("daemon.socket_mode = '{}'", bad)), HasSubstr("is no file mode")) << bad;
  EXPECT_THAT(error_of("daemon.socket_owner = 'no-such-user'"), HasSubstr("there is no user 'no-such-user'"));
  EXPECT_THAT(error_of("daemon.socket_owner = 'root:no-such-group'"), HasSubstr("there is no group 'no-such-group'"));
  EXPECT_EQ(find_owner("root")->user, 0u);
  EXPECT_EQ(find_owner("root")->group, gid_t(-1));
  EXPECT_EQ(find_owner(":0")->user, uid_t(-1));
  EXPECT_EQ(find_owner(":0")->group, 0u);
  EXPECT_EQ(find_owner("17:18")->user, 17u);
  EXPECT_EQ(find_owner("")->user, uid_t(-1));
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

TEST(Duration, ShortestForm) {
  for (const char* text : {"0h", "1ms", "1500ms", "90s", "5m", "2h"})
    EXPECT_EQ(format_duration(*parse_duration(text)), text);
}

TEST(ListenAddress, HttpIsOnThisMachineUnlessToldOtherwise) {
  EXPECT_EQ(parse_http_listen("9821")->target(), "127.0.0.1:9821");
  EXPECT_TRUE(parse_http_listen("9821")->is_loopback());
  EXPECT_TRUE(parse_http_listen("[::1]:80")->is_loopback());
  EXPECT_FALSE(parse_http_listen("0.0.0.0:80")->is_loopback());
  EXPECT_FALSE(parse_http_listen("[::]:80")->is_loopback());
  EXPECT_TRUE(parse_listen("unix:///run/x.sock")->is_loopback());
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
