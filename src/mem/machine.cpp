#include "mem/machine.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

namespace cuzk::mem {
namespace {

namespace fs = std::filesystem;

// The lines of a file; none where it cannot be read.
std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// The number after `key` on the line that begins with it ("MemTotal:   123 kB", "inactive_file 456").
std::optional<uint64_t> field(const std::vector<std::string>& lines, std::string_view key) {
  for (const std::string& line : lines) {
    std::istringstream words(line);
    std::string name;
    uint64_t value = 0;
    if (words >> name && name == key && words >> value) return value;
  }
  return std::nullopt;
}

// A file that holds one number. None for "max".
std::optional<uint64_t> number_in(const fs::path& path) {
  const auto lines = lines_of(path);
  uint64_t value = 0;
  if (lines.empty()) return std::nullopt;
  const auto [end, error] = std::from_chars(lines[0].data(), lines[0].data() + lines[0].size(), value);
  if (error != std::errc() || end == lines[0].data()) return std::nullopt;
  return value;
}

void lower(Bound& bound, uint64_t bytes, const std::string& source) {
  if (bytes < bound.bytes) bound = {bytes, source};
}

// Whether a list such as "0-2,5" holds the number.
bool lists(const std::string& list, unsigned number) {
  std::istringstream text(list);
  for (std::string range; std::getline(text, range, ',');) {
    unsigned first = 0, last = 0;
    const int read = std::sscanf(range.c_str(), "%u-%u", &first, &last);
    if (number == first ? read >= 1 : read == 2 && first < number && number <= last) return true;
  }
  return false;
}

// The lists of nodes that pages of this process must come from: that of its cpuset, and of its memory policy (numactl
// --membind), which /proc shows beside every mapping that has none of its own.
std::vector<std::string> node_lists(const fs::path& root) {
  std::vector<std::string> lists;
  constexpr std::string_view kKey = "Mems_allowed_list:";
  for (const std::string& line : lines_of(root / "proc/self/status")) {
    if (line.starts_with(kKey)) lists.push_back(line.substr(kKey.size()));
  }
  std::ifstream maps(root / "proc/self/numa_maps");
  std::string address, policy;
  if (maps >> address >> policy && policy.starts_with("bind")) lists.push_back(policy.substr(policy.find(':') + 1));
  return lists;
}

// The memory of the nodes that this process is bound to, where there are others.
void apply_nodes(const fs::path& root, MemoryLimits& limits) {
  const fs::path folder = root / "sys/devices/system/node";
  const auto with_memory = lines_of(folder / "has_memory");
  if (with_memory.empty()) return;
  const auto bounds = node_lists(root);
  std::vector<unsigned> allowed;
  bool others = false;
  constexpr unsigned kMaxNodes = 1024;  // of a kernel for x86-64
  for (unsigned node = 0; node < kMaxNodes; node++) {
    if (!lists(with_memory[0], node)) continue;
    if (std::all_of(bounds.begin(), bounds.end(), [&](const auto& list) { return lists(list, node); }))
      allowed.push_back(node);
    else
      others = true;
  }
  if (!others) return;
  Bound total{0, fmt::format("NUMA nodes {}", fmt::join(allowed, ","))}, available = total;
  for (const unsigned node : allowed) {
    // "Node 0 MemTotal:  123 kB"
    std::vector<std::string> meminfo = lines_of(folder / fmt::format("node{}", node) / "meminfo");
    for (std::string& line : meminfo) line.erase(0, fmt::format("Node {} ", node).size());
    total.bytes += field(meminfo, "MemTotal:").value_or(0) * 1024;
    for (const char* key : {"MemFree:", "Inactive(file):"}) available.bytes += field(meminfo, key).value_or(0) * 1024;
  }
  if (total.bytes == 0) return;
  lower(limits.total, total.bytes, total.source);
  lower(limits.available, available.bytes, available.source);
}

// The files of one cgroup version.
struct Flavour {
  std::string name;                 // in messages
  fs::path mount;                   // under the root
  std::vector<std::string> limits;  // "max" or a huge number stands for none
  std::string usage, cache;         // file of the usage; field of memory.stat for cache that can be dropped
  std::string events;               // file with the field oom_kill
};
const Flavour kV1{"cgroup v1",           "sys/fs/cgroup/memory", {"memory.limit_in_bytes"}, "memory.usage_in_bytes",
                  "total_inactive_file", "memory.oom_control"};
const Flavour kV2{"cgroup v2",      "sys/fs/cgroup", {"memory.max", "memory.high"},
                  "memory.current", "inactive_file", "memory.events"};

// The group and its ancestors. In a container the path is the host's or "/", and the mount may show only a part of the
// tree: there need not be a folder for each.
std::vector<fs::path> levels(fs::path group) {
  std::vector<fs::path> found;
  for (group = group.relative_path(); !group.empty(); group = group.parent_path()) found.push_back(group);
  found.emplace_back();  // the root
  return found;
}

// A limit on any ancestor binds too.
void apply(const fs::path& root, const Flavour& flavour, const fs::path& group, MemoryLimits& limits) {
  for (const fs::path& level : levels(group)) {
    const fs::path folder = root / flavour.mount / level;
    for (const std::string& file : flavour.limits) {
      const auto limit = number_in(folder / file);
      if (!limit) continue;
      const uint64_t used = number_in(folder / flavour.usage).value_or(0);
      const uint64_t cache = field(lines_of(folder / "memory.stat"), flavour.cache).value_or(0);
      const uint64_t held = used - std::min(used, cache);
      const std::string source = fmt::format("{} {} of /{}", flavour.name, file, level.string());
      lower(limits.total, *limit, source);
      lower(limits.available, *limit - std::min(*limit, held), source);
    }
  }
}

// The groups of this process that account for memory.
std::vector<std::pair<const Flavour*, fs::path>> groups(const fs::path& root) {
  std::vector<std::pair<const Flavour*, fs::path>> found;
  // Lines are ID:CONTROLLERS:PATH; version 2 has one line, 0::PATH.
  for (const std::string& line : lines_of(root / "proc/self/cgroup")) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    if (controllers == ",,") found.emplace_back(&kV2, line.substr(second + 1));
    if (controllers.find(",memory,") != std::string::npos) found.emplace_back(&kV1, line.substr(second + 1));
  }
  return found;
}

}  // namespace

