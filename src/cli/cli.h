#pragma once
// The command lines of the programs. Arguments in, exit code out: 0 done, 1 a negative answer, 2 bad usage, 3 a bad
// input, 4 anything else.

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "filecoin/proof_request.h"

namespace cuzk::cli {

// Names and values.
using Settings = std::vector<std::pair<std::string, std::string>>;

// What the tools ask of a running daemon, and how they prepare one. The program's main supplies it, since this folder
// knows no network.
struct Remote {
  // The daemon's status, with the field names of the contract.
  std::function<Result<nlohmann::json>(const std::string& address, unsigned wait_seconds)> status;
  // job_id, status, proof (hex), error_message and times in ms.
  std::function<Result<nlohmann::json>(const std::string& address, const std::string& request_id,
                                       const filecoin::ProofRequest& proof)>
      prove;
  // Its metrics in the format of Prometheus.
  std::function<Result<std::string>(const std::string& address)> metrics;
  // A daemon's configuration file with other values for some settings, as text.
  std::function<Result<std::string>(const std::string& file, const Settings& changes)> configure;
};

// `cuzk`: runs one subcommand.
int run_tool(int argc, const char* const* argv, const Remote& remote);

struct DaemonArguments {
  std::optional<std::string> config;
  std::vector<std::string> listen;
  bool check_config = false, print_config = false;
  std::optional<log::Level> log_level;
};
// `cuzk-daemon`: reads the arguments and calls `serve`, which gives the exit code. `settings` is a text for --help.
int run_daemon(int argc, const char* const* argv, const std::string& settings,
               const std::function<Result<int>(const DaemonArguments&)>& serve);

}  // namespace cuzk::cli
