#include "engine/engine.h"

#include <algorithm>

#include "base/log.h"
#include "engine/guarded.h"
#include "mem/machine.h"

namespace cuzk::engine {

std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

namespace {

constexpr size_t kHost = 0, kRequests = 1, kFirstDevice = 2;  // pools of the budget

Options filled_in(Options options, const exec::Pool& pool) {
  if (options.policy.partition_workers == 0) options.policy.partition_workers = pool.threads();
  return options;
}

std::vector<mem::Budget::Pool> pools(const Policy& policy, const std::vector<Device>& devices) {
  std::vector<mem::Budget::Pool> list = {{"host", policy.host_bytes}, {"requests", policy.request_bytes}};
  for (const Device& device : devices) list.push_back({device.spec.name, device.spec.memory_bytes});
  return list;
}

std::vector<DeviceSpec> specs(const std::vector<Device>& devices) {
  std::vector<DeviceSpec> list;
  for (const Device& device : devices) list.push_back(device.spec);
  return list;
}

// About what a kept result takes; the same from the end of the job on, though stages in progress add their spans.
uint64_t result_bytes(const Job& job) {
  constexpr uint64_t kStagesOfPartition = 4;
  return sizeof(Job) + job.id.size() + job.kind.size() + job.proof.size() +
         kStagesOfPartition * job.partitions * sizeof(Span) + (job.error ? job.error->message.size() : 0);
}

std::pair<std::string_view, log::Value> partition_field(uint32_t partition) {
  return {"partition", partition == kWholeJob ? log::Value() : log::Value(uint64_t{partition})};
}

void log_end(const Job& job) {
  auto in_seconds = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
  auto in_ms = [](Clock::duration time) {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
  };
  if (job.error) {
    const Origin origin = job.origin.value_or(Origin{});
    log::warn({{"job", job.id},
               {"kind", job.kind},
               {"code", code_name(job.error->code)},
               {"stage", job.origin ? kStageNames[static_cast<size_t>(origin.stage)] : ""},
               partition_field(origin.partition),
               {"attempt", job.origin ? log::Value(uint64_t{origin.attempt}) : log::Value()},
               {"device", origin.device}},
              "job failed: {}", printable(job.error->message));
    return;
  }
  std::string stages;
  for (size_t i = 0; i < kStages; i++)
    stages += fmt::format(" {} {:.3f}", kStageNames[i], in_seconds(job.times.spent[i]));
  const Clock::duration total = job.ended - job.submitted;
  const auto memory = mem::process_memory();
  const uint64_t peak = memory ? memory->peak_resident_bytes : 0;
  log::info({{"job", job.id},
             {"kind", job.kind},
             {"total_ms", in_ms(total)},
             {"gpu_ms", in_ms(job.cost.gpu)},
             {"cpu_ms", in_ms(job.cost.cpu)},
             {"peak_rss_bytes", peak}},
            "job completed in {:.3f} s, {:.3f} s a partition; GPU {:.3f} s, CPU {:.3f} s, peak of the process {}:{}",
            in_seconds(total), in_seconds(total) / std::max(job.partitions, 1u), in_seconds(job.cost.gpu),
            in_seconds(job.cost.cpu), readable_size(peak), stages);
}

}  // namespace

Engine::Engine(Options options, CircuitStore& circuits, ParamsStore& params, std::vector<Device> devices,
               exec::Pool& pool)
    : options_(filled_in(std::move(options), pool)),
      circuits_(circuits),
      params_(params),
      devices_(std::move(devices)),
      pool_(pool),
      budget_(pools(options_.policy, devices_)),
      scheduler_(options_.policy, specs(devices_)),
      result_ttl_(options_.result_ttl),
      device_failures_(devices_.size()) {
  threads_.emplace_back([this] { keep_time(); });
}

Engine::~Engine() {
  drain();
  std::lock_guard lock(mutex_);
  stopping_ = true;
  posted_.notify_all();
  time_changed_.notify_all();
}

// --- what others ask for

Result<Ticket> Engine::find(const std::string& id) {
  std::lock_guard lock(mutex_);
  forget_old_results();
  auto found = jobs_.find(id);
  if (found == jobs_.end()) return fail(Code::kNotFound, "job not found: {}", id);
  return Ticket{found->second, static_cast<uint32_t>(scheduler_.waiting())};
}

std::optional<Outcome> Engine::await(const Ticket& ticket, std::optional<Clock::duration> timeout) {
  std::unique_lock lock(mutex_);
  const Job& job = *ticket.job;
  auto ended = [&] { return is_final(job.state); };
  if (!timeout) {
    changed_.wait(lock, ended);
  } else if (!changed_.wait_for(lock, *timeout, ended)) {
    return std::nullopt;
  }
  return Outcome{
      job.state, job.state == State::kCompleted ? job.proof : Bytes{}, job.error, job.times, job.ended - job.submitted,
      job.origin};
}

void Engine::adopt(Ended ended) {
  std::lock_guard lock(mutex_);
  const Clock::time_point end = options_.now() - ended.age;
  auto job = std::make_shared<Job>(Job{std::move(ended.id), std::move(ended.kind), Priority::kNormal,
                                       ended.payload_digest, ended.number, end - ended.outcome.total});
  job->state = ended.outcome.state;
  job->proof = std::move(ended.outcome.proof);
  job->error = std::move(ended.outcome.error);
  job->times = ended.outcome.times;
  job->ended = end;
  next_job_ = std::max(next_job_, ended.number + 1);
  jobs_[job->id] = job;
  keep_result(std::move(job));
}

bool Engine::cancel(const Ticket& ticket) {
  std::lock_guard lock(mutex_);
  const bool was_running = ticket.job->state == State::kRunning;
  scheduler_.end(ticket.job->number, State::kCancelled, {Code::kCancelled, "cancelled"}, options_.now());
  round();
  return was_running;
}

void Engine::watch(const Ticket& ticket) {
  std::lock_guard lock(mutex_);
  ticket.job->watchers++;
  scheduler_.watched(ticket.job->number, true, options_.now());
}

void Engine::unwatch(const Ticket& ticket) {
  std::lock_guard lock(mutex_);
  if (--ticket.job->watchers > 0 || ticket.job->keep) return;
  scheduler_.watched(ticket.job->number, false, options_.now());
  round();
}

Result<Engine::Preloaded> Engine::preload(const std::string& circuit_id, CircuitStore::Compile compile) {
  const Clock::time_point begin = options_.now();
  std::unique_lock lock(mutex_);
  const size_t circuit = scheduler_.circuit(circuit_id);
  using Residency = Scheduler::Residency;
  auto ready = [&] {
    for (size_t d = 0; d < devices_.size(); d++) {
      if (scheduler_.resident(circuit, d) == Residency::kReady) return true;
    }
    return false;
  };
  const bool already = ready();
  preloads_[circuit] = {std::move(compile), std::nullopt};
  scheduler_.preload(circuit);
  round();
  changed_.wait(lock, [&] { return ready() || preloads_[circuit].error || scheduler_.loading() == 0; });
  if (ready()) return Preloaded{already, already ? Clock::duration{} : options_.now() - begin};
  auto error = preloads_[circuit].error ? preloads_[circuit].error : scheduler_.never_fits(circuit, Priority::kLow);
  if (!error)
    error = Error{Code::kResourceExhausted, fmt::format("there is no room for {} beside what is in use", circuit_id)};
  scheduler_.unload(circuit);
  round();
  return tl::unexpected(std::move(*error));
}

Result<uint64_t> Engine::evict(const std::string& circuit_id) {
  std::unique_lock lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& each : params_.loaded())
    bytes += each.circuit_id == circuit_id && each.tier != Tier::kCold ? each.bytes : 0;
  for (const auto& each : circuits_.loaded()) bytes += each.circuit_id == circuit_id ? each.bytes : 0;
  const size_t circuit = scheduler_.circuit(circuit_id);
  if (!scheduler_.unload(circuit))
    return fail(Code::kResourceExhausted, "{} is in use by {} partitions; try again later", circuit_id,
                scheduler_.users(circuit, kNoDevice));
  round();
  changed_.wait(lock, [&] {
    for (size_t d = 0; d < devices_.size(); d++) {
      if (scheduler_.resident(circuit, d) == Scheduler::Residency::kEvicting) return false;
    }
    return scheduler_.resident(circuit, kNoDevice) != Scheduler::Residency::kEvicting;
  });
  return bytes;
}

