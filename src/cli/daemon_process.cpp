#include "cli/daemon_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/files.h"
#include "mem/machine.h"

extern "C" {  // glibc 2.36 forgets it
#include <sys/pidfd.h>
}

namespace cuzk::cli {
namespace {

constexpr std::chrono::seconds kStart{60}, kStop{60};

tl::unexpected<Error> refused(std::string_view what) { return fail(Code::kIo, "{}: {}", what, std::strerror(errno)); }

// This process's, without what its own manager told it.
std::vector<std::string> environment_with(const std::filesystem::path& notify_socket) {
  std::vector<std::string> variables = {"NOTIFY_SOCKET=" + notify_socket.string()};
  for (char** each = environ; *each; each++) {
    const std::string_view variable = *each;
    if (!variable.starts_with("NOTIFY_SOCKET=") && !variable.starts_with("WATCHDOG_")) variables.emplace_back(variable);
  }
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

std::string last_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string last;
  for (std::string line; std::getline(file, line);) last = line;
  return last;
}

}  // namespace

Result<std::unique_ptr<DaemonProcess>> DaemonProcess::start(const Remote& remote, const std::string& config,
                                                            const Settings& changes) {
  std::unique_ptr<DaemonProcess> self(new DaemonProcess);
  CUZK_TRY(self->make_folder());
  Settings settings = {{"daemon.listen", self->address()},
                       {"daemon.status_listen", ""},
                       {"journal.path", (self->folder_ / "journal.db").string()}};
  settings.insert(settings.end(), changes.begin(), changes.end());
  CUZK_TRY_ASSIGN(const std::string text, remote.configure(config, settings));
  CUZK_TRY(write_file(self->folder_ / "cuzk.toml", as_bytes(text)));
  CUZK_TRY(self->launch());
  CUZK_TRY(self->await_ready());
  return self;
}

DaemonProcess::~DaemonProcess() {
  if (process_ > 0 && !status_) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  if (handle_ >= 0) close(handle_);
  if (ready_ >= 0) close(ready_);
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

Status DaemonProcess::make_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "cuzk-bench-XXXXXX").string();
  if (!mkdtemp(name.data())) return refused(name);
  folder_ = name;
  return {};
}

Status DaemonProcess::launch() {
  const std::filesystem::path socket_path = folder_ / "ready";
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (socket_path.string().size() >= sizeof address.sun_path)
    return fail(Code::kIo, "'{}' is too long for a socket", socket_path.string());
  std::strcpy(address.sun_path, socket_path.c_str());
  ready_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (ready_ < 0 || bind(ready_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return refused(socket_path.string());

  const std::string program = (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "cuzk-daemon").string();
  std::vector<std::string> arguments = {program, "--config", (folder_ / "cuzk.toml").string()};
  std::vector<std::string> environment = environment_with(socket_path);
  const std::vector<char*> argument_list = pointers(arguments), environment_list = pointers(environment);
  const int log = open((folder_ / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (log < 0) return refused((folder_ / "log").string());
  oom_kills_before_ = mem::oom_kills();
  process_ = fork();
  if (process_ == 0) {  // other threads are gone: nothing but system calls
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execve(program.c_str(), argument_list.data(), environment_list.data());
    _exit(127);
  }
  close(log);
  if (process_ > 0) handle_ = pidfd_open(process_, 0);
  if (handle_ < 0) return refused(program);
  return {};
}

Status DaemonProcess::await_ready() {
  const auto end = std::chrono::steady_clock::now() + kStart;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return fail(Code::kDeadline, "the daemon does not come up");
    pollfd wanted[] = {{ready_, POLLIN, 0}, {handle_, POLLIN, 0}};
    poll(wanted, 2, static_cast<int>(left.count()));
    char text[256];
    const ssize_t length = wanted[0].revents ? recv(ready_, text, sizeof text, 0) : 0;
    if (length > 0 && std::string_view(text, static_cast<size_t>(length)).starts_with("READY=1")) return {};
    if (ends({})) return fail(Code::kUnavailable, "the daemon {}", cause_of_death());
  }
}

bool DaemonProcess::ends(std::chrono::milliseconds patience) {
  pollfd wanted{handle_, POLLIN, 0};
  if (status_ || poll(&wanted, 1, static_cast<int>(patience.count())) <= 0) return status_.has_value();
  int status = 0;
  waitpid(process_, &status, 0);
  status_ = status;
  return true;
}

std::string DaemonProcess::cause_of_death() const {
  std::string cause = WIFSIGNALED(*status_) ? fmt::format("was killed by signal {} (SIG{})", WTERMSIG(*status_),
                                                          sigabbrev_np(WTERMSIG(*status_)))
                                            : fmt::format("ended with exit code {}", WEXITSTATUS(*status_));
  if (const uint64_t kills = mem::oom_kills() - oom_kills_before_) cause += fmt::format(", cgroup oom_kill={}", kills);
  if (const std::string line = last_line(folder_ / "log"); !line.empty()) cause += "; it said last: " + line;
  return cause;
}

Status DaemonProcess::stop() {
  kill(process_, SIGTERM);
  if (!ends(kStop)) return fail(Code::kDeadline, "the daemon does not stop");
  if (*status_ != 0) return fail(Code::kUnavailable, "the daemon {}", cause_of_death());
  return {};
}

}  // namespace cuzk::cli
