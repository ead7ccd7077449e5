#include "mem/machine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/testing.h"
#include "mem/buffer.h"

namespace cuzk::mem {
namespace {

namespace fs = std::filesystem;
constexpr uint64_t kMiB = uint64_t{1} << 20;

// A made-up /proc and /sys.
class MachineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    write("proc/meminfo", "MemTotal:        8192 kB\nMemFree:  1 kB\nMemAvailable:    4096 kB\n");
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void expect(uint64_t total, const std::string& total_source, uint64_t available,
              const std::string& available_source) {
    const auto limits = memory_limits(root_);
    ASSERT_TRUE(limits);
    EXPECT_EQ(limits->total.bytes, total);
    EXPECT_EQ(limits->total.source, total_source);
    EXPECT_EQ(limits->available.bytes, available);
    EXPECT_EQ(limits->available.source, available_source);
  }
  fs::path root_ = fs::path(::testing::TempDir()) / fmt::format("cuzk_machine_{}", testing::rng()());
};

TEST_F(MachineTest, WithoutCgroup) { expect(8 * kMiB, "MemTotal", 4 * kMiB, "MemAvailable"); }

TEST_F(MachineTest, OldKernelWithoutMemAvailable) {
  write("proc/meminfo", "MemTotal: 8192 kB\n");
  expect(8 * kMiB, "MemTotal", 8 * kMiB, "MemTotal");
}

TEST_F(MachineTest, Case10_CgroupV2WithLimitOnAnAncestor) {
  write("proc/self/cgroup", "0::/pods/pod7\n");
  write("sys/fs/cgroup/pods/pod7/memory.max", "max\n");
  write("sys/fs/cgroup/pods/pod7/memory.high", "max\n");
  write("sys/fs/cgroup/pods/memory.max", "3145728\n");
  write("sys/fs/cgroup/pods/memory.current", "2097152\n");
  write("sys/fs/cgroup/pods/memory.stat", "anon 5\ninactive_file 1048576\nactive_file 7\n");
  expect(3 * kMiB, "cgroup v2 memory.max of /pods", 2 * kMiB, "cgroup v2 memory.max of /pods");
}

TEST_F(MachineTest, CgroupV2TotalAndAvailableFromDifferentLevels) {
  write("proc/self/cgroup", "0::/a/b\n");
  write("sys/fs/cgroup/a/b/memory.max", "6291456\n");
  write("sys/fs/cgroup/a/b/memory.current", "6291457\n");  // above its limit for a moment
  write("sys/fs/cgroup/a/memory.max", "max\n");
  write("sys/fs/cgroup/a/memory.high", "5242880\n");
  write("sys/fs/cgroup/a/memory.current", "0\n");
  expect(5 * kMiB, "cgroup v2 memory.high of /a", 0, "cgroup v2 memory.max of /a/b");
}

TEST_F(MachineTest, ContainerThatSeesOnlyItsOwnLevel) {
  write("proc/self/cgroup", "0::/system.slice/docker-0123.scope\n");
  write("sys/fs/cgroup/memory.max", "2097152\n");
  write("sys/fs/cgroup/memory.current", "0\n");
  expect(2 * kMiB, "cgroup v2 memory.max of /", 2 * kMiB, "cgroup v2 memory.max of /");
}

TEST_F(MachineTest, Case10_CgroupV1) {
  write("proc/self/cgroup", "12:cpu,cpuacct:/x\n4:memory:/jobs\n1:name=systemd:/x\n0::/x\n");
  write("sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "1048576\n");
  write("sys/fs/cgroup/memory/jobs/memory.usage_in_bytes", "1048000\n");
  write("sys/fs/cgroup/memory/jobs/memory.stat", "inactive_file 1\ntotal_inactive_file 1000\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  expect(kMiB, "cgroup v1 memory.limit_in_bytes of /jobs", 1576, "cgroup v1 memory.limit_in_bytes of /jobs");
}

// Two nodes of 6 and 2 MiB in a machine of 8 MiB.
TEST_F(MachineTest, Case11_MemoryOfTheNodesThatMayBeUsed) {
  write("sys/devices/system/node/has_memory", "0-1\n");
  write("sys/devices/system/node/node0/meminfo",
        "Node 0 MemTotal:        6144 kB\nNode 0 MemFree:         2048 kB\nNode 0 MemUsed:  1 kB\n");
  write("sys/devices/system/node/node1/meminfo",
        "Node 1 MemTotal:        2048 kB\nNode 1 MemFree:          512 kB\nNode 1 Inactive(file):  512 kB\n");
  const auto bound_by = [&](const std::string& cpuset, const std::string& policy) {
    write("proc/self/status", "VmRSS: 1 kB\nMems_allowed:\t3\nMems_allowed_list:\t" + cpuset + "\n");
    write("proc/self/numa_maps", "5638ab664000 " + policy + " file=/bin/x mapped=2 N0=2\n5638ab666000 bind:9\n");
  };
  for (const auto& [cpuset, policy] : {std::pair("0", "default"), {"0-1", "bind:0"}, {"0", "prefer:1"}}) {
    bound_by(cpuset, policy);
    expect(6 * kMiB, "NUMA nodes 0", 2 * kMiB, "NUMA nodes 0");
  }
  for (const auto& [cpuset, policy] : {std::pair("1,5-7", "default"), {"0-1", "bind=static:1"}}) {
    bound_by(cpuset, policy);
    expect(2 * kMiB, "NUMA nodes 1", kMiB, "NUMA nodes 1");
  }
  // What binds nothing: both nodes, a preference, or lists that no node fits.
  for (const auto& [cpuset, policy] :
       {std::pair("0-1", "default"), {"0,1", "interleave:0"}, {"0-1", "bind:0-1"}, {"7", "bind:x"}}) {
    bound_by(cpuset, policy);
    expect(8 * kMiB, "MemTotal", 4 * kMiB, "MemAvailable");
  }
  // A cgroup binds beside it.
  bound_by("0", "default");
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "3145728\n");
  expect(3 * kMiB, "cgroup v2 memory.max of /", 2 * kMiB, "NUMA nodes 0");
}

TEST_F(MachineTest, NonsenseIsNoLimit) {
  write("proc/self/cgroup", "0::/\nnonsense\n0:\n");
  write("sys/fs/cgroup/memory.max", "");
  write("sys/fs/cgroup/memory.high", "-1\n");
  expect(8 * kMiB, "MemTotal", 4 * kMiB, "MemAvailable");
}

TEST_F(MachineTest, UnreadableMeminfoIsAnError) {
  fs::remove(root_ / "proc/meminfo");
  EXPECT_EQ(memory_limits(root_).error().code, Code::kIo);
  EXPECT_EQ(process_memory(root_).error().code, Code::kIo);
}

TEST_F(MachineTest, KillsForWantOfMemory) {
  EXPECT_EQ(oom_kills(root_), 0u);
  write("proc/self/cgroup", "0::/pods/pod7\n");
  write("sys/fs/cgroup/memory.events", "oom 9\noom_kill 9\n");
  EXPECT_EQ(oom_kills(root_), 9u) << "the nearest group that can be seen";
  write("sys/fs/cgroup/pods/pod7/memory.events", "low 0\noom 3\noom_kill 2\noom_group_kill 0\n");
  EXPECT_EQ(oom_kills(root_), 2u);
  write("proc/self/cgroup", "4:cpu:/x\n9:memory:/x\n");
  write("sys/fs/cgroup/memory/x/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
  EXPECT_EQ(oom_kills(root_), 5u);
}

TEST(ThisMachine, LimitsArePlausible) {
  const auto limits = memory_limits();
  ASSERT_TRUE(limits);
  const uint64_t installed =
      static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  EXPECT_LE(limits->total.bytes, installed);
  EXPECT_LE(limits->available.bytes, limits->total.bytes);
  EXPECT_GT(limits->available.bytes, 0u);
}

TEST(ThisMachine, ResidentMemoryFollowsWhatIsTouched) {
  constexpr uint64_t kSize = 64 * kMiB;
  Budget budget({{"host", kSize}});
  const auto before = process_memory();
  ASSERT_TRUE(before);
  {
    auto buffer = Buffer::make(std::move(*budget.reserve({0, kSize})));
    for (std::byte& byte : buffer->bytes()) byte = std::byte{1};
    EXPECT_GE(process_memory()->resident_bytes, before->resident_bytes + kSize * 9 / 10);
  }
  const auto after = process_memory();
  EXPECT_LT(after->resident_bytes, before->resident_bytes + kSize / 10);
  EXPECT_GE(after->peak_resident_bytes, before->resident_bytes + kSize * 9 / 10);
}

}  // namespace
}  // namespace cuzk::mem
