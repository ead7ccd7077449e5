#include "service/daemon.h"

#include <fmt/ranges.h>
#include <malloc.h>
#include <signal.h>

#include <future>

#include "base/log.h"
#include "engine/engine.h"
#include "service/config.h"
#include "service/grpc_server.h"
#include "service/http_server.h"
#include "service/identity.h"
#include "service/listener.h"
#include "service/parts.h"
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
// 0 where all files that it names are as they should be.
Result<int> check_files(const Config& config);

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

// Null where none are wanted.
Result<std::unique_ptr<HttpServer>> serve_pages(const Observer& observer, const Config& config) {
  if (config.status_listen.empty()) return nullptr;
  CUZK_TRY_ASSIGN(std::unique_ptr<HttpServer> pages, HttpServer::start(observer, config.status_listen));
  log::info("pages on http://{}/", pages->address());
  if (!parse_http_listen(config.status_listen)->is_loopback())
    log::warn("daemon.status_listen: whoever reaches {} may read the names of jobs", pages->address());
  return pages;
}

// Before time is spent on what cannot be loaded.
Status check_preload(const Config& config) {
  for (const std::string& name : config.preload) {
    CUZK_TRY_ASSIGN(const NamedCircuit circuit, find_circuit(name));
    if (auto path = locate_params(config, circuit.id); !path)
      return tl::unexpected(std::move(path).error().within("srs.preload"));
  }
  return {};
}

Status load_all(engine::Engine& engine, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    CUZK_TRY_ASSIGN(NamedCircuit circuit, find_circuit(name));
    auto loaded = engine.preload(circuit.id, std::move(circuit.compile));
    if (!loaded) return tl::unexpected(std::move(loaded).error().within(fmt::format("srs.preload: {}", name)));
    log::info({{"circuit", circuit.id}}, "preloaded in {:.3f} s",
              std::chrono::duration<double>(loaded->load_time).count());
  }
  return {};
}

// It may take minutes, and nobody is served yet: a signal ends the process at once. Threads that the engine makes
// meanwhile are made by one that holds signals back.
Status preload(engine::Engine& engine, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  auto loaded = std::async(std::launch::async, [&] { return load_all(engine, names); });
  let_signals_through();
  loaded.wait();
  hold_signals();
  return loaded.get();
}

// What is left in memory, for those who look for a leak.
void log_ledger(engine::Engine& engine) {
  std::string text;
  for (const mem::Ledger::Line& line : engine.snapshot(engine::kNoJobs).ledger)
    text += fmt::format(" {}={}", line.name, line.bytes);
  log::info("bytes alive by class:{}", text);
}

// A running daemon and what it was told.
class Daemon {
 public:
  static Result<std::unique_ptr<Daemon>> start(const DaemonOptions& options, Config config, const Machine& machine);

  // Until SIGTERM or SIGINT, which it returns, or until no device works any more: nullopt.
  std::optional<int> serve();
  // Ends what runs; false where the deadline passed before that.
  bool drain(int number);
  // Answers all who wait, at once.
  void give_up();
  void stop();
  bool keeps_jobs() const { return journal_ != nullptr; }

 private:
  Daemon(const DaemonOptions& options, Config config, const Machine& machine, std::unique_ptr<Journal> journal)
      : options_(options),
        config_(std::move(config)),
        journal_(std::move(journal)),
        parts_(config_, machine, journal_.get(), options.wrap_backend),
        observer_(parts_.engine, infos(machine), gpu::free_bytes, journal_.get()) {}
  static std::vector<gpu::DeviceInfo> infos(const Machine& machine);
  void reload();
  // Who watches hears of it; after something that the engine has answered.
  void say_alive() { supervisor_.notify("WATCHDOG=1"); }

  const DaemonOptions options_;
  const Config config_;       // as it was started
  Config current_ = config_;  // with what was reloaded since
  const Supervisor supervisor_ = Supervisor::from_environment();
  const std::unique_ptr<Journal> journal_;
  Parts parts_;
  Observer observer_;
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<HttpServer> pages_;
};