Result<MemoryLimits> memory_limits(const fs::path& root) {
  const auto meminfo = lines_of(root / "proc/meminfo");
  const auto total = field(meminfo, "MemTotal:");
  if (!total) return fail(Code::kIo, "cannot read MemTotal from {}", (root / "proc/meminfo").string());
  MemoryLimits limits;
  limits.total = {*total * 1024, "MemTotal"};
  limits.available = limits.total;
  if (const auto available = field(meminfo, "MemAvailable:"))
    lower(limits.available, *available * 1024, "MemAvailable");
  apply_nodes(root, limits);
  for (const auto& [flavour, group] : groups(root)) apply(root, *flavour, group, limits);
  return limits;
}

uint64_t oom_kills(const fs::path& root) {
  for (const auto& [flavour, group] : groups(root)) {
    for (const fs::path& level : levels(group)) {
      if (const auto count = field(lines_of(root / flavour->mount / level / flavour->events), "oom_kill"))
        return *count;
    }
  }
  return 0;
}

Result<ProcessMemory> process_memory(const fs::path& root) {
  const auto status = lines_of(root / "proc/self/status");
  const auto resident = field(status, "VmRSS:"), peak = field(status, "VmHWM:");
  if (!resident || !peak)
    return fail(Code::kIo, "cannot read VmRSS and VmHWM from {}", (root / "proc/self/status").string());
  return ProcessMemory{*resident * 1024, *peak * 1024};
}

}  // namespace cuzk::mem
