#include "engine/simulator.h"

#include <algorithm>
#include <queue>

namespace cuzk::engine {
namespace {

using Kind = Decision::Kind;

Time at(double seconds) {
  return Time(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
}

class Simulation {
 public:
  Simulation(const Profile& profile, const Workload& workload, const SimulationHooks& hooks)
      : profile_(profile), workload_(workload), hooks_(hooks), scheduler_(profile.policy, profile.devices) {
    kernels_free_at_.resize(profile.devices.size());
    kernels_busy_.resize(profile.devices.size());
    sample_.on_device_bytes.resize(profile.devices.size());
    report_.peak_on_device.resize(profile.devices.size());
    for (const CircuitProfile& circuit : profile.circuits) scheduler_.circuit(circuit.id);
  }

  Result<Report> run() {
    load_all();
    for (const Submission& submission : workload_.submissions)
      schedule(submission.at, [this, submission] { submit(submission); });
    for (const Workload::Wish& wish : workload_.wishes) {
      schedule(wish.at, [this, wish] {
        wish.loaded ? scheduler_.preload(wish.circuit) : (void)scheduler_.unload(wish.circuit);
      });
    }
    left_ = workload_.jobs;
    for (size_t i = 0; i < workload_.concurrent; i++) submit_next();
    for (size_t rounds = 0; rounds < hooks_.max_rounds; rounds++) {
      round();
      if (events_.empty() && synthesis_.empty()) {
        const auto wake = scheduler_.wake_time();
        if (!wake || scheduler_.idle()) break;
        schedule(std::chrono::duration<double>(wake->time_since_epoch()).count() + 1e-9, [] {});
      }
      step();
    }
    if (!scheduler_.idle()) {
      return fail(Code::kInternal, "after {} s the scheduler waits for ever:\n{}", now_, scheduler_.describe());
    }
    return summary();
  }

 private:
  struct Event {
    double at;
    uint64_t number;  // events of one moment in order of creation
    std::function<void()> happen;
    bool operator<(const Event& other) const {  // std::priority_queue has the largest on top
      return std::tie(other.at, other.number) < std::tie(at, number);
    }
  };
  struct Job {
    size_t circuit;
    bool closed_loop, ended = false, parsed = false;
    size_t stages = 0;  // in progress or holding something
  };

  void schedule(double when, std::function<void()> happen) { events_.push({when, next_event_++, std::move(happen)}); }

  // --- time

  // All partitions in synthesis go on at one pace; `progress_` is how far one would be that never stopped.
  double pace() const {
    return 1 / (1 + profile_.slowdown * static_cast<double>(std::max<size_t>(synthesis_.size(), 1) - 1));
  }
  void step() {
    double next = events_.empty() ? INFINITY : events_.top().at;
    if (!synthesis_.empty()) {
      const double end = now_ + (synthesis_.begin()->first - progress_) / pace();
      if (end <= next) {
        pass_to(end);
        progress_ = synthesis_.begin()->first;
        const Decision decision = synthesis_.begin()->second;
        synthesis_.erase(synthesis_.begin());
        return synthesised(decision);
      }
    }
    pass_to(next);
    auto happen = events_.top().happen;
    events_.pop();
    happen();
  }
  void pass_to(double time) {
    progress_ += (time - now_) * pace();
    synthesis_busy_ += (time - now_) * static_cast<double>(synthesis_.size());
    now_ = time;
  }

  // --- jobs

  void submit_next() {
    if (left_ == 0) return;
    left_--;
    submit({.at = now_, .circuit = workload_.circuit, .priority = workload_.priority}, true);
  }
  void submit(const Submission& submission, bool closed_loop = false) {
    const JobId id = next_job_++;
    JobSpec spec{submission.priority, profile_.circuits[submission.circuit].request_bytes, std::nullopt};
    if (submission.deadline) spec.deadline = at(*submission.deadline);
    if (!scheduler_.admit(id, spec, at(now_))) {
      report_.refused++;
      return;
    }
    jobs_[id] = {submission.circuit, closed_loop};
    sample_.open_jobs++;
    if (submission.cancel_at) {
      schedule(std::max(now_, *submission.cancel_at), [this, id] {
        scheduler_.end(id, State::kCancelled, {Code::kCancelled, "cancelled"}, at(now_));
      });
    }
  }
  void ended(const Decision& decision) {
    jobs_.at(decision.job).ended = true;
    const bool closed_loop = jobs_.at(decision.job).closed_loop;
    sample_.open_jobs--;
    (decision.state == State::kCompleted ? report_.completed
     : decision.state == State::kFailed  ? report_.failed
                                         : report_.cancelled)++;
    report_.seconds = now_;
    release(decision.job);
    if (closed_loop) schedule(now_, [this] { submit_next(); });
  }
  // Its request goes when the job and all its stages have ended.
  void release(JobId id) {
    auto job = jobs_.find(id);
    if (!job->second.ended || job->second.stages > 0) return;
    if (job->second.parsed) live().requests -= profile_.circuits[job->second.circuit].request_bytes;
    jobs_.erase(job);
  }
  void begin_stage(JobId id) { jobs_.at(id).stages++; }
  void end_stage(JobId id) {
    jobs_.at(id).stages--;
    release(id);
  }

  // --- decisions

  void round() {
    const std::vector<Decision> decisions = scheduler_.decide(at(now_));
    for (const Decision& decision : decisions) carry_out(decision);
    report_.peak_queued = std::max(report_.peak_queued, sample_.queued);
    report_.peak_host = std::max(report_.peak_host, live().host());
    auto raise = [&](uint64_t Live::*member) { report_.peak.*member = std::max(report_.peak.*member, live().*member); };
    for (auto member :
         {&Live::requests, &Live::circuits, &Live::params, &Live::witnesses, &Live::evaluations, &Live::pending})
      raise(member);
    for (size_t d = 0; d < profile_.devices.size(); d++)
      report_.peak_on_device[d] = std::max(report_.peak_on_device[d], sample_.on_device_bytes[d]);
    if (live().host() > profile_.memory_bytes && !report_.out_of_memory_at) report_.out_of_memory_at = now_;
    sample_.at = now_;
    if (hooks_.timeline) report_.timeline.push_back(sample_);
    if (hooks_.after_round) hooks_.after_round(scheduler_, decisions, sample_, now_);
  }

  double takes(const Decision& decision, double seconds) const {
    return hooks_.duration ? hooks_.duration(decision, seconds) : seconds;
  }
  Status outcome(const Decision& decision) const { return hooks_.outcome ? hooks_.outcome(decision) : Status{}; }
  const CircuitProfile& circuit_of(const Decision& decision) const {
    return profile_.circuits[decision.kind == Kind::kParse ? jobs_.at(decision.job).circuit : decision.circuit];
  }
  const Needs& needs_of(const Decision& decision) const { return circuit_of(decision).needs.devices[decision.device]; }

  void carry_out(const Decision& decision) {
    switch (decision.kind) {
      case Kind::kParse: return parse(decision);
      case Kind::kLoadCircuit: return load_circuit(decision);
      case Kind::kLoadParams: return load_params(decision);
      case Kind::kEvict: return evict(decision);
      case Kind::kSynthesise: return synthesise(decision);
      case Kind::kStart: return start(decision);
      case Kind::kFinish: return finish(decision);
      case Kind::kDrop: return drop(decision);
      case Kind::kOverdue: return;
      case Kind::kEnd: return ended(decision);
    }
  }

  void parse(const Decision& decision) {
    const CircuitProfile& circuit = circuit_of(decision);
    begin_stage(decision.job);
    jobs_.at(decision.job).parsed = true;
    live().requests += circuit.request_bytes;
    schedule(now_ + takes(decision, circuit.parse), [this, decision, &circuit] {
      const Status parsed = outcome(decision);
      Result<Scheduler::Parsed> answer = Scheduler::Parsed{jobs_.at(decision.job).circuit, circuit.partitions};
      if (!parsed) answer = tl::unexpected(parsed.error());
      end_stage(decision.job);
      scheduler_.parsed(decision.job, std::move(answer), at(now_));
    });
  }

  void load_circuit(const Decision& decision) {
    const CircuitProfile& circuit = circuit_of(decision);
    const uint64_t bytes = std::min(circuit.needs.circuit_bytes, decision.grant.host);  // it stops there
    live().circuits += bytes;
    schedule(now_ + takes(decision, circuit.load_circuit), [this, decision, &circuit, bytes] {
      Result<CircuitNeeds> needs = circuit.needs;
      if (Status loaded = outcome(decision); !loaded) needs = tl::unexpected(loaded.error());
      if (!needs || bytes < circuit.needs.circuit_bytes) live().circuits -= bytes;
      scheduler_.circuit_loaded(decision.circuit, std::move(needs), at(now_));
    });
  }

  void load_params(const Decision& decision) {
    const Footprint params = needs_of(decision).params;
    live().params += params.host;
    on_device(decision) += params.device;
    schedule(now_ + takes(decision, circuit_of(decision).load_params), [this, decision, params] {
      const Status loaded = outcome(decision);
      if (!loaded) {
        live().params -= params.host;
        on_device(decision) -= params.device;
      }
      scheduler_.params_loaded(decision.circuit, decision.device, loaded, at(now_));
    });
  }

  void evict(const Decision& decision) {
    schedule(now_ + takes(decision, 0), [this, decision] {
      if (decision.device == kNoDevice) {
        live().circuits -= circuit_of(decision).needs.circuit_bytes;
      } else {
        live().params -= needs_of(decision).params.host;
        on_device(decision) -= needs_of(decision).params.device;
      }
      scheduler_.evicted(decision.circuit, decision.device, at(now_));
    });
  }

  void synthesise(const Decision& decision) {
    begin_stage(decision.job);
    sample_.synthesising++;
    live().witnesses += circuit_of(decision).needs.witness_bytes;
    synthesis_.emplace(progress_ + takes(decision, circuit_of(decision).synthesis), decision);
  }
  void synthesised(const Decision& decision) {
    sample_.synthesising--;
    const Status made = outcome(decision);
    if (made) {
      sample_.queued++;
    } else {
      live().witnesses -= circuit_of(decision).needs.witness_bytes;
      end_stage(decision.job);
    }
    scheduler_.synthesised(decision.id(), made, at(now_));
  }

  void start(const Decision& decision) {
    const Needs& needs = needs_of(decision);
    sample_.queued--;
    sample_.on_device++;
    live().evaluations += needs.start.host;
    on_device(decision) += needs.start.device;
    const CircuitProfile& circuit = circuit_of(decision);
    double& free_at = kernels_free_at_[decision.device];
    const double kernels = takes(decision, circuit.device);
    free_at = std::max(free_at, now_) + kernels;
    kernels_busy_[decision.device] += kernels;
    schedule(free_at + circuit.worker, [this, decision, &needs] {
      const Status started = outcome(decision);
      sample_.on_device--;
      live().witnesses -= circuit_of(decision).needs.witness_bytes;
      live().evaluations -= needs.start.host;
      on_device(decision) -= needs.start.device;
      if (started) {
        sample_.finishing++;
        live().pending += needs.pending.host;
        on_device(decision) += needs.pending.device;
      } else {
        end_stage(decision.job);
      }
      scheduler_.started(decision.id(), started, at(now_));
    });
  }

  void finish(const Decision& decision) {
    schedule(now_ + takes(decision, circuit_of(decision).finish), [this, decision] {
      release_pending(decision);
      const Status finished = outcome(decision);
      end_stage(decision.job);
      scheduler_.finished(decision.id(), finished, at(now_));
    });
  }
  void release_pending(const Decision& decision) {
    sample_.finishing--;
    live().pending -= needs_of(decision).pending.host;
    on_device(decision) -= needs_of(decision).pending.device;
  }

  void drop(const Decision& decision) {
    schedule(now_, [this, decision] {
      if (decision.started) {
        release_pending(decision);
      } else {
        sample_.queued--;
        live().witnesses -= circuit_of(decision).needs.witness_bytes;
      }
      end_stage(decision.job);
      scheduler_.dropped(decision.id(), at(now_));
    });
  }

  // --- beginning and end

  void load_all() {
    if (!profile_.loaded) return;
    for (size_t c = 0; c < profile_.circuits.size(); c++) {
      scheduler_.know(c, profile_.circuits[c].needs);
      scheduler_.preload(c);
    }
    auto no_time = [](const Decision&, double) { return 0.0; };
    const SimulationHooks given = std::exchange(hooks_, {.duration = no_time, .timeline = false});
    for (round(); !events_.empty(); round()) step();
    hooks_ = given;
  }

  Report summary() {
    if (report_.completed > 0) report_.seconds_per_proof = report_.seconds / static_cast<double>(report_.completed);
    for (double busy : kernels_busy_) report_.device_idle.push_back(1 - busy / std::max(report_.seconds, 1e-9));
    const double permits = static_cast<double>(profile_.policy.partition_workers);
    report_.synthesis_idle = 1 - synthesis_busy_ / std::max(report_.seconds * permits, 1e-9);
    report_.left = sample_.live;
    return std::move(report_);
  }

  Live& live() { return sample_.live; }
  uint64_t& on_device(const Decision& decision) { return sample_.on_device_bytes[decision.device]; }

  const Profile& profile_;
  const Workload& workload_;
  SimulationHooks hooks_;
  Scheduler scheduler_;
  double now_ = 0, progress_ = 0, synthesis_busy_ = 0;
  std::priority_queue<Event> events_;
  uint64_t next_event_ = 0;
  std::multimap<double, Decision> synthesis_;  // by the progress at which each ends
  std::vector<double> kernels_free_at_, kernels_busy_;
  std::map<JobId, Job> jobs_;
  JobId next_job_ = 0;
  size_t left_ = 0;
  Sample sample_;
  Report report_;
};

}  // namespace

Result<Report> simulate(const Profile& profile, const Workload& workload, const SimulationHooks& hooks) {
  return Simulation(profile, workload, hooks).run();
}

// --- the published machine

namespace {

constexpr uint64_t operator""_GiB(unsigned long long count) { return uint64_t{count} << 30; }

}  // namespace

Profile published_machine(size_t partition_workers, size_t gpu_workers) {
  Profile profile;
  profile.name = "published";
  profile.about = "the engine before this one: 755 GiB, 96 cores, one card of 16 GB; 32 GiB PoRep";
  profile.memory_bytes = 755_GiB;
  profile.devices = {{"gpu", gpu_workers, 0}};
  profile.policy.partition_workers = partition_workers;
  profile.policy.finishers = 4;
  profile.policy.request_bytes = 94_GiB;  // an eighth
  profile.policy.host_bytes = 755_GiB - 94_GiB;
  profile.policy.circuit_allowance = 26_GiB;
  // Synthesis: 29 s alone (290 s a proof with one worker); with 2, 5 and 7 workers 30.4, 34.2 and 37.3 s a partition
  // were seen, 2.4 to 4.8 % more for each further one, since memory is what they share.
  profile.slowdown = 0.034;
  // A partition is 12 GiB of a, b and c, which go when the device is done, and 4 GiB of witness, which b_g2 needs.
  const Needs needs{.params = {44_GiB, 0}, .start = {0, 0}, .pending = {4_GiB, 0}};
  profile.circuits = {{.id = "porep-32GiB",
                       .partitions = 10,
                       .parse = 0.3,
                       .synthesis = 29,
                       .device = 3.75,
                       .finish = 1.7,
                       .request_bytes = 3_GiB,
                       .needs = {.circuit_bytes = 26_GiB, .witness_bytes = 16_GiB, .devices = {needs}}}};
  return profile;
}

Profile published_accident(size_t partition_workers, size_t gpu_workers) {
  Profile profile = published_machine(partition_workers, gpu_workers);
  profile.name = "published-old-policy";
  profile.policy.permit_through_hand_over = false;
  profile.policy.host_bytes = profile.policy.request_bytes = uint64_t{1} << 60;  // it counted, but far too little
  profile.circuits[0].needs.devices[0].pending.host = 16_GiB;
  return profile;
}

}  // namespace cuzk::engine