std::vector<gpu::DeviceInfo> Daemon::infos(const Machine& machine) {
  std::vector<gpu::DeviceInfo> list;
  for (const Machine::Gpu& gpu : machine.gpus) list.push_back(gpu.device);
  return list;
}

Result<std::unique_ptr<Daemon>> Daemon::start(const DaemonOptions& options, Config config, const Machine& machine) {
  hold_signals();  // before there is another thread
  CUZK_TRY_ASSIGN(std::unique_ptr<Journal> journal, open_journal(config));
  std::unique_ptr<Daemon> self(new Daemon(options, std::move(config), machine, std::move(journal)));
  if (self->journal_) {
    CUZK_TRY(self->journal_->resume(self->parts_.engine, parse_recorded(filecoin_sources(self->parts_.pool))));
  }
  CUZK_TRY_ASSIGN(GrpcOptions access, access_of(self->config_));
  self->observer_.set_starting(true);
  CUZK_TRY_ASSIGN(self->pages_, serve_pages(self->observer_, self->config_));
  CUZK_TRY(preload(self->parts_.engine, self->config_.preload));
  CUZK_TRY_ASSIGN(self->server_, GrpcServer::start(self->parts_.engine, self->observer_,
                                                   filecoin_sources(self->parts_.pool), find_circuit, access));
  self->observer_.set_starting(false);
  log::info("cuzk-daemon {} ready, serving on {}", CUZK_VERSION, fmt::join(self->server_->addresses(), ", "));
  for (const std::string& address : self->server_->addresses()) {
    if (!access.tls && !parse_listen(address)->is_loopback())
      log::warn("daemon.listen: whoever reaches {} may use the service; daemon.tls_cert and its like prevent that",
                address);
  }
  self->supervisor_.notify("READY=1");
  return self;
}

std::optional<int> Daemon::serve() {
  constexpr std::chrono::milliseconds kLook = std::chrono::seconds(1);  // how often devices are looked at
  while (true) {
    const std::optional<int> number = next_signal(std::min(kLook, supervisor_.watchdog_interval().value_or(kLook)));
    const bool lost = observer_.devices_are_lost(config_.max_quarantines);
    say_alive();
    if (number == SIGHUP) reload();
    if (number == SIGTERM || number == SIGINT) return *number;
    if (lost) return std::nullopt;
  }
}

void Daemon::give_up() {
  log::error("every device was quarantined {} times in a row: a new process may do better", config_.max_quarantines);
  parts_.engine.drain(engine::Clock::duration{});
  parts_.engine.abandon();
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
  // By itself glibc raises it to 32 MiB with what is freed, and keeps 120 MiB of freed buffers after a PoRep.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  CUZK_TRY_ASSIGN(const Config config, read_config(options));
  if (options.print_config) fmt::print("{}", print_config(config));
  if (options.print_config) return 0;
  configure_log(config, config.log_json);
  CUZK_TRY(check_preload(config));
  if (options.check_config) return check_files(config);
  CUZK_TRY_ASSIGN(const Machine machine, check_machine(config));
  CUZK_TRY_ASSIGN(std::unique_ptr<Daemon> daemon, Daemon::start(options, config, machine));
  const std::optional<int> number = daemon->serve();
  const bool idle = number && daemon->drain(*number);
  if (!number) daemon->give_up();
  daemon->stop();
  if (idle) {
    log::info("stopped");
    return 0;
  }
  log::warn("stopped; the jobs that still ran {}", daemon->keeps_jobs() ? "go on at the next start" : "are lost");
  std::_Exit(number ? 0 : kExitNoDevice);  // a stage in progress cannot be interrupted
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
  log::configure(config.log_level, json, {{"host", identity().host}, {"version", identity().version}});
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

Result<int> check_files(const Config& config) {
  CUZK_TRY(access_of(config));
  const std::vector<std::string> faults = faults_of_params(config);
  if (!faults.empty()) return fail(Code::kInvalidParams, "{}", fmt::join(faults, "\n"));
  return 0;
}

}  // namespace
}  // namespace cuzk::service
