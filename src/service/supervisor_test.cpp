#include "service/supervisor.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>

#include "engine/testing.h"

namespace cuzk::service {
namespace {

using namespace std::chrono_literals;

class SupervisorTest : public ::testing::Test {
 protected:
  ~SupervisorTest() override {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) unsetenv(name);
  }
  // A manager's socket under this name, which may be abstract.
  static int listen_at(const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, sizeof(address.sun_path) - 1);
    if (name[0] == '@') address.sun_path[0] = 0;
    const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())),
              0);
    return fd;
  }
  static std::string receive(int fd) {
    char buffer[256];
    const ssize_t got = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);  // a local datagram is there at once
    return got < 0 ? "nothing" : std::string(buffer, static_cast<size_t>(got));
  }
};

TEST_F(SupervisorTest, NobodyWantsToKnow) {
  unsetenv("NOTIFY_SOCKET");
  const Supervisor supervisor = Supervisor::from_environment();
  supervisor.notify("READY=1");
  EXPECT_FALSE(supervisor.watchdog_interval());
}

TEST_F(SupervisorTest, TellsSocketsByPathAndAbstract) {
  engine::testing::TemporaryFolder folder;
  for (const std::string& name : {(folder.path() / "notify").string(), "@" + folder.path().string()}) {
    const int fd = listen_at(name);
    setenv("NOTIFY_SOCKET", name.c_str(), 1);
    const Supervisor supervisor = Supervisor::from_environment();
    supervisor.notify("READY=1\nSTATUS=x");
    EXPECT_EQ(receive(fd), "READY=1\nSTATUS=x");
    close(fd);
    supervisor.notify("STOPPING=1");  // nobody is there any more
  }
}

TEST_F(SupervisorTest, WatchdogIsForThisProcess) {
  setenv("NOTIFY_SOCKET", "/nowhere", 1);
  const auto interval = [](const char* usec, const std::string& pid) {
    setenv("WATCHDOG_USEC", usec, 1);
    pid.empty() ? unsetenv("WATCHDOG_PID") : setenv("WATCHDOG_PID", pid.c_str(), 1);
    return Supervisor::from_environment().watchdog_interval();
  };
  EXPECT_EQ(interval("30000000", ""), 15s);
  EXPECT_EQ(interval("30000000", std::to_string(getpid())), 15s);
  EXPECT_FALSE(interval("30000000", std::to_string(getpid() + 1)));
  EXPECT_EQ(interval("1", ""), 1ms);
  for (const char* bad : {"", "0", "-1", "x", "30s"}) EXPECT_FALSE(interval(bad, "")) << bad;
}

}  // namespace
}  // namespace cuzk::service
