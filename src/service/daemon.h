#pragma once
// The daemon, from its configuration to its exit code.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace cuzk::service {

inline constexpr std::string_view kDefaultConfig = "/data/zk/cuzk.toml";

struct DaemonOptions {
  std::optional<std::filesystem::path> config;  // absent: kDefaultConfig where it exists, else defaults
  std::vector<std::string> listen;              // in place of the configured addresses
  bool check_config = false;                    // read the configuration and stop
};

// Serves until SIGTERM or SIGINT; returns the exit code. A second signal ends the process at once.
Result<int> run_daemon(const DaemonOptions& options);

}  // namespace cuzk::service
