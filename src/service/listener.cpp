#include "service/listener.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

namespace cuzk::service {
namespace {

sockaddr_un address_of(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), std::min(path.native().size(), sizeof(address.sun_path) - 1));
  return address;
}

bool somebody_answers(const std::filesystem::path& path) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return true;
  sockaddr_un address = address_of(path);
  bool connected = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  bool refused = !connected && errno == ECONNREFUSED;
  close(fd);
  return !refused;
}

}  // namespace

std::string ListenAddress::target() const {
  return socket.empty() ? fmt::format("{}:{}", host, port) : "unix:" + socket.string();
}

Result<ListenAddress> parse_listen(std::string_view text) {
  constexpr std::string_view kUnix = "unix://";
  ListenAddress address;
  if (text.starts_with(kUnix)) {
    address.socket = text.substr(kUnix.size());
    if (!address.socket.is_absolute())
      return fail(Code::kUsage, "'{}': the path of a Unix socket must be absolute (unix:///path)", text);
    if (address.socket.native().size() >= sizeof(sockaddr_un::sun_path)) {
      return fail(Code::kUsage, "'{}': the path of a Unix socket has at most {} bytes", text,
                  sizeof(sockaddr_un::sun_path) - 1);
    }
    return address;
  }
  size_t colon = text.rfind(':');
  std::string_view host = text.substr(0, colon);
  std::string_view port = colon == text.npos ? "" : text.substr(colon + 1);
  auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  bool bare_ipv6 = host.find(':') != host.npos && !(host.starts_with('[') && host.ends_with(']'));
  if (host.empty() || port.empty() || error != std::errc{} || end != port.data() + port.size() || bare_ipv6 ||
      host.find('/') != host.npos) {
    return fail(Code::kUsage, "'{}' is no address: unix:///path or host:port is wanted", text);
  }
  address.host = host;
  return address;
}

Status prepare_socket(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error) return fail(Code::kIo, "cannot make the folder of socket '{}': {}", path.string(), error.message());
  std::filesystem::file_status status = std::filesystem::symlink_status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return {};
  if (status.type() != std::filesystem::file_type::socket) {
    return fail(Code::kIo, "'{}' exists and is no socket; remove it or listen elsewhere", path.string());
  }
  if (somebody_answers(path))
    return fail(Code::kIo, "another process serves '{}'; stop it first or listen elsewhere", path.string());
  std::filesystem::remove(path, error);
  if (error) return fail(Code::kIo, "cannot remove the stale socket '{}': {}", path.string(), error.message());
  return {};
}

}  // namespace cuzk::service
