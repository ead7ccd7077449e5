#pragma once
// How much memory this process may use, and how much it uses.

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace cuzk::mem {

// A number of bytes and what set it, such as "MemAvailable" or "cgroup v2 memory.max of /kubepods/pod7".
struct Bound {
  uint64_t bytes;
  std::string source;
};

struct MemoryLimits {
  // Never more than this: the least of MemTotal, of the NUMA nodes that this process is bound to, and of the limits of
  // the cgroup and its ancestors.
  Bound total;
  Bound
      available;  // now: the least of MemAvailable and what each of those limits leaves; cache of files counts as free
};

// `root` is where /proc and /sys are looked for. kIo where /proc/meminfo cannot be read; a machine without cgroups is
// fine.
Result<MemoryLimits> memory_limits(const std::filesystem::path& root = "/");

struct ProcessMemory {
  uint64_t resident_bytes, peak_resident_bytes;  // VmRSS and VmHWM of /proc/self/status
};
Result<ProcessMemory> process_memory(const std::filesystem::path& root = "/");

// How often the kernel killed a process of this cgroup for want of memory; 0 where there is no cgroup to tell.
uint64_t oom_kills(const std::filesystem::path& root = "/");

}  // namespace cuzk::mem
