// Events. The rules by which decisions are taken are in scheduler_rules.cpp.

#include "engine/scheduler.h"

#include <algorithm>

namespace cuzk::engine {
namespace {

bool holds_memory(Scheduler::Step step) { return step != Scheduler::Step::kWaiting && step != Scheduler::Step::kDone; }

// A failure that may be the device's and not the request's.
bool device_fault(Code code) { return code == Code::kUnavailable || code == Code::kResourceExhausted; }

Capacity memory(uint64_t total, uint64_t for_high, uint64_t for_critical) {
  for_critical = std::min(for_critical, total);
  for_high = std::min(for_high, total - for_critical);
  return Capacity(total - for_high - for_critical, for_high, for_critical);
}

}  // namespace

Scheduler::Scheduler(Policy policy, std::vector<DeviceSpec> devices) : policy_(std::move(policy)) {
  const Reserve &high = policy_.high, &critical = policy_.critical;
  auto places = [&](size_t open) { return Capacity(open, high.lanes, critical.lanes); };
  size_t workers = 0;
  for (DeviceSpec& spec : devices) {
    workers += spec.workers;
    Device& device = devices_.emplace_back();
    device.lanes = places(spec.workers);
    device.memory.capacity = memory(spec.memory_bytes, high.device_bytes, critical.device_bytes);
    device.spec = std::move(spec);
  }
  host_.capacity = memory(policy_.host_bytes, high.host_bytes, critical.host_bytes);
  requests_ = memory(policy_.request_bytes, high.request_bytes, critical.request_bytes);
  waiting_ = Capacity(policy_.max_waiting, high.waiting, critical.waiting);
  parsers_ = places(policy_.parsers);
  loaders_ = places(policy_.loaders);
  permits_ = places(policy_.partition_workers);
  finishers_ = places(policy_.finishers > 0 ? policy_.finishers : workers);
}

size_t Scheduler::circuit(const std::string& id) {
  auto [known, is_new] = circuit_index_.try_emplace(id, circuits_.size());
  if (is_new) circuits_.push_back({.id = id, .params = std::vector<Resident>(devices_.size())});
  return known->second;
}

void Scheduler::know(size_t circuit, CircuitNeeds needs) { circuits_[circuit].needs = std::move(needs); }

// --- jobs

Status Scheduler::admit(JobId id, const JobSpec& spec, Time now) {
  now_ = now;
  if (draining_) return fail(Code::kUnavailable, "the engine is shutting down; send the request again later");
  if (!spec.resumed && !waiting_.fits(spec.priority, 1)) {
    return fail(Code::kResourceExhausted, "{} jobs wait already, which is the limit; send the request again later",
                waiting_.used());
  }
  if (spec.request_bytes > requests_.limit(spec.priority)) {
    return fail(Code::kTooLarge, "the request takes {} of memory; all requests together may take {}",
                readable_size(spec.request_bytes), readable_size(requests_.limit(spec.priority)));
  }
  waiting_.take(spec.priority, 1);
  const OrderKey key{now - policy_.ageing * static_cast<int>(spec.priority), id};
  Job& job = jobs_.emplace(key, Job{.id = id, .rank = key.rank, .spec = spec}).first->second;
  by_id_[id] = &job;
  unparsed_.add(spec.priority, key, job);
  start_timer(job);
  return {};
}

void Scheduler::parsed(JobId id, Result<Parsed> parsed, Time now) {
  now_ = now;
  Job* job = find(id);
  if (!job) return;
  job->parsing = false;
  ended_late(job->watch, kNoDevice);
  parsers_.give(job->spec.priority, 1);
  see_activity(*job);
  if (!is_final(job->state)) {
    if (!parsed) {
      conclude(*job, State::kFailed, std::move(parsed).error(), Origin{Stage::kParse});
    } else {
      job->circuit = parsed->circuit;
      job->partitions.resize(parsed->partitions);
      count(*job, Step::kWaiting, static_cast<int>(parsed->partitions));
      job->state = State::kWaiting;
      if (auto never = never_fits(job->circuit, job->spec.priority))
        conclude(*job, State::kFailed, std::move(never), Origin{Stage::kWait});
    }
  }
  forget_if_over(*job);
}

void Scheduler::end(JobId id, State state, Error error, Time now) {
  now_ = now;
  Job* job = find(id);
  if (!job) return;
  conclude(*job, state, std::move(error));
  forget_if_over(*job);
}

void Scheduler::watched(JobId id, bool watched, Time now) {
  now_ = now;
  Job* job = find(id);
  if (!job || is_final(job->state)) return;
  stop_timer(*job);
  job->leave_at = watched ? std::nullopt : std::optional(now + policy_.grace);
  start_timer(*job);
}

void Scheduler::drain(Time now) {
  now_ = now;
  draining_ = true;
  conclude_all([](const Job& job) { return job.state != State::kRunning; }, State::kFailed,
               {Code::kUnavailable, "the engine is shutting down; send the request again later"});
}

Scheduler::Job* Scheduler::find(JobId id) {
  auto job = by_id_.find(id);
  return job == by_id_.end() ? nullptr : job->second;
}

void Scheduler::start_timer(Job& job) {
  if (const auto expiry = job.expiry()) timers_.insert({*expiry, job.id});
}

void Scheduler::stop_timer(Job& job) {
  if (const auto expiry = job.expiry()) timers_.erase({*expiry, job.id});
}

void Scheduler::conclude(Job& job, State state, std::optional<Error> error, std::optional<Origin> origin) {
  if (is_final(job.state)) return;
  if (job.state != State::kRunning) waiting_.give(job.spec.priority, 1);
  if (job.state == State::kParsing && !job.parsing) unparsed_.remove(job.spec.priority, job.key());
  stop_timer(job);
  job.state = state;
  Decision decision{
      .kind = Kind::kEnd, .job = job.id, .state = state, .error = std::move(error), .origin = std::move(origin)};
  out_.push_back(std::move(decision));
  for (Partition& partition : job.partitions) {
    if (partition.step == Step::kWaiting) move(job, partition, Step::kDone);
    if (partition.step == Step::kReady || partition.step == Step::kStarted) drop(job, partition);
  }
}

void Scheduler::conclude_all(const std::function<bool(const Job&)>& which, State state, const Error& error,
                             const std::optional<Origin>& origin) {
  std::vector<JobId> chosen;
  for (const auto& [key, job] : jobs_) {
    if (!is_final(job.state) && which(job)) chosen.push_back(job.id);
  }
  for (JobId id : chosen) {
    Job& job = *find(id);
    conclude(job, state, error, origin);
    forget_if_over(job);
  }
}

// The job may be gone afterwards.
void Scheduler::forget_if_over(Job& job) {
  if (!is_final(job.state) || job.parsing || job.at(Step::kDone) != job.partitions.size()) return;
  if (job.holds_request) requests_.give(job.spec.priority, job.spec.request_bytes);
  by_id_.erase(job.id);
  jobs_.erase(job.key());
}

// --- circuits and parameters

void Scheduler::circuit_loaded(size_t circuit, Result<CircuitNeeds> needs, Time now) {
  now_ = now;
  Circuit& c = circuits_[circuit];
  Status status;
  if (!needs) {
    status = tl::unexpected(std::move(needs).error());
  } else if (needs->circuit_bytes > c.self.held.host) {
    status = fail(Code::kTooLarge, "circuit {} takes {} of memory; {} are set aside for it", c.id,
                  readable_size(needs->circuit_bytes), readable_size(c.self.held.host));
  } else {
    host_.capacity.give(c.self.priority, c.self.held.host - needs->circuit_bytes);
    c.self.held.host = needs->circuit_bytes;
    c.needs = std::move(*needs);
  }
  loaded(circuit, kNoDevice, status);
  if (!status) return;
  for (Priority priority : {Priority::kLow, Priority::kNormal, Priority::kHigh, Priority::kCritical}) {
    auto never = never_fits(circuit, priority);
    if (!never) continue;
    conclude_all(
        [&](const Job& job) {
          return job.state != State::kParsing && job.circuit == circuit && job.spec.priority == priority;
        },
        State::kFailed, *never, Origin{Stage::kWait});
  }
}

void Scheduler::params_loaded(size_t circuit, size_t device, Status status, Time now) {
  now_ = now;
  const bool late = circuits_[circuit].params[device].watch.overdue;
  loaded(circuit, device, status);
  if (!late && !status && device_fault(status.error().code)) blame(device);
}

void Scheduler::params_shrunk(size_t circuit, size_t device, uint64_t host_bytes) {
  Resident& resident = circuits_[circuit].params[device];
  const uint64_t left = std::min(resident.held.host, host_bytes);
  host_.capacity.give(resident.priority, resident.held.host - left);
  resident.held.host = left;
}

void Scheduler::loaded(size_t circuit, size_t device, const Status& status) {
  Circuit& c = circuits_[circuit];
  Resident& resident = resident_of(circuit, device);
  loaders_.give(resident.priority, 1);
  loading_--;
  ended_late(resident.watch, device);
  if (device != kNoDevice) c.self.users--;
  resident.last_used = now_;
  if (status) {
    resident.state = Residency::kReady;
    c.failed_loads = 0;
    return;
  }
  give_back(resident, device);
  resident.retry_from = now_ + policy_.quarantine;
  if (retryable(status.error().code) && ++c.failed_loads < policy_.attempts) return;
  c.failed_loads = 0;
  c.preload = c.pinned = false;
  fail_for_lack(circuit, device, status.error());
}

// Jobs that a load was for, where there will be no other copy.
void Scheduler::fail_for_lack(size_t circuit, size_t device, const Error& error) {
  const std::vector<Resident>& copies = circuits_[circuit].params;
  const bool another =
      device != kNoDevice && std::any_of(copies.begin(), copies.end(), [](const Resident& copy) {
        return copy.state == Residency::kReady || (copy.state == Residency::kLoading && !copy.watch.overdue);
      });
  if (another) return;
  conclude_all([&](const Job& job) { return job.circuit == circuit && job.at(Step::kWaiting) > 0; }, State::kFailed,
               error, load_origin(device));
}

void Scheduler::evicted(size_t circuit, size_t device, Time now) {
  now_ = now;
  give_back(resident_of(circuit, device), device);
  loading_--;
}

void Scheduler::preload(size_t circuit) { circuits_[circuit].preload = circuits_[circuit].pinned = true; }

bool Scheduler::unload(size_t circuit) {
  Circuit& c = circuits_[circuit];
  c.preload = c.pinned = false;
  if (c.self.users > 0 || c.self.state == Residency::kLoading) return false;
  for (size_t device = 0; device < devices_.size(); device++) {
    if (c.params[device].state == Residency::kReady) evict(circuit, device);
  }
  if (c.self.state == Residency::kReady) evict(circuit, kNoDevice);
  return true;
}

// A proof that was made with this copy is wrong, and the machine or the copy is at fault. Nothing where it has left.
void Scheduler::doubt(size_t circuit, size_t device, uint64_t copy) {
  Circuit& c = circuits_[circuit];
  Resident& params = c.params[device];
  if (params.copy != copy || params.state != Residency::kReady) return;
  blame(device);
  params.state = Residency::kDoubted;
  params.doubts++;
  c.preload = c.preload || c.pinned;
  for (const auto& [key, job] : active_) {
    for (Partition& partition : job->partitions) {
      if (partition.step == Step::kReady && job->circuit == circuit && partition.place == device) drop(*job, partition);
    }
  }
}

void Scheduler::evict(size_t circuit, size_t device) {
  const bool doubted = std::exchange(resident_of(circuit, device).state, Residency::kEvicting) == Residency::kDoubted;
  loading_++;
  out_.push_back({.kind = Kind::kEvict, .circuit = circuit, .device = device, .doubted = doubted});
}

void Scheduler::give_back(Resident& resident, size_t device) {
  host_.capacity.give(resident.priority, resident.held.host);
  if (device != kNoDevice) devices_[device].memory.capacity.give(resident.priority, resident.held.device);
  resident.held = {};
  resident.state = Residency::kAbsent;
}

const Scheduler::Resident& Scheduler::resident_of(size_t circuit, size_t device) const {
  return device == kNoDevice ? circuits_[circuit].self : circuits_[circuit].params[device];
}

Scheduler::Resident& Scheduler::resident_of(size_t circuit, size_t device) {
  return device == kNoDevice ? circuits_[circuit].self : circuits_[circuit].params[device];
}

// --- partitions

void Scheduler::synthesised(PartitionId id, Status made, Time now) {
  now_ = now;
  Job& job = *find(id.job);
  Partition& partition = job.partitions[id.index];
  ended_late(partition.watch, kNoDevice);
  if (!made) {
    give_permit(job, partition);
    shrink(job, partition, {});
    again_or_fail(job, partition, Stage::kSynthesise, std::move(made).error());
    return forget_if_over(job);
  }
  if (!policy_.permit_through_hand_over) give_permit(job, partition);
  move(job, partition, Step::kReady);
  if (partition.suspect != kNoDevice) {  // the rows were checked and hold
    partition.rows_hold = true;
    doubt(job.circuit, std::exchange(partition.suspect, kNoDevice), partition.copy);
  }
  if (partition.step != Step::kReady) return;
  const bool ready = resident_of(job.circuit, partition.place).state == Residency::kReady;
  if (is_final(job.state) || !usable(partition.place) || !ready) drop(job, partition);
}

void Scheduler::started(PartitionId id, Status started, Time now) {
  now_ = now;
  Job& job = *find(id.job);
  Partition& partition = job.partitions[id.index];
  devices_[partition.place].lanes.give(job.spec.priority, 1);
  const bool late = ended_late(partition.watch, partition.place);
  if (!started) {
    shrink(job, partition, {});
    partition.avoided |= uint64_t{1} << partition.place;
    if (!late && device_fault(started.error().code)) blame(partition.place);
    again_or_fail(job, partition, Stage::kStart, std::move(started).error());
    return forget_if_over(job);
  }
  shrink(job, partition, needs_of(job, partition.place).pending);
  move(job, partition, Step::kStarted);
  if (is_final(job.state)) drop(job, partition);
}

void Scheduler::finished(PartitionId id, Status finished, Time now) {
  now_ = now;
  Job& job = *find(id.job);
  Partition& partition = job.partitions[id.index];
  finishers_.give(job.spec.priority, 1);
  ended_late(partition.watch, kNoDevice);
  shrink(job, partition, {});
  const size_t device = partition.place;
  if (finished) {
    devices_[device].failures = devices_[device].quarantines = 0;
    move(job, partition, Step::kDone);
    if (job.at(Step::kDone) == job.partitions.size()) conclude(job, State::kCompleted, std::nullopt);
  } else {
    partition.avoided |= uint64_t{1} << device;
    const bool wrong = finished.error().code == Code::kVerifyFailed;
    if (wrong && !partition.rows_hold) {
      partition.suspect = device;  // or the witness; the next attempt looks at its rows first
    } else if (wrong || device_fault(finished.error().code)) {
      blame(device);
    }
    again_or_fail(job, partition, wrong ? Stage::kVerify : Stage::kFinish, std::move(finished).error());
  }
  forget_if_over(job);
}

void Scheduler::dropped(PartitionId id, Time now) {
  now_ = now;
  Job& job = *find(id.job);
  Partition& partition = job.partitions[id.index];
  give_permit(job, partition);
  shrink(job, partition, {});
  move(job, partition, is_final(job.state) ? Step::kDone : Step::kWaiting);
  forget_if_over(job);
}

void Scheduler::shrunk(PartitionId id, Footprint left, Time now) {
  now_ = now;
  Job* job = find(id.job);
  if (!job) return;
  Partition& partition = job->partitions[id.index];
  shrink(*job, partition, {std::min(left.host, partition.held.host), std::min(left.device, partition.held.device)});
}

void Scheduler::move(Job& job, Partition& partition, Step step) {
  if (!holds_memory(step)) use(job, partition, kNoDevice);
  count(job, partition.step, -1);
  count(job, step, 1);
  see_activity(job);
  partition.step = step;
  partition.watch = {now_};
}

void Scheduler::count(Job& job, Step step, int change) {
  uint32_t& partitions = job.at(step);
  const bool before = partitions > 0;
  partitions += static_cast<uint32_t>(change);
  if (step <= Step::kReady) circuits_[job.circuit].backlog += static_cast<size_t>(change);
  if (step != Step::kWaiting || before == (partitions > 0)) return;
  before ? unbegun_.remove(job.alike(), job.key()) : unbegun_.add(job.alike(), job.key(), job);
}

void Scheduler::see_activity(Job& job) {
  if (job.parsing || job.at(Step::kWaiting) + job.at(Step::kDone) < job.partitions.size()) {
    active_.emplace(job.key(), &job);
  } else {
    active_.erase(job.key());
  }
}

// From now on the partition holds the parameters on this device, and the circuit.
void Scheduler::use(Job& job, Partition& partition, size_t place) {
  Circuit& circuit = circuits_[job.circuit];
  for (size_t change : {partition.place, place}) {
    if (change == kNoDevice) continue;
    circuit.self.last_used = circuit.params[change].last_used = now_;
  }
  if (place != kNoDevice) circuit.self.users++, circuit.params[place].users++;
  if (partition.place != kNoDevice) circuit.self.users--, circuit.params[partition.place].users--;
  partition.place = place;
}

void Scheduler::shrink(Job& job, Partition& partition, Footprint left) {
  const Footprint held = partition.held;
  host_.capacity.give(job.spec.priority, held.host - left.host);
  if (held.device > 0) devices_[partition.place].memory.capacity.give(job.spec.priority, held.device - left.device);
  partition.held = left;
}

void Scheduler::give_permit(Job& job, Partition& partition) {
  if (std::exchange(partition.permit, false)) permits_.give(job.spec.priority, 1);
}

void Scheduler::drop(Job& job, Partition& partition) {
  const bool started = partition.step == Step::kStarted;
  move(job, partition, Step::kDropping);
  emit(Kind::kDrop, job, partition).started = started;
}

Origin Scheduler::origin_of(const Job& job, const Partition& partition, Stage stage) const {
  return {stage, static_cast<uint32_t>(&partition - job.partitions.data()), partition.attempt,
          stage < Stage::kStart ? "" : devices_[partition.place].spec.name};
}

Origin Scheduler::load_origin(size_t device) const {
  if (device == kNoDevice) return {Stage::kCircuit};
  return {.stage = Stage::kParams, .device = devices_[device].spec.name};
}

void Scheduler::again_or_fail(Job& job, Partition& partition, Stage stage, Error error) {
  const bool worth_it = retryable(error.code) || error.code == Code::kVerifyFailed;
  if (!is_final(job.state) && worth_it && partition.attempt < policy_.attempts) {
    partition.attempt++;
    if (!std::exchange(job.retried, true) && job.at(Step::kWaiting) > 0) {
      unbegun_.remove({job.circuit, job.spec.priority, kNoJob}, job.key());
      unbegun_.add(job.alike(), job.key(), job);
    }
    return move(job, partition, Step::kWaiting);
  }
  Origin origin = origin_of(job, partition, stage);
  move(job, partition, Step::kDone);
  conclude(job, State::kFailed, std::move(error), std::move(origin));
}

void Scheduler::blame(size_t device) {
  if (++devices_[device].failures >= policy_.device_failures) quarantine(device);
}

void Scheduler::quarantine(size_t index) {
  Device& device = devices_[index];
  device.usable_from = now_ + policy_.quarantine * (1 << std::min(device.quarantines, 6u));
  device.quarantines++;
  device.failures = policy_.device_failures - 1;  // one more after that, and it rests again
  for (const auto& [key, job] : active_) {
    for (Partition& partition : job->partitions) {
      if (partition.step == Step::kReady && partition.place == index) drop(*job, partition);
    }
  }
}

// Whether a stage that ends now had been given up.
bool Scheduler::ended_late(Watch& watch, size_t device) {
  if (!std::exchange(watch.overdue, false)) return false;
  stale_reports_++;
  if (device != kNoDevice) devices_[device].overdue--;
  return true;
}

Decision& Scheduler::emit(Kind kind, const Job& job, const Partition& partition) {
  out_.push_back({.kind = kind,
                  .job = job.id,
                  .partition = static_cast<uint32_t>(&partition - job.partitions.data()),
                  .circuit = job.circuit,
                  .device = partition.place,
                  .attempt = partition.attempt});
  return out_.back();
}

// --- views

std::vector<Scheduler::JobView> Scheduler::jobs() const {
  std::vector<JobView> views;
  for (const auto& [key, job] : jobs_)
    views.push_back({job.id, job.spec.priority, job.state, key.rank, job.circuit, job.count});
  return views;
}

std::vector<Scheduler::Step> Scheduler::steps(JobId id) const {
  std::vector<Step> steps;
  if (auto job = by_id_.find(id); job != by_id_.end()) {
    for (const Partition& partition : job->second->partitions) steps.push_back(partition.step);
  }
  return steps;
}

Scheduler::Usage Scheduler::device_memory(size_t device) const {
  const Capacity& memory = devices_[device].memory.capacity;
  return {memory.used(), memory.limit(Priority::kCritical)};
}

Scheduler::Health Scheduler::health(size_t index) const {
  const Device& device = devices_[index];
  return {device.failures, usable(index) ? std::nullopt : std::optional(device.usable_from), device.lanes.used(),
          device.quarantines};
}

Scheduler::Residency Scheduler::resident(size_t circuit, size_t device) const {
  return resident_of(circuit, device).state;
}

std::string Scheduler::describe() const {
  constexpr std::array kSteps = {"waiting", "synthesising", "ready", "starting", "started", "finishing", "dropping"};
  constexpr std::array kStates = {"absent", "loading", "ready", "doubted", "evicting"};
  std::string text;
  auto pool = [&](std::string_view name, const Capacity& capacity) {
    text += fmt::format("{}: {} of {}\n", name, readable_size(capacity.used()),
                        readable_size(capacity.limit(Priority::kCritical)));
  };
  for (const auto& [key, job] : jobs_) {
    text += fmt::format("job {}, priority {}, state {}, {}:", job.id, static_cast<int>(job.spec.priority),
                        static_cast<int>(job.state), circuits_.empty() ? "" : circuits_[job.circuit].id);
    for (size_t step = 0; step < kSteps.size(); step++) {
      if (job.count[step] > 0) text += fmt::format(" {} {}", job.count[step], kSteps[step]);
    }
    text += '\n';
  }
  pool("host memory", host_.capacity);
  pool("requests", requests_);
  for (size_t d = 0; d < devices_.size(); d++) {
    pool(devices_[d].spec.name, devices_[d].memory.capacity);
    text += fmt::format("  {} running, {} failures{}\n", devices_[d].lanes.used(), devices_[d].failures,
                        devices_[d].overdue > 0 ? ", a stage is overdue"
                        : usable(d)             ? ""
                                                : ", quarantined");
  }
  for (const Circuit& circuit : circuits_) {
    text += fmt::format("{}: {}", circuit.id, kStates[static_cast<size_t>(circuit.self.state)]);
    for (const Resident& params : circuit.params)
      text += fmt::format(", parameters {} with {} users", kStates[static_cast<size_t>(params.state)], params.users);
    text += '\n';
  }
  return text;
}

std::optional<Time> Scheduler::wake_time() const {
  std::optional<Time> first;
  auto consider = [&](std::optional<Time> time) {
    if (time && *time > now_ && (!first || *time < *first)) first = time;
  };
  auto watch = [&](const Watch& stage) {
    if (policy_.stage_limit > Clock::duration{}) consider(stage.since + policy_.stage_limit);
  };
  for (const auto& [key, job] : active_) {
    if (job->parsing) watch(job->watch);
    for (size_t p = 0; job->busy() > 0 && p < job->partitions.size(); p++) {
      if (stage_of(job->partitions[p].step)) watch(job->partitions[p].watch);
    }
  }
  if (auto timer = timers_.upper_bound({now_, UINT64_MAX}); timer != timers_.end()) consider(timer->first);
  for (const Device& device : devices_) consider(device.usable_from);
  for (const Circuit& circuit : circuits_) {
    if (circuit.self.state == Residency::kLoading) watch(circuit.self.watch);
    for (const Resident& resident : circuit.params) {
      consider(resident.retry_from);
      if (resident.state == Residency::kLoading) watch(resident.watch);
    }
  }
  return first;
}

}  // namespace cuzk::engine
