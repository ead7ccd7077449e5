#pragma once
// The daemon, from its configuration to its exit code.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "service/parts.h"

namespace cuzk::service {

inline constexpr std::string_view kDefaultConfig = "/data/zk/cuzk.toml";

inline constexpr int kExitNoDevice = 5;

struct DaemonOptions {
  std::optional<std::filesystem::path> config;  // absent: kDefaultConfig where it exists, else defaults
  std::vector<std::string> listen;              // in place of the configured addresses
  bool check_config = false;                    // read the configuration and the files that it names, and stop
  bool print_config = false;                    // print all of it, defaults included, and stop
  std::optional<log::Level> log_level;          // in place of the configured one
  WrapBackend wrap_backend = {};                // for tests: makes devices fail
};

// Serves until SIGTERM or SIGINT, or until no device works any more; returns the exit code. A second signal ends the
// process at once. SIGHUP reads the configuration again.
Result<int> run_daemon(const DaemonOptions& options);

}  // namespace cuzk::service
