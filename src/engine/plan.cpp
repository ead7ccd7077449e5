#include "engine/plan.h"

#include <algorithm>

#include "engine/scheduler.h"

namespace cuzk::engine {

HostPlan plan_host(const mem::MemoryLimits& limits, std::optional<uint64_t> wanted, std::optional<uint64_t> margin) {
  mem::Bound bound = limits.total;
  if (limits.available.bytes < bound.bytes) bound = limits.available;
  if (wanted && *wanted < bound.bytes) bound = {*wanted, "the configuration"};
  const uint64_t kept = margin.value_or(std::min<uint64_t>(uint64_t{5} << 30, bound.bytes / 8));
  const uint64_t bytes = bound.bytes - std::min(bound.bytes, kept);
  return {bytes - bytes / 8, bytes / 8,
          fmt::format("{} by {}, less {} for the rest of the process", readable_size(bound.bytes), bound.source,
                      readable_size(kept))};
}

// By the scheduler's rule: beside parameters, circuit and all witnesses there is room for one device stage.
CircuitPlan plan_circuit(const Policy& policy, const std::vector<DeviceSpec>& devices, const std::string& circuit,
                         CircuitNeeds needs) {
  CircuitPlan plan{.circuit = circuit, .needs = std::move(needs)};
  Scheduler scheduler(policy, devices);
  const size_t number = scheduler.circuit(circuit);
  scheduler.know(number, plan.needs);
  plan.why_not = scheduler.never_fits(number, Priority::kNormal);
  if (plan.why_not) return plan;
  while (!scheduler.fits_on(number, plan.device, Priority::kNormal)) plan.device++;

  const Needs& there = plan.needs.devices[plan.device];
  const uint64_t limit = policy.host_bytes - policy.high.host_bytes - policy.critical.host_bytes;
  const uint64_t resident = plan.needs.circuit_bytes + there.params.host;
  const uint64_t witness = std::max<uint64_t>(plan.needs.witness_bytes, 1);
  const uint64_t room = (limit - resident - there.start.host) / witness;
  plan.bound_by_memory = room < policy.partition_workers;
  plan.at_once = std::min<uint64_t>(room, policy.partition_workers);
  const uint64_t stages = devices[plan.device].workers * (there.start.host + plan.needs.witness_bytes);
  plan.peak_host_bytes = std::min(limit, resident + plan.at_once * plan.needs.witness_bytes + stages);
  return plan;
}

}  // namespace cuzk::engine
