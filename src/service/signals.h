#pragma once
// The signals of the daemon, taken one at a time on the thread that runs it.

#include <chrono>
#include <optional>

namespace cuzk::service {

// Holds SIGTERM, SIGINT and SIGHUP back from all threads that are started later, and ignores SIGPIPE. One a process.
class Signals {
 public:
  Signals();

  // The next one; nullopt after `timeout`, where there is one.
  std::optional<int> next(std::optional<std::chrono::milliseconds> timeout);
  // From now on SIGTERM and SIGINT end the process at once, and SIGHUP is ignored.
  void let_through();
};

}  // namespace cuzk::service
