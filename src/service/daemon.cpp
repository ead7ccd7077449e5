#include "service/daemon.h"

#include <fmt/ranges.h>
#include <signal.h>

#include "base/log.h"
#include "engine/engine.h"
#include "engine/plan.h"
#include "field/kernels.h"
#include "service/config.h"
#include "service/grpc_server.h"
#include "service/http_server.h"
#include "service/listener.h"
#include "service/signals.h"
#include "service/supervisor.h"
#include "service/units.h"

namespace cuzk::service {
namespace {

constexpr std::chrono::seconds kStopGrace{5};  // for answers under way when the server stops

Result<Config> read_config(const DaemonOptions& options);
void configure_log(const Config& config, bool json);
// Who may use the service; reads the files of TLS and of the token.
Result<GrpcOptions> access_of(const Config& config);
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
  Observer observer;

  Parts(const Config& config, const Machine& machine, Journal* journal)
      : pool(config.threads),
        circuits(config.circuit_cache.empty() ? config.param_cache : config.circuit_cache),
        params([&config](const std::string& id) { return locate_params(config, id); }),
        engine(options_of(config, machine.host, journal), circuits, params, make_devices(config, machine), pool),
        observer(engine, infos(machine), gpu::free_bytes, journal) {}

  static std::vector<gpu::DeviceInfo> infos(const Machine& machine) {
    std::vector<gpu::DeviceInfo> list;
    for (const Machine::Gpu& gpu : machine.gpus) list.push_back(gpu.device);
    return list;
  }

  // The CUDA devices that were chosen, or the processor.
  std::vector<engine::Device> make_devices(const Config& config, const Machine& machine) {
    std::vector<engine::Device> devices;
    for (const auto& [device, memory_bytes] : machine.gpus) {
      const size_t workers = config.gpu_workers_per_device;
      backends.push_back(engine::make_gpu_backend(
          {.device = device, .workers = workers, .memory_bytes = memory_bytes, .b_g2_on_host = config.b_g2_on_host},
          pool));
      devices.push_back({{device.uuid, workers, memory_bytes}, backends.back().get()});
    }
    if (devices.empty()) {
      backends.push_back(engine::make_cpu_backend(pool));
      devices.push_back({{"cpu", 1, 0}, backends.back().get()});
    }
    return devices;
  }
};

// Null where none are wanted.
Result<std::unique_ptr<HttpServer>> serve_pages(const Observer& observer, const Config& config) {
  if (config.status_listen.empty()) return nullptr;
  CUZK_TRY_ASSIGN(std::unique_ptr<HttpServer> pages, HttpServer::start(observer, config.status_listen));
  log::info("pages on http://{}/", pages->address());
  if (!parse_http_listen(config.status_listen)->is_loopback())
    log::warn("daemon.status_listen: whoever reaches {} may read the names of jobs", pages->address());
  return pages;
}

// What is left in memory, for those who look for a leak.
void log_ledger(engine::Engine& engine) {
  std::string text;
  for (const mem::Ledger::Line& line : engine.snapshot().ledger) text += fmt::format(" {}={}", line.name, line.bytes);
  log::info("bytes alive by class:{}", text);
}

// A running daemon and what it was told.
class Daemon {
 public:
  static Result<std::unique_ptr<Daemon>> start(const DaemonOptions& options, Config config, const Machine& machine);

  // Until SIGTERM or SIGINT, which it returns.
  int serve();
  // Ends what runs; false where the deadline passed before that.
  bool drain(int number);
  void stop();
  bool keeps_jobs() const { return journal_ != nullptr; }

 private:
  Daemon(const DaemonOptions& options, Config config, const Machine& machine, std::unique_ptr<Journal> journal)
      : options_(options),
        config_(std::move(config)),
        journal_(std::move(journal)),
        parts_(config_, machine, journal_.get()) {}
  void reload();
  void say_alive();

