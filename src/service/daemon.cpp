#include "service/daemon.h"

#include <fmt/ranges.h>
#include <signal.h>

#include "base/log.h"
#include "engine/engine.h"
#include "engine/plan.h"
#include "field/kernels.h"
#include "service/config.h"
#include "service/grpc_server.h"

namespace cuzk::service {
namespace {

Result<Config> configure(const DaemonOptions& options);
// What there is to work with.
struct Machine {
  engine::HostPlan host;
  struct Gpu {
    gpu::DeviceInfo device;
    uint64_t memory_bytes;
  };
  std::vector<Gpu> gpus;
};
Result<Machine> check_machine(const Config& config);

// Null where there is none.
Result<std::unique_ptr<Journal>> open_journal(const Config& config) {
  if (!config.journal) return nullptr;
  std::filesystem::path path = config.journal_path;
  if (path.empty()) {
    path = kDefaultJournal;
    if (!std::filesystem::is_directory(path.parent_path())) {
      log::warn("no journal: jobs would not survive a restart; set journal.path");
      return nullptr;
    }
  }
  return Journal::open(path, config.journal_bytes);
}

engine::Options options_of(const Config& config, const engine::HostPlan& memory, Journal* journal) {
  engine::Options options;
  options.policy.partition_workers = config.partition_workers;
  options.policy.max_waiting = config.max_waiting;
  options.policy.host_bytes = memory.host_bytes;
  options.policy.request_bytes = memory.request_bytes;
  // A PoSt finds a place at every stage, and in the queue, however much else there is to do.
  options.policy.high = options.policy.critical = {.lanes = 1, .waiting = 64};
  options.result_ttl = config.result_ttl;
  options.result_bytes = config.result_bytes;
  options.recorder = journal;
  return options;
}

// Everything between the configuration and the network; the order of the members is the order of dependence.
struct Parts {
  exec::Pool pool;
  engine::CircuitStore circuits;
  engine::ParamsStore params;
  std::vector<std::unique_ptr<engine::Backend>> backends;
  engine::Engine engine;

  Parts(const Config& config, const Machine& machine, Journal* journal)
      : pool(config.threads),
        circuits(config.circuit_cache.empty() ? config.param_cache : config.circuit_cache),
        params([&config](const std::string& id) { return locate_params(config, id); }),
        engine(options_of(config, machine.host, journal), circuits, params, make_devices(config, machine), pool) {}

  // The CUDA devices that were chosen, or the processor.
  std::vector<engine::Device> make_devices(const Config& config, const Machine& machine) {
    std::vector<engine::Device> devices;
    for (const auto& [device, memory_bytes] : machine.gpus) {
      const size_t workers = config.gpu_workers_per_device;
      backends.push_back(
          engine::make_gpu_backend({.device = device, .workers = workers, .memory_bytes = memory_bytes}, pool));
      devices.push_back({{device.uuid, workers, memory_bytes}, backends.back().get()});
    }
    if (devices.empty()) {
      backends.push_back(engine::make_cpu_backend(pool));
      devices.push_back({{"cpu", 1, 0}, backends.back().get()});
    }
    return devices;
  }
};

// What is left in memory, for those who look for a leak.
void log_ledger(engine::Engine& engine) {
  std::string text;
  for (const mem::Ledger::Line& line : engine.snapshot().ledger) text += fmt::format(" {}={}", line.name, line.bytes);
  log::info("bytes alive by class:{}", text);
}

// SIGTERM and SIGINT are taken by wait_for_signal() alone; threads started later inherit this.
void hold_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

// Returns the signal; from then on another one ends the process at once.
int wait_for_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  int number = 0;
  sigwait(&set, &number);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  return number;
}

}  // namespace

Result<int> run_daemon(const DaemonOptions& options) {
  CUZK_TRY_ASSIGN(const Config config, configure(options));
  if (options.check_config) return 0;
  CUZK_TRY_ASSIGN(const Machine machine, check_machine(config));
  hold_signals();
  CUZK_TRY_ASSIGN(const std::unique_ptr<Journal> journal, open_journal(config));
  Parts parts(config, machine, journal.get());
  if (journal) CUZK_TRY(journal->resume(parts.engine, parse_recorded(filecoin_sources(parts.pool))));
  CUZK_TRY_ASSIGN(std::unique_ptr<GrpcServer> server,
                  GrpcServer::start(parts.engine, filecoin_sources(parts.pool), find_circuit, config.listen));
  log::info("cuzk-daemon {} ready, serving on {}", CUZK_VERSION, fmt::join(server->addresses(), ", "));

  int number = wait_for_signal();
  log::info("{}: finishing what runs, for at most {} s; a second signal ends at once", strsignal(number),
            std::chrono::duration_cast<std::chrono::seconds>(config.drain_timeout).count());
  bool idle = parts.engine.drain(config.drain_timeout);
  if (!idle) parts.engine.abandon();
  server->stop(std::chrono::seconds(5));
  log_ledger(parts.engine);
  if (idle) {
    log::info("stopped");
    return 0;
  }
  if (journal) journal->settle();
  log::warn("stopped; the jobs that still ran {}", journal ? "go on at the next start" : "are lost");
  std::_Exit(0);  // a stage in progress cannot be interrupted
}

namespace {

Result<Config> configure(const DaemonOptions& options) {
  Config config;
  if (options.config || std::filesystem::exists(kDefaultConfig)) {
    CUZK_TRY_ASSIGN(config, load_config(options.config.value_or(kDefaultConfig)));
  }
  if (!options.listen.empty()) config.listen = options.listen;
  log::configure(config.log_level, config.log_json);
  for (const std::string& warning : config.warnings) log::warn("{}", warning);
  return config;
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
  if (gpus.empty()) log::info("no CUDA device: proofs are made on the processor");
  return gpus;
}

Result<Machine> check_machine(const Config& config) {
  CUZK_TRY(select_kernels_from_environment());
  log::info("arithmetic kernels: {}", kernels().name);
  if (!std::filesystem::is_directory(config.param_cache)) {
    log::warn("srs.param_cache '{}' is no folder; only parameters named in srs.files will be found",
              config.param_cache.string());
  }
  CUZK_TRY_ASSIGN(const mem::MemoryLimits limits, mem::memory_limits());
  engine::HostPlan host = engine::plan_host(limits, config.total_budget, config.safety_margin);
  log::info("host memory: {} for partitions and parameters, {} for requests ({})",
            engine::readable_size(host.host_bytes), engine::readable_size(host.request_bytes), host.source);
  CUZK_TRY_ASSIGN(std::vector<Machine::Gpu> gpus, find_gpus(config));
  return Machine{std::move(host), std::move(gpus)};
}

}  // namespace

}  // namespace cuzk::service
