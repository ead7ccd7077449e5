#include "engine/plan.h"

#include "cli/commands.h"
#include "engine/engine.h"
#include "filecoin/circuits.h"
#include "gpu/device.h"

namespace cuzk::cli {
namespace {

using engine::readable_size;

Result<r1cs::Circuit> compile(const std::string& id) {
  const size_t dash = id.find('-');
  if (dash == std::string::npos)
    return fail(Code::kUsage, "'{}' is no circuit; write KIND-SIZE, such as porep-32GiB", id);
  CUZK_TRY_ASSIGN(uint64_t sector_bytes, parse_size(id.substr(dash + 1)));
  return filecoin::compile_circuit(id.substr(0, dash), sector_bytes);
}

Report footprint(const engine::Footprint& bytes) {
  return {{"host_bytes", bytes.host}, {"device_bytes", bytes.device}};
}

std::string reason(const engine::CircuitPlan& plan, size_t partition_workers) {
  if (plan.why_not) return plan.why_not->message;
  if (plan.bound_by_memory)
    return fmt::format("memory for {} partitions at a time; {} workers would want more", plan.at_once,
                       partition_workers);
  return fmt::format("all {} partition workers have memory", partition_workers);
}

}  // namespace

Result<int> plan(const PlanOptions& options, Context& context) {
  CUZK_TRY_ASSIGN(const mem::MemoryLimits limits, mem::memory_limits());
  const engine::HostPlan host = engine::plan_host(limits, options.memory_bytes);
  engine::Policy policy;
  policy.host_bytes = host.host_bytes;
  policy.request_bytes = host.request_bytes;
  policy.partition_workers = options.partition_workers > 0 ? options.partition_workers : context.pool.threads();
  const std::vector<engine::DeviceSpec> devices = {{"cpu", 1, 0}};
  const std::unique_ptr<engine::Backend> backend = engine::make_cpu_backend(context.pool);

  std::vector<std::string> ids = options.circuits;
  if (ids.empty()) ids = {"porep-32GiB", "update-32GiB", "window-32GiB", "winning-32GiB"};
  std::vector<engine::CircuitPlan> plans;
  for (const std::string& id : ids) {
    context.progress.begin("compiling " + id);
    CUZK_TRY_ASSIGN(const r1cs::Circuit circuit, compile(id));
    plans.push_back(engine::plan_circuit(policy, devices, id,
                                         engine::needs_of(circuit, std::array{backend.get()}, context.pool.threads())));
  }
  context.progress.end();

  bool all = true;
  Report circuits = Report::array();
  for (const engine::CircuitPlan& each : plans) {
    const engine::Needs& there = each.needs.devices[each.device];
    all = all && !each.why_not;
    circuits.push_back({{"circuit", each.circuit},
                        {"fits", !each.why_not},
                        {"reason", reason(each, policy.partition_workers)},
                        {"device", devices[each.device].name},
                        {"partitions_at_once", each.at_once},
                        {"peak_host_bytes", each.peak_host_bytes},
                        {"circuit_bytes", each.needs.circuit_bytes},
                        {"witness_bytes", each.needs.witness_bytes},
                        {"params", footprint(there.params)},
                        {"start", footprint(there.start)},
                        {"pending", footprint(there.pending)}});
  }
  Report cards = Report::array();
  for (const gpu::DeviceInfo& card : gpu::devices())
    cards.push_back({{"name", card.name}, {"uuid", card.uuid}, {"memory_bytes", card.memory_bytes}});

  if (context.json) {
    context.print({{"limit", host.source},
                   {"total_bytes", limits.total.bytes},
                   {"available_bytes", limits.available.bytes},
                   {"host_bytes", host.host_bytes},
                   {"request_bytes", host.request_bytes},
                   {"partition_workers", policy.partition_workers},
                   {"gpus", cards},
                   {"circuits", circuits}});
    return all ? 0 : 1;
  }
  fmt::print("host memory: {} for partitions and parameters, {} for requests ({})\n", readable_size(host.host_bytes),
             readable_size(host.request_bytes), host.source);
  fmt::print("graphics cards: {}; planned for the processor, {} partition workers\n\n",
             cards.empty() ? "none" : std::to_string(cards.size()), policy.partition_workers);
  fmt::print("{:<16} {:>10} {:>10} {:>10} {:>10} {:>9}  {}\n", "circuit", "compiled", "params", "witness", "proving",
             "at once", "why");
  for (const engine::CircuitPlan& each : plans) {
    const engine::Needs& there = each.needs.devices[each.device];
    fmt::print("{:<16} {:>10} {:>10} {:>10} {:>10} {:>9}  {}\n", each.circuit, readable_size(each.needs.circuit_bytes),
               readable_size(there.params.host), readable_size(each.needs.witness_bytes),
               readable_size(there.start.host), each.at_once, reason(each, policy.partition_workers));
  }
  return all ? 0 : 1;
}

}  // namespace cuzk::cli
