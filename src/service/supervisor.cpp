#include "service/supervisor.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace cuzk::service {
namespace {

std::optional<int64_t> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (!text) return std::nullopt;
  int64_t number = 0;
  const char* end = text + std::strlen(text);
  auto [read, error] = std::from_chars(text, end, number);
  if (error != std::errc{} || read != end || number <= 0) return std::nullopt;
  return number;
}

}  // namespace

Supervisor Supervisor::from_environment() {
  Supervisor supervisor;
  const char* socket = std::getenv("NOTIFY_SOCKET");
  const bool usable = socket && (socket[0] == '/' || socket[0] == '@') && socket[1] != 0 &&
                      std::strlen(socket) < sizeof(sockaddr_un::sun_path);
  if (!usable) return supervisor;
  supervisor.socket_ = socket;
  const auto patience = number_in("WATCHDOG_USEC");
  if (patience && number_in("WATCHDOG_PID").value_or(getpid()) == getpid())
    supervisor.interval_ = std::chrono::milliseconds(std::max<int64_t>(*patience / 2000, 1));
  return supervisor;
}

void Supervisor::notify(std::string_view state) const {
  if (socket_.empty()) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket_.copy(address.sun_path, sizeof(address.sun_path) - 1);
  if (address.sun_path[0] == '@') address.sun_path[0] = 0;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  sendto(fd, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), size);
  close(fd);
}

}  // namespace cuzk::service