void Engine::adjust(size_t max_waiting, Clock::duration result_ttl) {
  std::lock_guard lock(mutex_);
  scheduler_.set_max_waiting(max_waiting);
  result_ttl_ = result_ttl;
  round();
}

Snapshot Engine::snapshot(Page page) {
  Snapshot snapshot;
  snapshot.params = params_.loaded();
  snapshot.circuits = circuits_.loaded();
  snapshot.memory = budget_.usage();
  snapshot.ledger = ledger_.lines();
  std::lock_guard lock(mutex_);
  forget_old_results();
  snapshot.time = options_.now();
  for (ParamsStore::Loaded& each : snapshot.params) {
    const size_t circuit = scheduler_.circuit(each.circuit_id);
    each.users = static_cast<uint32_t>(scheduler_.users(circuit, each.device));
    each.idle = snapshot.time - scheduler_.last_used(circuit, each.device);
    each.doubts = scheduler_.doubts(circuit, each.device);
  }
  for (CircuitStore::Loaded& each : snapshot.circuits) {
    const size_t circuit = scheduler_.circuit(each.circuit_id);
    each.users = static_cast<uint32_t>(scheduler_.users(circuit, kNoDevice));
    each.idle = snapshot.time - scheduler_.last_used(circuit, kNoDevice);
  }
  for (size_t d = 0; d < devices_.size(); d++) {
    const DeviceSpec& spec = devices_[d].spec;
    snapshot.devices.push_back(
        {spec.name, scheduler_.health(d), std::max<size_t>(spec.workers, 1), {}, device_failures_[d]});
  }
  for (const auto& [id, work] : works_) {
    if (!work || work->device == kNoDevice) continue;
    for (const Span& span : work->job->spans) {
      if (span.stage == Stage::kStart && span.partition == work->partition && !span.end)
        snapshot.devices[span.device].running.push_back({work->job->id, work->job->kind, span.partition, span.begin});
    }
  }
  for (Snapshot::Device& device : snapshot.devices)
    std::stable_sort(device.running.begin(), device.running.end(),
                     [](const auto& a, const auto& b) { return a.since < b.since; });
  for (const auto& [kind, totals] : totals_) snapshot.kinds[kind].totals = totals;
  const auto on_page = [&] {
    const size_t place = snapshot.jobs_in_all++;
    return place >= page.offset && place - page.offset < page.limit;
  };
  for (const auto& view : scheduler_.jobs()) {
    snapshot.synthesising += view.partitions[static_cast<size_t>(Scheduler::Step::kSynthesising)];
    auto found = open_.find(view.id);
    if (found == open_.end()) continue;  // it has ended, and a stage still runs
    const Job& job = *found->second;
    KindCount& count = snapshot.kinds[job.kind];
    (job.state == State::kRunning ? count.running : count.waiting)++;
    if (job.state != State::kRunning)
      count.oldest_waiting = std::max(count.oldest_waiting, snapshot.time - job.submitted);
    if (on_page()) snapshot.jobs.push_back(view_of(job, scheduler_.steps(view.id)));
  }
  size_t ended = 0;
  for (auto each = kept_.rbegin(); each != kept_.rend() && ended < kMostEnded; ++each) {
    const Job& job = **each;
    if (job.ended + kEndedShown <= snapshot.time) break;
    if (auto known = jobs_.find(job.id); known == jobs_.end() || known->second != *each) continue;
    ended++;
    if (on_page()) snapshot.ended.push_back(view_of(job, steps_of_ended(job)));
  }
  for (const auto& [kind, totals] : totals_) {
    snapshot.completed += totals.completed;
    snapshot.failed += totals.failures();
  }
  snapshot.partition_workers = options_.policy.partition_workers;
  for (size_t level = 0; level < kPriorities; level++)
    snapshot.free_places[level] = scheduler_.free_places(static_cast<Priority>(level));
  snapshot.refused = refused_;
  snapshot.overdue = overdue_;
  snapshot.stale_reports = scheduler_.stale_reports();
  snapshot.draining = scheduler_.draining();
  return snapshot;
}

