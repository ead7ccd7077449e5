#include "service/parts.h"

#include "base/log.h"
#include "field/kernels.h"
#include "service/wiring.h"

namespace cuzk::service {
namespace {

engine::Options options_of(const Config& config, const engine::HostPlan& memory, engine::Recorder* recorder) {
  engine::Options options;
  options.policy.partition_workers = config.partition_workers;
  options.policy.max_waiting = config.max_waiting;
  options.policy.host_bytes = memory.host_bytes;
  options.policy.request_bytes = memory.request_bytes;
  options.policy.stage_limit = config.stage_limit;
  options.policy.quarantine = config.quarantine;
  // A PoSt finds a place at every stage, and in the queue, however much else there is to do.
  options.policy.high = options.policy.critical = {.lanes = 1, .waiting = 64};
  options.result_ttl = config.result_ttl;
  options.result_bytes = config.result_bytes;
  options.recorder = recorder;
  return options;
}

Result<std::vector<Machine::Gpu>> find_gpus(const Config& config) {
  std::vector<Machine::Gpu> gpus;
  std::vector<std::string> names = config.gpu_devices;
  std::erase(names, "none");
  Result<std::vector<gpu::DeviceInfo>> devices;
  if (!names.empty() || config.gpu_devices.empty()) devices = gpu::find_devices(names);
  if (!devices) return tl::unexpected(std::move(devices).error().within("gpus.devices"));
  for (const gpu::DeviceInfo& device : *devices) {
    CUZK_TRY_ASSIGN(const uint64_t memory,
                    gpu::usable_bytes(device.ordinal, config.gpu_memory_limit.value_or(UINT64_MAX)));
    log::info("CUDA device {}: {} {}, {} of {} to use", device.ordinal, device.name, device.uuid,
              engine::readable_size(memory), engine::readable_size(device.memory_bytes));
    gpus.push_back({device, memory});
  }
  if (gpus.empty() && config.gpu_devices.empty()) log::info("no CUDA device: {}", gpu::absence());
  if (gpus.empty()) log::info("proofs are made on the processor");
  return gpus;
}

}  // namespace

Parts::Parts(const Config& config, const Machine& machine, engine::Recorder* recorder, const WrapBackend& wrap)
    : pool(config.threads),
      circuits(config.circuit_cache.empty() ? config.param_cache : config.circuit_cache),
      params([&config](const std::string& id) { return locate_params(config, id); }),
      engine(options_of(config, machine.host, recorder), circuits, params, make_devices(config, machine, wrap), pool) {}

// The CUDA devices that were chosen, or the processor.
std::vector<engine::Device> Parts::make_devices(const Config& config, const Machine& machine, const WrapBackend& wrap) {
  std::vector<engine::Device> devices;
  auto add = [&](engine::DeviceSpec spec, std::unique_ptr<engine::Backend> backend) {
    backends.push_back(wrap ? wrap(std::move(backend)) : std::move(backend));
    devices.push_back({std::move(spec), backends.back().get()});
  };
  for (const auto& [device, memory_bytes] : machine.gpus) {
    const size_t workers = config.gpu_workers_per_device;
    add({device.uuid, workers, memory_bytes},
        engine::make_gpu_backend(
            {.device = device, .workers = workers, .memory_bytes = memory_bytes, .b_g2_on_host = config.b_g2_on_host},
            pool));
  }
  if (devices.empty()) add({"cpu", 1, 0}, engine::make_cpu_backend(pool));
  return devices;
}

Result<Machine> check_machine(const Config& config) {
  CUZK_TRY(select_kernels_from_environment());
  log::info("arithmetic kernels: {}", kernels().name);
  if (!std::filesystem::is_directory(config.param_cache)) {
    log::warn("srs.param_cache '{}' is no folder; only parameters named in srs.files will be found",
              config.param_cache.string());
  }
  for (const std::string& fault : faults_of_params(config)) log::warn("{}", fault);
  CUZK_TRY_ASSIGN(const mem::MemoryLimits limits, mem::memory_limits());
  engine::HostPlan host = engine::plan_host(limits, config.total_budget, config.safety_margin);
  log::info("host memory: {} for partitions and parameters, {} for requests ({})",
            engine::readable_size(host.host_bytes), engine::readable_size(host.request_bytes), host.source);
  CUZK_TRY_ASSIGN(std::vector<Machine::Gpu> gpus, find_gpus(config));
  return Machine{std::move(host), std::move(gpus)};
}

}  // namespace cuzk::service
