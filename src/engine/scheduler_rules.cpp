// The rules by which decisions are taken. Events are in scheduler.cpp.

#include <algorithm>
#include <bit>

#include "engine/scheduler.h"

namespace cuzk::engine {
namespace {

constexpr uint64_t bit(size_t device) { return uint64_t{1} << device; }
constexpr size_t index(Priority priority) { return static_cast<size_t>(priority); }

}  // namespace

// What was begun is finished first, since only that gives memory back; a new partition comes after those that hold a
// witness, and a new request last.
std::vector<Decision> Scheduler::decide(Time now) {
  now_ = now;
  for (Capacity* places : {&host_.capacity, &requests_, &parsers_, &loaders_, &permits_, &finishers_})
    places->unblock();
  for (Device& device : devices_) {
    device.lanes.unblock();
    device.memory.capacity.unblock();
  }
  expire();
  finish_partitions();
  start_partitions();
  evict_doubted();
  admit_partitions();
  parse_requests();
  return std::exchange(out_, {});
}

void Scheduler::expire() {
  while (!timers_.empty() && timers_.begin()->first <= now_) {
    Job& job = *find(timers_.begin()->second);
    if (job.spec.deadline && *job.spec.deadline <= now_) {
      conclude(job, State::kFailed, Error{Code::kDeadline, "the deadline passed before the proof was made"});
    } else {
      conclude(job, State::kCancelled, Error{Code::kCancelled, "nobody waits for the proof any more"});
    }
    forget_if_over(job);
  }
  if (policy_.stage_limit > Clock::duration{}) give_up_overdue();
}

void Scheduler::give_up_overdue() {
  for (const auto& [key, active] : active_) {
    Job& job = *active;
    if (job.parsing && exceeds_limit(job.watch)) {
      Error error = give_up(job.watch, {.job = job.id, .origin = Origin{Stage::kParse}});
      conclude(job, State::kFailed, std::move(error), Origin{Stage::kParse});
    }
    if (job.busy() == 0) continue;
    for (Partition& partition : job.partitions) {
      const std::optional<Stage> stage = stage_of(partition.step);
      if (!stage || !exceeds_limit(partition.watch)) continue;
      const Origin origin = origin_of(job, partition, *stage);
      const size_t device = stage == Stage::kStart ? partition.place : kNoDevice;
      Error error = give_up(partition.watch, {.job = job.id,
                                              .partition = origin.partition,
                                              .circuit = job.circuit,
                                              .device = device,
                                              .attempt = origin.attempt,
                                              .origin = origin});
      conclude(job, State::kFailed, std::move(error), origin);
    }
  }
  for (size_t c = 0; c < circuits_.size(); c++) {
    auto look_at = [&](Resident& resident, size_t device) {
      if (resident.state != Residency::kLoading || !exceeds_limit(resident.watch)) return;
      fail_for_lack(c, device,
                    give_up(resident.watch, {.circuit = c, .device = device, .origin = load_origin(device)}));
    };
    look_at(circuits_[c].self, kNoDevice);
    for (size_t d = 0; d < devices_.size(); d++) look_at(circuits_[c].params[d], d);
  }
}

// Once a limit: while it goes on, its device is quarantined again and again.
Error Scheduler::give_up(Watch& watch, Decision stage) {
  const Origin& origin = *stage.origin;
  const std::string partition = origin.partition == kWholeJob ? "" : fmt::format("partition {}: ", origin.partition);
  Error error{Code::kDeadline, fmt::format("{}stage {} takes longer than {:g} s and is given up", partition,
                                           kStageNames[static_cast<size_t>(origin.stage)],
                                           std::chrono::duration<double>(policy_.stage_limit).count())};
  watch.since = now_;
  const bool again = std::exchange(watch.overdue, true);
  if (stage.device != kNoDevice) {
    devices_[stage.device].overdue += !again;
    quarantine(stage.device);
  }
  stage.kind = Kind::kOverdue;
  if (!again) out_.push_back(std::move(stage));
  return error;
}

std::optional<Stage> Scheduler::stage_of(Step step) {
  switch (step) {
    case Step::kSynthesising: return Stage::kSynthesise;
    case Step::kStarting: return Stage::kStart;
    case Step::kFinishing: return Stage::kFinish;
    default: return std::nullopt;
  }
}

void Scheduler::finish_partitions() {
  for (const auto& [key, active] : active_) {
    Job& job = *active;
    if (job.at(Step::kStarted) == 0) continue;
    for (Partition& partition : job.partitions) {
      if (partition.step != Step::kStarted) continue;
      if (!finishers_.fits(job.spec.priority, 1)) {
        finishers_.block(job.spec.priority, 1);
        break;
      }
      finishers_.take(job.spec.priority, 1);
      move(job, partition, Step::kFinishing);
      emit(Kind::kFinish, job, partition);
    }
  }
}

void Scheduler::start_partitions() {
  for (const auto& [key, job] : active_) {
    if (job->at(Step::kReady) == 0) continue;
    for (Partition& partition : job->partitions) {
      if (partition.step == Step::kReady) start(*job, partition);
    }
  }
}

// On the device with the fewest stages among those where it fits; one that fits nowhere is not overtaken anywhere.
bool Scheduler::start(Job& job, Partition& partition) {
  const Circuit& circuit = circuits_[job.circuit];
  const Priority priority = job.spec.priority;
  const uint64_t devices = candidates(circuit, partition, priority);
  auto may_run_on = [&](size_t d) {
    if (circuit.params[d].state != Residency::kReady) return false;
    return d == partition.place || ((devices & bit(d)) && !devices_[d].load_waits);
  };
  size_t best = kNoDevice;
  for (size_t d = 0; d < devices_.size(); d++) {
    const Footprint& need = circuit.needs->devices[d].start;
    if (may_run_on(d) && devices_[d].lanes.fits(priority, 1) && host_.capacity.fits(priority, need.host) &&
        devices_[d].memory.capacity.fits(priority, need.device) &&
        (best == kNoDevice || devices_[d].lanes.used() < devices_[best].lanes.used()))
      best = d;
  }
  if (best == kNoDevice) {
    for (size_t d = 0; d < devices_.size(); d++) {
      if (!may_run_on(d)) continue;
      devices_[d].lanes.block(priority, 1);
      host_.capacity.block(priority, circuit.needs->devices[d].start.host);
      devices_[d].memory.capacity.block(priority, circuit.needs->devices[d].start.device);
    }
    return false;
  }
  const Footprint& need = circuit.needs->devices[best].start;
  devices_[best].lanes.take(priority, 1);
  host_.capacity.take(priority, need.host);
  devices_[best].memory.capacity.take(priority, need.device);
  give_permit(job, partition);
  use(job, partition, best);
  partition.copy = circuit.params[best].copy;
  partition.held = {partition.held.host + need.host, need.device};
  move(job, partition, Step::kStarting);
  emit(Kind::kStart, job, partition).grant = need;
  return true;
}

void Scheduler::evict_doubted() {
  for (size_t c = 0; c < circuits_.size(); c++) {
    for (size_t d = 0; d < devices_.size(); d++) {
      const Resident& params = circuits_[c].params[d];
      if (params.state == Residency::kDoubted && params.users == 0) evict(c, d);
    }
  }
}

void Scheduler::admit_partitions() {
  survey();
  unbegun_.serve([&](Job& job) {
    const Priority priority = job.spec.priority;
    Circuit& circuit = circuits_[job.circuit];
    circuit.wanted = true;
    if (circuit.self.state != Residency::kReady) {
      load_circuit(job.circuit, priority, For::kJob, job.id);
      return false;
    }
    uint64_t asked = 0;  // devices that parameters were to be loaded on
    for (Partition& partition : job.partitions) {
      if (partition.step != Step::kWaiting) continue;
      const uint64_t devices = candidates(circuit, partition, priority);
      size_t place = kNoDevice;
      for (size_t d = 0; d < devices_.size(); d++) {
        if (!(devices & bit(d)) || circuit.params[d].state != Residency::kReady) continue;
        const bool fits = has_room(devices_[d].memory, priority, 0, needs_of(job, d).start.device);
        if (place == kNoDevice || fits) place = d;
        if (fits) break;
      }
      if (place == kNoDevice) {
        if (std::exchange(asked, devices) != devices) load_params(job.circuit, devices, priority, For::kJob);
        continue;
      }
      circuit.keep |= bit(place);
      if (!synthesise(job, partition, place)) break;
    }
    spread(job.circuit, priority);
    return job.at(Step::kWaiting) == 0;
  });
  preload();
}

// Begins a partition, promising that it will fit on `device` after its synthesis.
bool Scheduler::synthesise(Job& job, Partition& partition, size_t d) {
  const Priority priority = job.spec.priority;
  const uint64_t witness = circuits_[job.circuit].needs->witness_bytes;
  const Footprint& later = needs_of(job, d).start;
  Pool& memory = devices_[d].memory;
  const bool permit = permits_.fits(priority, 1);
  const bool host = has_room(host_, priority, witness, later.host);
  const bool device = has_room(memory, priority, 0, later.device);
  if (!permit || !host || !device) {
    if (!permit) permits_.block(priority, 1);
    keep_or_wait(host, kNoDevice, priority, witness, later.host);
    keep_or_wait(device, d, priority, 0, later.device);
    return false;
  }
  permits_.take(priority, 1);
  host_.capacity.take(priority, witness);
  hold(host_, priority, witness, later.host);
  hold(memory, priority, 0, later.device);
  partition.permit = true;
  use(job, partition, d);
  partition.held = {witness, 0};
  if (job.state == State::kWaiting) {
    job.state = State::kRunning;
    waiting_.give(priority, 1);
  }
  move(job, partition, Step::kSynthesising);
  Decision& decision = emit(Kind::kSynthesise, job, partition);
  decision.grant = partition.held;
  decision.check_rows = partition.suspect != kNoDevice;
  return true;
}

void Scheduler::parse_requests() {
  unparsed_.serve([&](Job& job) {
    const Priority priority = job.spec.priority;
    const uint64_t bytes = job.spec.request_bytes;
    if (!parsers_.fits(priority, 1) || !requests_.fits(priority, bytes)) {
      parsers_.block(priority, 1);
      requests_.block(priority, bytes);
      return false;
    }
    parsers_.take(priority, 1);
    requests_.take(priority, bytes);
    job.parsing = job.holds_request = true;
    job.watch = {now_};
    unparsed_.remove(priority, job.key());
    see_activity(job);
    out_.push_back({.kind = Kind::kParse, .job = job.id, .grant = {bytes, 0}});
    return true;
  });
}

// --- circuits and parameters

void Scheduler::load_circuit(size_t circuit, Priority priority, For what, JobId job) {
  const Circuit& c = circuits_[circuit];
  if (c.self.state != Residency::kAbsent) return;
  const uint64_t allowance = std::min(policy_.circuit_allowance, host_.capacity.limit(priority) / 4);
  load(circuit, kNoDevice, {c.needs ? c.needs->circuit_bytes : allowance, 0}, priority, what, job);
}

// Onto one of `devices`, the one with the most memory left; none where one is loading already.
void Scheduler::load_params(size_t circuit, uint64_t devices, Priority priority, For what) {
  const Circuit& c = circuits_[circuit];
  auto room = [&](size_t d) {
    const Pool& pool = devices_[d].memory;
    return pool.capacity.limit(priority) - std::min(pool.capacity.limit(priority), pool.held[index(priority)]);
  };
  size_t best = kNoDevice;
  for (size_t d = 0; d < devices_.size(); d++) {
    if (!(devices & bit(d))) continue;
    if (c.params[d].state != Residency::kAbsent) return;
    if (best == kNoDevice || room(d) > room(best)) best = d;
  }
  if (best == kNoDevice) return;
  load(circuit, best, c.needs->devices[best].params, priority, what, 0);
}

// A further copy where more partitions wait than the devices that have one will take next, and memory is to be had.
void Scheduler::spread(size_t circuit, Priority priority) {
  const Circuit& c = circuits_[circuit];
  size_t workers = 0;
  for (size_t d = 0; d < devices_.size(); d++) {
    if (c.params[d].state == Residency::kLoading) return;
    if (c.params[d].state == Residency::kReady && usable(d)) workers += devices_[d].spec.workers;
  }
  if (workers == 0 || c.backlog <= workers) return;
  for (size_t d = 0; d < devices_.size(); d++) {
    if (c.params[d].state != Residency::kAbsent || c.params[d].retry_from > now_ || !usable(d)) continue;
    if (can_hold(c, d, priority)) return load_params(circuit, bit(d), priority, For::kConvenience);
  }
}

void Scheduler::preload() {
  for (size_t c = 0; c < circuits_.size(); c++) {
    Circuit& circuit = circuits_[c];
    if (!circuit.preload) continue;
    if (circuit.self.state != Residency::kReady) {
      load_circuit(c, Priority::kLow, For::kConvenience, 0);
      continue;
    }
    bool more = false;
    for (size_t d = 0; d < devices_.size(); d++) {
      if (circuit.params[d].state == Residency::kReady || !can_hold(circuit, d, Priority::kLow)) continue;
      if (usable(d) && circuit.params[d].retry_from <= now_) load_params(c, bit(d), Priority::kLow, For::kConvenience);
      more = true;
    }
    circuit.preload = more;
  }
}

// Grants a load, or asks for the memory that it lacks, and for what one partition needs beside it.
void Scheduler::load(size_t circuit, size_t device, Footprint amount, Priority priority, For what, JobId job) {
  const Circuit& c = circuits_[circuit];
  const uint64_t witness = device == kNoDevice ? 0 : c.needs->witness_bytes;
  const Footprint after = device == kNoDevice ? Footprint{} : c.needs->devices[device].start;
  const bool lane = loaders_.fits(priority, 1);
  const bool host = has_room(host_, priority, amount.host + witness, after.host);
  const bool fits = device == kNoDevice || has_room(pool_of(device), priority, amount.device, after.device);
  if (!lane || !host || !fits) {
    if (what == For::kConvenience) {
      if (!host) evict_idle(kNoDevice, priority, amount.host + witness, after.host, what);
      if (!fits) evict_idle(device, priority, amount.device, after.device, what);
      return;
    }
    if (!lane) loaders_.block(priority, 1);
    keep_or_wait(host, kNoDevice, priority, amount.host + witness, after.host);
    if (device != kNoDevice) keep_or_wait(fits, device, priority, amount.device, after.device);
    if (!fits) devices_[device].load_waits = true;
    return;
  }
  Resident& resident = resident_of(circuit, device);
  resident.state = Residency::kLoading;
  resident.copy++;
  resident.watch = {now_};
  resident.held = amount;
  resident.priority = priority;
  loaders_.take(priority, 1);
  loading_++;
  host_.capacity.take(priority, amount.host);
  hold(host_, priority, amount.host, 0);
  if (device != kNoDevice) {
    circuits_[circuit].self.users++;  // until it is loaded
    pool_of(device).capacity.take(priority, amount.device);
    hold(pool_of(device), priority, amount.device, 0);
  }
  out_.push_back({.kind = device == kNoDevice ? Kind::kLoadCircuit : Kind::kLoadParams,
                  .job = job,
                  .circuit = circuit,
                  .device = device,
                  .grant = amount,
                  .priority = priority});
}

// --- room

// Counts, for this round, what is held by those who will ask for more or stay, and how much more.
void Scheduler::survey() {
  host_.held = host_.largest = host_.kept = {};
  for (Device& device : devices_) {
    device.memory.held = device.memory.largest = device.memory.kept = {};
    device.load_waits = false;
  }
  for (Circuit& circuit : circuits_) {
    circuit.wanted = false;
    circuit.keep = 0;
    hold(host_, circuit.self.priority, circuit.self.held.host, 0);
    for (size_t d = 0; d < devices_.size(); d++) {
      hold(host_, circuit.params[d].priority, circuit.params[d].held.host, 0);
      hold(devices_[d].memory, circuit.params[d].priority, circuit.params[d].held.device, 0);
    }
  }
  for (const auto& [key, job] : active_) {
    if (job->at(Step::kSynthesising) + job->at(Step::kReady) == 0) continue;
    for (const Partition& partition : job->partitions) {
      if (partition.step != Step::kSynthesising && partition.step != Step::kReady) continue;
      const Footprint& later = needs_of(*job, partition.place).start;
      hold(host_, job->spec.priority, partition.held.host, later.host);
      hold(pool_of(partition.place), job->spec.priority, 0, later.device);
    }
  }
}

void Scheduler::hold(Pool& pool, Priority priority, uint64_t amount, uint64_t after) {
  for (size_t level = index(priority); level < kPriorities; level++) {
    pool.held[level] += amount;
    pool.largest[level] = std::max(pool.largest[level], after);
  }
}

// How much is lacking now, or would be when the largest partition asks for its scratch.
uint64_t Scheduler::shortage(const Pool& pool, size_t level, uint64_t amount, uint64_t after) {
  const auto priority = static_cast<Priority>(level);
  const uint64_t wanted =
      amount + pool.kept[level] +
      std::max(pool.capacity.used(priority), pool.held[level] + std::max(pool.largest[level], after));
  return wanted - std::min(wanted, pool.capacity.limit(priority));
}

bool Scheduler::has_room(const Pool& pool, Priority priority, uint64_t amount, uint64_t after) {
  for (size_t level = index(priority); level < kPriorities; level++) {
    if (shortage(pool, level, amount, after) > 0) return false;
  }
  return pool.capacity.fits(priority, amount);  // and nobody waits there
}

// For a request that cannot be granted now: what fits is kept for it, where it does not fit nobody overtakes it.
void Scheduler::keep_or_wait(bool fits, size_t device, Priority priority, uint64_t amount, uint64_t after) {
  if (!fits) evict_idle(device, priority, amount, after, For::kJob);
  Pool& pool = pool_of(device);
  for (size_t level = index(priority); level < kPriorities; level++) {
    if (shortage(pool, level, amount, after) > 0) {
      pool.capacity.block_level(level);
    } else {
      pool.kept[level] += amount;
      pool.largest[level] = std::max(pool.largest[level], after);
    }
  }
}

// Evicts what was idle for longest until the rest fits, where that is enough.
void Scheduler::evict_idle(size_t device, Priority priority, uint64_t amount, uint64_t after, For what) {
  std::array<uint64_t, kPriorities> lacking{};
  for (size_t level = index(priority); level < kPriorities; level++)
    lacking[level] = shortage(pool_of(device), level, amount, after);
  // Whether the bytes are of use; the levels from the resident's own up get them.
  auto contribute = [&](const Resident& resident) {
    const uint64_t bytes = device == kNoDevice ? resident.held.host : resident.held.device;
    bool of_use = false;
    for (size_t level = index(resident.priority); level < kPriorities; level++) {
      of_use = of_use || (bytes > 0 && lacking[level] > 0);
      lacking[level] -= std::min(lacking[level], bytes);
    }
    return of_use;
  };
  struct Idle {
    bool pinned;
    Time last_used;
    size_t circuit, place;
    auto operator<=>(const Idle&) const = default;
  };
  std::vector<Idle> idle, chosen;
  auto look_at = [&](size_t c, size_t place) {
    const Circuit& circuit = circuits_[c];
    const Resident& resident = resident_of(c, place);
    if (resident.state == Residency::kEvicting) contribute(resident);
    if (resident.state != Residency::kReady || resident.users > 0) return;
    if (place == kNoDevice ? circuit.wanted : (circuit.keep & bit(place)) != 0) return;
    if (what == For::kJob || !circuit.pinned) idle.push_back({circuit.pinned, resident.last_used, c, place});
  };
  for (size_t c = 0; c < circuits_.size(); c++) {
    if (device == kNoDevice) look_at(c, kNoDevice);
    for (size_t d = 0; d < devices_.size(); d++) {
      if (device == kNoDevice || device == d) look_at(c, d);
    }
  }
  std::sort(idle.begin(), idle.end());
  for (const Idle& each : idle) {
    if (contribute(resident_of(each.circuit, each.place))) chosen.push_back(each);
  }
  if (std::any_of(lacking.begin(), lacking.end(), [](uint64_t bytes) { return bytes > 0; })) return;
  for (const Idle& each : chosen) {
    circuits_[each.circuit].preload = each.pinned;  // it comes back when there is room
    resident_of(each.circuit, each.place).retry_from = now_ + policy_.quarantine;
    evict(each.circuit, each.place);
  }
}

// --- what runs where

const Needs& Scheduler::needs_of(const Job& job, size_t device) const {
  return circuits_[job.circuit].needs->devices[device];
}

bool Scheduler::can_hold(const Circuit& circuit, size_t device, Priority priority) const {
  const CircuitNeeds& needs = *circuit.needs;
  const Needs& there = needs.devices[device];
  return needs.circuit_bytes + needs.witness_bytes + there.params.host + there.start.host <=
             host_.capacity.limit(priority) &&
         there.params.device + there.start.device <= devices_[device].memory.capacity.limit(priority);
}

// The devices that should have this partition: usable, large enough, none that failed it or failed to load its
// parameters - unless no other is left.
uint64_t Scheduler::candidates(const Circuit& circuit, const Partition& partition, Priority priority) const {
  uint64_t able = 0, good = 0;
  for (size_t d = 0; d < devices_.size(); d++) {
    if (!usable(d) || !can_hold(circuit, d, priority)) continue;
    able |= bit(d);
    const Resident& params = circuit.params[d];
    const bool failed = partition.avoided & bit(d);
    if (!failed && (params.state == Residency::kReady || params.retry_from <= now_)) good |= bit(d);
  }
  return good != 0 ? good : able;
}

std::optional<Error> Scheduler::never_fits(size_t circuit, Priority priority) const {
  const Circuit& c = circuits_[circuit];
  if (!c.needs) return std::nullopt;
  std::optional<Error> why;
  for (size_t d = 0; d < devices_.size(); d++) {
    if (can_hold(c, d, priority)) return std::nullopt;
    const CircuitNeeds& needs = *c.needs;
    const Needs& there = needs.devices[d];
    const uint64_t on_device = there.params.device + there.start.device;
    const uint64_t device_limit = devices_[d].memory.capacity.limit(priority);
    if (on_device > device_limit) {
      why = Error{Code::kTooLarge,
                  fmt::format("{} needs {} of memory on {} (parameters {}, a partition {}); the limit is {}", c.id,
                              readable_size(on_device), devices_[d].spec.name, readable_size(there.params.device),
                              readable_size(there.start.device), readable_size(device_limit))};
    } else {
      why = Error{
          Code::kTooLarge,
          fmt::format(
              "{} needs {} of host memory (circuit {}, parameters {}, witness {}, proving on {} {}); the "
              "limit is {}",
              c.id, readable_size(needs.circuit_bytes + needs.witness_bytes + there.params.host + there.start.host),
              readable_size(needs.circuit_bytes), readable_size(there.params.host), readable_size(needs.witness_bytes),
              devices_[d].spec.name, readable_size(there.start.host), readable_size(host_.capacity.limit(priority)))};
    }
  }
  return why;
}

}  // namespace cuzk::engine