Result<Snapshot::Job> Engine::view(const std::string& id) {
  std::lock_guard lock(mutex_);
  forget_old_results();
  auto found = jobs_.find(id);
  if (found == jobs_.end()) return fail(Code::kNotFound, "job not found: {}", id);
  const Job& job = *found->second;
  return view_of(job, is_final(job.state) ? steps_of_ended(job) : scheduler_.steps(job.number));
}

Snapshot::Job Engine::view_of(const Job& job, std::vector<Scheduler::Step> steps) const {
  return {.id = job.id,
          .kind = job.kind,
          .priority = job.priority,
          .state = job.state,
          .submitted = job.submitted,
          .seen = options_.now(),
          .partitions = std::move(steps),
          .spans = job.spans,
          .error = job.error,
          .cost = job.cost,
          .ended = is_final(job.state) ? std::optional(job.ended) : std::nullopt};
}

// The scheduler has forgotten them.
std::vector<Scheduler::Step> Engine::steps_of_ended(const Job& job) {
  std::vector<Scheduler::Step> steps(job.partitions, Scheduler::Step::kDropping);
  for (const Span& span : job.spans) {
    if (span.stage == Stage::kVerify && span.good) steps[span.partition] = Scheduler::Step::kDone;
  }
  return steps;
}

bool Engine::drain(std::optional<Clock::duration> limit) {
  std::unique_lock lock(mutex_);
  shutting_down_ = true;
  scheduler_.drain(options_.now());
  round();
  auto idle = [&] { return scheduler_.idle() && tasks_.empty() && busy_ == 0 && parsing_ == 0; };
  if (limit) return changed_.wait_for(lock, *limit, idle);
  changed_.wait(lock, idle);
  return true;
}

