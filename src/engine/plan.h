#pragma once
// What fits a machine, and why.

#include "engine/policy.h"
#include "mem/machine.h"

namespace cuzk::engine {

// How much host memory the engine may use.
struct HostPlan {
  uint64_t host_bytes = 0;     // Policy::host_bytes
  uint64_t request_bytes = 0;  // Policy::request_bytes, an eighth of all
  std::string source;          // what set the limit
};
// The smallest of what is there, what is free now and `wanted`, less `margin` for the rest of the process: 1/8, at most
// 5 GiB, where it is not given.
HostPlan plan_host(const mem::MemoryLimits& limits, std::optional<uint64_t> wanted = {},
                   std::optional<uint64_t> margin = {});

struct CircuitPlan {
  std::string circuit;
  CircuitNeeds needs;
  std::optional<Error> why_not;  // it does not fit
  size_t device = 0;             // the first that can hold it
  size_t at_once = 0;            // partitions that may have a witness at a time
  bool bound_by_memory = false;  // and not by Policy::partition_workers
  uint64_t peak_host_bytes = 0;  // with so many, and all workers of the device busy
};
CircuitPlan plan_circuit(const Policy& policy, const std::vector<DeviceSpec>& devices, const std::string& circuit,
                         CircuitNeeds needs);

}  // namespace cuzk::engine
