#include "service/listener.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <set>

namespace cuzk::service {
namespace {

sockaddr_un address_of(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), std::min(path.native().size(), sizeof(address.sun_path) - 1));
  return address;
}

// By name, else by number.
template <class Find, class Id>
Result<Id> find_id(const std::string& name, Find&& find, Id nobody, std::string_view what) {
  if (name.empty()) return nobody;
  if (auto known = find(name)) return *known;
  Id number = 0;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error == std::errc{} && end == name.data() + name.size()) return number;
  return fail(Code::kUsage, "there is no {} '{}'", what, name);
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

Result<ListenAddress> parse_http_listen(std::string_view text) {
  const bool bare = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  CUZK_TRY_ASSIGN(ListenAddress address, parse_listen(bare ? fmt::format("127.0.0.1:{}", text) : std::string(text)));
  if (!address.socket.empty()) return fail(Code::kUsage, "'{}': host:port or a port is wanted", text);
  return address;
}

bool ListenAddress::is_loopback() const {
  return !socket.empty() || host == "localhost" || host.starts_with("127.") || host == "[::1]";
}

Result<Owner> find_owner(std::string_view text) {
  const size_t colon = std::min(text.find(':'), text.size());
  const auto user = [](const std::string& name) -> std::optional<uid_t> {
    const passwd* entry = getpwnam(name.c_str());
    return entry ? std::optional(entry->pw_uid) : std::nullopt;
  };
  const auto group = [](const std::string& name) -> std::optional<gid_t> {
    const ::group* entry = getgrnam(name.c_str());
    return entry ? std::optional(entry->gr_gid) : std::nullopt;
  };
  CUZK_TRY_ASSIGN(const uid_t uid, find_id(std::string(text.substr(0, colon)), user, uid_t(-1), "user"));
  const std::string_view rest = text.substr(std::min(colon + 1, text.size()));
  CUZK_TRY_ASSIGN(const gid_t gid, find_id(std::string(rest), group, gid_t(-1), "group"));
  return Owner{uid, gid};
}

Result<SocketFolders> SocketFolders::lock(const std::vector<ListenAddress>& addresses) {
  std::set<std::filesystem::path> folders;  // in one order for all, or two daemons could wait for each other
  std::error_code error;
  for (const ListenAddress& address : addresses) {
    if (address.socket.empty()) continue;
    const std::filesystem::path folder = address.socket.parent_path();
    std::filesystem::create_directories(folder, error);
    if (!error) folders.insert(std::filesystem::canonical(folder, error));
    if (error)
      return fail(Code::kIo, "cannot make the folder of socket '{}': {}", address.socket.string(), error.message());
  }
  SocketFolders self;
  for (const std::filesystem::path& folder : folders) {
    const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) self.locked_.push_back(fd);
    if (fd < 0 || flock(fd, LOCK_EX) != 0)
      return fail(Code::kIo, "cannot lock folder '{}': {}", folder.string(), std::strerror(errno));
  }
  return self;
}

SocketFolders::~SocketFolders() {
  for (const int fd : locked_) close(fd);
}

Status prepare_socket(const std::filesystem::path& path) {
  std::error_code error;
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