void Engine::abandon() {
  std::lock_guard lock(mutex_);
  shutting_down_ = true;
  std::vector<JobId> numbers;
  for (const auto& [number, job] : open_) numbers.push_back(number);
  for (JobId number : numbers)
    scheduler_.end(number, State::kFailed, {Code::kUnavailable, "the engine shut down; send the request again later"},
                   options_.now());
  round();
}

// --- doing what the scheduler says

void Engine::round() {
  for (const Decision& decision : scheduler_.decide(options_.now())) carry_out(decision);
  changed_.notify_all();
  time_changed_.notify_one();
}

void Engine::let_parse(const Decision& decision) {
  auto statement = std::make_shared<Statement>();
  if (auto memory = budget_.try_reserve({kRequests, decision.grant.host})) {
    statement->memory = std::move(*memory);
    statement->entry = ledger_.add(static_cast<size_t>(Class::kC1), decision.grant.host);
  } else {
    statement->granted = tl::unexpected(std::move(memory).error());
  }
  const std::shared_ptr<Job>& job = open_.at(decision.job);
  job->statement = statement;
  if (!job->parse) return;  // the caller of submit() waits for its turn
  parsing_++;
  post([this, job, statement = std::move(statement), to_source = std::exchange(job->parse, {})]() mutable {
    parse(*job, std::move(statement), to_source);
  });
}

void Engine::post_load(const Decision& decision) {
  auto memory = std::make_shared<Result<Memory>>(reserve(decision));
  CircuitStore::Compile compile;
  if (auto job = open_.find(decision.job); job != open_.end()) {
    compile = [source = job->second->statement->source] { return source->compile(); };
  } else if (auto known = preloads_.find(decision.circuit); known != preloads_.end()) {
    compile = known->second.compile;
  }
  const size_t circuit = decision.circuit, device = decision.device;
  post([this, circuit, device, memory, compile, level = urgency_of(decision.priority)] {
    const exec::Pool::Urgency urgency(pool_, level);
    if (device == kNoDevice) {
      load_circuit(circuit, compile, std::move(*memory));
    } else {
      load_params(circuit, device, std::move(*memory));
    }
  });
}

