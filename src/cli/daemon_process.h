#pragma once
// A daemon that a command starts for itself and ends.

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "cli/cli.h"

namespace cuzk::cli {

class DaemonProcess {
 public:
  // Starts the cuzk-daemon beside this program, in a temporary folder for its socket and journal; the rest is as
  // `config` and then `changes` say. Returns when it serves.
  static Result<std::unique_ptr<DaemonProcess>> start(const Remote& remote, const std::string& config,
                                                      const Settings& changes);
  // Kills it where it still runs.
  ~DaemonProcess();
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  std::string address() const { return "unix://" + (folder_ / "cuzk.sock").string(); }
  // Whether it ends within so much time.
  bool ends(std::chrono::milliseconds patience);
  // Of a daemon that has ended: of what, such as "was killed by signal 9 (SIGKILL), cgroup oom_kill=1".
  std::string cause_of_death() const;
  // Asks it to end; an error where it does so otherwise than it should.
  Status stop();

 private:
  DaemonProcess() = default;
  Status make_folder();
  Status launch();
  Status await_ready();

  std::filesystem::path folder_;
  int ready_ = -1;  // socket on which it says so
  pid_t process_ = -1;
  int handle_ = -1;  // readable when the process has ended
  std::optional<int> status_;
  uint64_t oom_kills_before_ = 0;
};

}  // namespace cuzk::cli
