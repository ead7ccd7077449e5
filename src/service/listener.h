#pragma once
// Addresses the daemon listens on.

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cuzk::service {

struct ListenAddress {
  std::filesystem::path socket;  // a Unix socket; empty: TCP
  std::string host;
  uint16_t port = 0;  // 0: any free one

  // As gRPC wants it.
  std::string target() const;
};

// "unix:///path" (absolute), or "host:port" with a name, an IPv4 address, or an IPv6 address in brackets. kUsage
// otherwise.
Result<ListenAddress> parse_listen(std::string_view text);

// Makes a socket path ready to bind: its folder exists, and a socket left by a dead process is gone. kIo where
// something else is there or somebody answers: a live socket is never taken over.
Status prepare_socket(const std::filesystem::path& path);

}  // namespace cuzk::service