void Engine::post_stage(const Decision& decision, StageBody stage, Report report) {
  std::unique_ptr<Work>& work = works_[{decision.job, decision.partition}];
  const std::string& circuit = scheduler_.name(decision.circuit);
  if (!work) {
    const std::shared_ptr<Job>& job = open_.at(decision.job);
    if (job->state == State::kWaiting) {
      job->state = State::kRunning;
      job->times[Stage::kWait] = options_.now() - job->enqueued;
      job->spans.push_back({.stage = Stage::kWait, .begin = job->enqueued, .end = options_.now(), .good = true});
      totals_[job->kind].stages[static_cast<size_t>(Stage::kWait)].add(job->times[Stage::kWait]);
    }
    work = std::make_unique<Work>(Work{.job = job,
                                       .statement = job->statement,
                                       .partition = decision.partition,
                                       .attempt = decision.attempt,
                                       .check_rows = decision.check_rows,
                                       .setting = {circuits_.find(circuit), nullptr}});
    work->entries = add(ledger_, Class::kWitness, Class::kDeviceScratch, decision.grant);
    if (auto known = job->known.extract(decision.partition)) work->proof = std::move(known.mapped());
  } else if (!work->setting.params) {
    work->device = decision.device;
    work->setting.params = params_.find(circuit, decision.device);
  }
  work->granted = [&]() -> Status {
    CUZK_TRY_ASSIGN(Memory memory, reserve(decision));
    CUZK_TRY(work->memory.host.absorb(std::move(memory.host)));
    return work->memory.device.absorb(std::move(memory.device));
  }();
  work->memory.shrunk = [this, id = decision.id()](Footprint left) {
    std::lock_guard lock(mutex_);
    scheduler_.shrunk(id, left, options_.now());
    round();
  };
  post([this, stage, report, work = work.get()] { run_stage(*work, stage, report); });
}

Result<Memory> Engine::reserve(const Decision& decision) {
  std::vector<mem::Budget::Need> needs = {{kHost, decision.grant.host}};
  if (decision.grant.device > 0) needs.push_back({kFirstDevice + decision.device, decision.grant.device});
  CUZK_TRY_ASSIGN(std::vector<mem::Reservation> reservations, budget_.try_reserve(needs));
  Memory memory{std::move(reservations[0]), {}};
  if (reservations.size() > 1) memory.device = std::move(reservations[1]);
  return memory;
}

void Engine::conclude(const Decision& decision) {
  const std::shared_ptr<Job> ended = open_.at(decision.job);
  Job& job = *ended;
  job.state = decision.state;
  job.error = decision.error;
  job.origin = decision.origin;
  job.ended = options_.now();
  job.statement.reset();  // stages in progress have their own
  job.parse = {};
  job.known.clear();
  if (decision.state != State::kCompleted) job.proof = {};
  Totals& totals = totals_[job.kind];
  totals.cancelled += decision.state == State::kCancelled;
  if (decision.state == State::kFailed) totals.failed[decision.error ? decision.error->code : Code::kInternal]++;
  if (decision.state == State::kCompleted) {
    totals.completed++;
    totals.duration.add(job.ended - job.submitted);
  }
  log_end(job);
  open_.erase(decision.job);
  const bool put_off = shutting_down_ && job.error && job.error->code == Code::kUnavailable;
  if (options_.recorder && !put_off) options_.recorder->ended(job);
  keep_result(ended);
}

void Engine::note_load(size_t circuit, Stage stage, Clock::duration spent, const Status& loaded) {
  for (const auto& [number, job] : open_) {
    if (job->circuit != circuit || job->state != State::kWaiting) continue;
    job->times[stage] += spent;
    const Clock::time_point end = options_.now();
    const Clock::time_point begin = std::max(end - spent, job->enqueued);  // it may have come while others loaded
    job->spans.push_back({.stage = stage, .begin = begin, .end = end, .good = loaded.has_value()});
  }
  if (loaded) return;
  log::warn({{"circuit", scheduler_.name(circuit)}, {"code", code_name(loaded.error().code)}}, "load failed: {}",
            loaded.error().message);
  if (auto known = preloads_.find(circuit); known != preloads_.end()) known->second.error = loaded.error();
}

void Engine::note_overdue(const Decision& decision) {
  const Origin& origin = *decision.origin;
  const auto work = works_.find({decision.job, decision.partition});
  const auto job = open_.find(decision.job);
  const bool of_circuit = decision.job == 0;
  log::warn(
      {{"job", work != works_.end() ? work->second->job->id
               : job != open_.end() ? job->second->id
                                    : ""},
       {"circuit", of_circuit ? std::string_view(scheduler_.name(decision.circuit)) : ""},
       {"stage", kStageNames[static_cast<size_t>(origin.stage)]},
       partition_field(origin.partition),
       {"device", origin.device}},
      "a stage takes longer than {:g} s and is given up; it cannot be stopped, and what it holds stays held until "
      "it ends",
      std::chrono::duration<double>(options_.policy.stage_limit).count());
  overdue_[static_cast<size_t>(origin.stage)]++;
  if (auto known = preloads_.find(decision.circuit); of_circuit && known != preloads_.end())
    known->second.error = Error{Code::kDeadline, "its load takes too long and is given up"};
}

