#pragma once
// Addresses the daemon listens on.

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cuzk::service {

struct ListenAddress {
  std::filesystem::path socket;  // a Unix socket; empty: TCP
  std::string host;
  uint16_t port = 0;  // 0: any free one

  // No other machine can reach it.
  bool is_loopback() const;
  // As gRPC wants it.
  std::string target() const;
};

// "unix:///path" (absolute), or "host:port" with a name, an IPv4 address, or an IPv6 address in brackets. kUsage
// otherwise.
Result<ListenAddress> parse_listen(std::string_view text);

// The same for pages over HTTP: no Unix socket, and a bare port is one of 127.0.0.1.
Result<ListenAddress> parse_http_listen(std::string_view text);

// Who may connect to a Unix socket: whom its file lets write.
struct SocketAccess {
  unsigned mode = 0600;  // of the file
  std::string owner;     // "user", "user:group", ":group"; empty: as it is made
};

struct Owner {
  uid_t user;  // -1: as it is
  gid_t group;
};
// Names or numbers; kUsage for unknown ones.
Result<Owner> find_owner(std::string_view text);

// Makes the folders of sockets and keeps other daemons that start from looking into them, as long as it lives: they
// could bind between prepare_socket() and bind().
class SocketFolders {
 public:
  // Waits for its turn. kIo.
  static Result<SocketFolders> lock(const std::vector<ListenAddress>& addresses);
  SocketFolders(SocketFolders&& other) noexcept : locked_(std::exchange(other.locked_, {})) {}
  ~SocketFolders();

 private:
  SocketFolders() = default;
  std::vector<int> locked_;
};

// Makes a socket path ready to bind, in a locked folder: a socket left by a dead process is gone. kIo where something
// else is there or somebody answers: a live socket is never taken over.
Status prepare_socket(const std::filesystem::path& path);

}  // namespace cuzk::service
