#pragma once
// The daemon's configuration, a TOML file. Each setting is declared once, in config.cpp: name, meaning, reader;
// defaults stand on the members here. Unknown keys and values of a wrong kind are errors with file and line.

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "service/listener.h"

namespace cuzk::service {

inline constexpr std::string_view kDefaultJournal = "/data/zk/journal.db";

struct Config {
  std::vector<std::string> listen = {"unix:///run/curio/cuzk.sock"};
  std::string status_listen;  // empty: no pages over HTTP
  SocketAccess socket;
  std::filesystem::path tls_cert, tls_key, tls_client_ca;  // PEM; empty: none
  std::filesystem::path token_file;                        // empty: no token is asked for
  std::chrono::milliseconds drain_timeout = std::chrono::minutes(5);
  std::filesystem::path param_cache = "/data/zk/params";
  std::filesystem::path circuit_cache;                       // empty: param_cache
  std::map<std::string, std::filesystem::path> param_files;  // circuit id -> file, before param_cache
  std::vector<std::string> preload;                          // circuits, by any name of theirs
  size_t threads = 0;                                        // 0: one a core
  size_t partition_workers = 0;                              // 0: one a thread, as far as memory goes
  std::optional<uint64_t> total_budget;                      // of host memory; absent: what the machine leaves
  std::optional<uint64_t> safety_margin;                     // of that, for the rest of the process
  std::vector<std::string> gpu_devices;                      // empty: all; {"none"}: the processor
  size_t gpu_workers_per_device = 2;
  std::optional<uint64_t> gpu_memory_limit;  // of each device; absent: what is free at the start
  bool b_g2_on_host = false;
  size_t max_waiting = 256;
  std::chrono::milliseconds result_ttl = std::chrono::hours(1);
  uint64_t result_bytes = 64 << 20;
  std::chrono::milliseconds stage_limit = std::chrono::hours(1);  // 0: none
  std::chrono::milliseconds quarantine = std::chrono::minutes(1);
  size_t max_quarantines = 3;  // 0: any number
  bool journal = true;
  std::filesystem::path journal_path;  // empty: kDefaultJournal, where its folder exists
  uint64_t journal_bytes = uint64_t{16} << 30;
  log::Level log_level = log::Level::kInfo;
  bool log_json = false;

  std::vector<std::string> warnings;  // keys that are read but have no effect
};

// kNotFound, or kUsage "FILE:LINE: what is wrong".
Result<Config> load_config(const std::filesystem::path& path);
Result<Config> parse_config(std::string_view toml, std::string_view file_name);

// The configuration of a file with other values for some settings, as print_config() writes it. A value is TOML, or
// the text of a string without its quotes. Errors are those of load_config().
Result<std::string> changed_config(const std::filesystem::path& path,
                                   const std::vector<std::pair<std::string, std::string>>& settings);

// The whole configuration as a file, each setting under its meaning.
std::string print_config(const Config& config);

struct ConfigChange {
  std::string_view key;
  std::string before, after;  // as TOML
  bool needs_restart;
};
// Settings that differ, and whether a running daemon can take them over.
std::vector<ConfigChange> compare(const Config& before, const Config& after);

struct SettingInfo {
  std::string_view key, meaning;
  std::string fallback;  // its default, as TOML
  bool needs_restart;    // SIGHUP does not change it
};
// All that have an effect.
std::vector<SettingInfo> list_settings();
// Their names and meanings, one a line, for --help.
std::string describe_settings();

}  // namespace cuzk::service