void Engine::keep_result(std::shared_ptr<Job> job) {
  kept_bytes_ += result_bytes(*job);
  kept_.push_back(std::move(job));
  forget_old_results();
}

void Engine::forget_old_results() {
  const Clock::time_point oldest = options_.now() - result_ttl_;
  while (!kept_.empty() && (kept_bytes_ > options_.result_bytes || kept_.front()->ended < oldest)) {
    const std::shared_ptr<Job> job = std::move(kept_.front());
    kept_.pop_front();
    kept_bytes_ -= result_bytes(*job);
    if (auto named = jobs_.find(job->id); named != jobs_.end() && named->second == job) jobs_.erase(named);
    if (options_.recorder) options_.recorder->forgotten(*job);
  }
}

// --- threads

std::shared_ptr<Statement> Engine::await_turn(const Job& job) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return job.statement || is_final(job.state); });
  parsing_ += job.statement != nullptr;
  return job.statement;
}

std::string Engine::name_of(size_t circuit) {
  std::lock_guard lock(mutex_);
  return scheduler_.name(circuit);
}

size_t Engine::begin_span(Job& job, Span span) {
  std::lock_guard lock(mutex_);
  span.begin = options_.now();
  job.spans.push_back(span);
  return job.spans.size() - 1;
}

void Engine::end_span(Job& job, size_t index, bool good, Clock::duration cpu) {
  std::lock_guard lock(mutex_);
  Span& span = job.spans[index];
  span.end = options_.now();
  span.good = good;
  job.times[span.stage] += *span.end - span.begin;
  job.cost.cpu += cpu;
  if (span.stage == Stage::kStart && devices_[span.device].spec.memory_bytes > 0)
    job.cost.gpu += *span.end - span.begin;
  totals_[job.kind].stages[static_cast<size_t>(span.stage)].add(*span.end - span.begin);
}

void Engine::run_stage(Work& work, StageBody stage, Report report) {
  const PartitionId id = work.id();
  Status done = work.granted;
  if (done) done = guarded<void>([&] { return (this->*stage)(work); });
  if (!done) {
    log::warn({{"job", work.job->id},
               {"partition", uint64_t{id.index}},
               {"device", work.device == kNoDevice ? "" : std::string_view(devices_[work.device].spec.name)},
               {"code", code_name(done.error().code)}},
              "attempt {} of {} failed: {}", work.attempt, options_.policy.attempts, printable(done.error().message));
  }
  const size_t device = work.device;
  // The scheduler may grant the memory to others as soon as it hears of the end.
  if (!done || report == &Scheduler::finished) let_go(id);
  std::lock_guard lock(mutex_);
  if (!done && device != kNoDevice) device_failures_[device][done.error().code]++;
  (scheduler_.*report)(id, std::move(done), options_.now());
  round();
}

void Engine::drop(PartitionId id) {
  let_go(id);
  std::lock_guard lock(mutex_);
  scheduler_.dropped(id, options_.now());
  round();
}

void Engine::let_go(PartitionId id) {
  std::unique_lock lock(mutex_);
  auto work = works_.extract({id.job, id.index});
  lock.unlock();  // a device may take its time to give memory back
}

// The scheduler bounds how much runs at a time, so a task never waits for a thread: one is made where all are busy.
void Engine::post(std::function<void()> task) {
  tasks_.push_back(std::move(task));
  if (tasks_.size() > idle_threads_) {
    threads_.emplace_back([this] { work(); });
  } else {
    posted_.notify_one();
  }
}

void Engine::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    idle_threads_++;
    posted_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
    idle_threads_--;
    if (tasks_.empty()) return;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    busy_++;
    lock.unlock();
    task();
    task = {};
    lock.lock();
    busy_--;
    changed_.notify_all();
  }
}

// Decides again when time alone makes a difference: deadlines, grace, quarantine.
void Engine::keep_time() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const auto wake = scheduler_.wake_time();
    if (!wake) {
      time_changed_.wait(lock);
    } else if (time_changed_.wait_for(lock, *wake - options_.now()) == std::cv_status::timeout) {
      round();
    }
  }
}

}  // namespace cuzk::engine
