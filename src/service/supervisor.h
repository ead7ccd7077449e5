#pragma once
// Tells the service manager how the daemon is: the datagram protocol of systemd (sd_notify(3)), which others speak too.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace cuzk::service {

class Supervisor {
 public:
  // Whoever started this process and wants to know: NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
  static Supervisor from_environment();

  // Lines of NAME=VALUE, such as "READY=1". Nothing where nobody wants to know; a message that is lost is not missed.
  void notify(std::string_view state) const;
  // How often notify("WATCHDOG=1") is wanted at least: half of what the manager waits for.
  std::optional<std::chrono::milliseconds> watchdog_interval() const { return interval_; }

 private:
  std::string socket_;  // a path, or @ and an abstract name; empty: nobody
  std::optional<std::chrono::milliseconds> interval_;
};

}  // namespace cuzk::service