  const DaemonOptions options_;
  const Config config_;       // as it was started
  Config current_ = config_;  // with what was reloaded since
  const Supervisor supervisor_ = Supervisor::from_environment();
  const std::unique_ptr<Journal> journal_;
  Parts parts_;
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<HttpServer> pages_;
};

Result<std::unique_ptr<Daemon>> Daemon::start(const DaemonOptions& options, Config config, const Machine& machine) {
  hold_signals();  // before there is another thread
  CUZK_TRY_ASSIGN(std::unique_ptr<Journal> journal, open_journal(config));
  std::unique_ptr<Daemon> self(new Daemon(options, std::move(config), machine, std::move(journal)));
  if (self->journal_) {
    CUZK_TRY(self->journal_->resume(self->parts_.engine, parse_recorded(filecoin_sources(self->parts_.pool))));
  }
  CUZK_TRY_ASSIGN(GrpcOptions access, access_of(self->config_));
  CUZK_TRY_ASSIGN(self->server_, GrpcServer::start(self->parts_.engine, self->parts_.observer,
                                                   filecoin_sources(self->parts_.pool), find_circuit, access));
  CUZK_TRY_ASSIGN(self->pages_, serve_pages(self->parts_.observer, self->config_));
  log::info("cuzk-daemon {} ready, serving on {}", CUZK_VERSION, fmt::join(self->server_->addresses(), ", "));
  for (const std::string& address : self->server_->addresses()) {
    if (!access.tls && !parse_listen(address)->is_loopback())
      log::warn("daemon.listen: whoever reaches {} may use the service; daemon.tls_cert and its like prevent that",
                address);
  }
  self->supervisor_.notify("READY=1");
  return self;
}

int Daemon::serve() {
  while (true) {
    const std::optional<int> number = next_signal(supervisor_.watchdog_interval());
    say_alive();
    if (number == SIGHUP) reload();
    if (number == SIGTERM || number == SIGINT) return *number;
  }
}

// Who watches hears of it only while the engine answers.
void Daemon::say_alive() {
  parts_.engine.snapshot();
  supervisor_.notify("WATCHDOG=1");
}

void Daemon::reload() {
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(engine::Clock::now().time_since_epoch());
  supervisor_.notify(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", now.count()));
  const Status done = [&]() -> Status {
    CUZK_TRY_ASSIGN(Config next, read_config(options_));
    CUZK_TRY_ASSIGN(const GrpcOptions access, access_of(next));
    for (const ConfigChange& change : compare(current_, next)) {
      log::info("{}: {} -> {}{}", change.key, change.before, change.after,
                change.needs_restart ? "; has an effect after a restart only" : "");
    }
    parts_.engine.adjust(next.max_waiting, next.result_ttl);
    server_->set_token(access.token);
    configure_log(next, config_.log_json);
    current_ = std::move(next);
    return {};
  }();
  done ? log::info("configuration read again") : log::error("nothing is changed: {}", done.error().message);
  supervisor_.notify("READY=1");
}

bool Daemon::drain(int number) {
  const auto patience = current_.drain_timeout;
  log::info("{}: finishing what runs, for at most {}; a second signal ends at once", strsignal(number),
            format_duration(patience));
  let_signals_through();
  supervisor_.notify(
      fmt::format("STOPPING=1\nEXTEND_TIMEOUT_USEC={}", std::chrono::microseconds(patience + kStopGrace * 2).count()));
  const engine::Clock::time_point end = engine::Clock::now() + patience;
  const engine::Clock::duration step = supervisor_.watchdog_interval().value_or(patience);
  while (!parts_.engine.drain(std::min(step, end - engine::Clock::now()))) {
    if (engine::Clock::now() >= end) {
      parts_.engine.abandon();
      return false;
    }
    say_alive();
  }
  return true;
}

void Daemon::stop() {
  server_->stop(kStopGrace);
  pages_.reset();
  if (journal_) journal_->settle();
  log_ledger(parts_.engine);
}

}  // namespace

Result<int> run_daemon(const DaemonOptions& options) {
  CUZK_TRY_ASSIGN(const Config config, read_config(options));
  if (options.print_config) fmt::print("{}", print_config(config));
  if (options.print_config) return 0;
  configure_log(config, config.log_json);
  if (options.check_config) return access_of(config).map([](const auto&) { return 0; });
  CUZK_TRY_ASSIGN(const Machine machine, check_machine(config));
  CUZK_TRY_ASSIGN(std::unique_ptr<Daemon> daemon, Daemon::start(options, config, machine));
  const bool idle = daemon->drain(daemon->serve());
  daemon->stop();
  if (idle) {
    log::info("stopped");
    return 0;
  }
  log::warn("stopped; the jobs that still ran {}", daemon->keeps_jobs() ? "go on at the next start" : "are lost");
  std::_Exit(0);  // a stage in progress cannot be interrupted
}

namespace {

Result<Config> read_config(const DaemonOptions& options) {
  Config config;
  if (options.config || std::filesystem::exists(kDefaultConfig)) {
    CUZK_TRY_ASSIGN(config, load_config(options.config.value_or(kDefaultConfig)));
  }
  if (!options.listen.empty()) config.listen = options.listen;
  if (options.log_level) config.log_level = *options.log_level;
  return config;
}

void configure_log(const Config& config, bool json) {
  log::configure(config.log_level, json);
  for (const std::string& warning : config.warnings) log::warn("{}", warning);
}

Result<GrpcOptions> access_of(const Config& config) {
  GrpcOptions access{.listen = config.listen, .socket = config.socket};
  if (!config.tls_cert.empty()) {
    auto tls = load_tls(config.tls_cert, config.tls_key, config.tls_client_ca);
    if (!tls) return tl::unexpected(std::move(tls).error().within("daemon.tls_cert"));
    access.tls = std::move(*tls);
  }
  if (!config.token_file.empty()) {
    auto token = load_token(config.token_file);
    if (!token) return tl::unexpected(std::move(token).error().within("daemon.token_file"));
    access.token = std::move(*token);
  }
  return access;
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
