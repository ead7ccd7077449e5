#pragma once
// Decides what is done next. A pure state machine: events go in, decisions come out; it has no threads, reads no clock
// and touches no memory but its own. The engine drives it with threads, the simulator with a virtual clock.
//
// Order. Jobs are served by `submitted - priority * Policy::ageing`, at every queue. So a higher class goes first and
// an older job within a class; and no job is overtaken by one that came more than
// (kCritical - its priority) * ageing after it. Partitions of several jobs overlap. Who is next and does not fit is not
// overtaken at the place or memory that it lacks (capacity.h). What is kept for PoSt classes is out of others' reach.
//
// Memory. Nothing starts before all that its stage takes is granted. A partition takes its witness for synthesis, its
// scratch when a device takes it, and shrinks to what is pending after that. So that two partitions which hold
// witnesses never wait for each other's memory, a witness is granted only while the scratch of the largest partition on
// its way would still fit beside all witnesses and resident parameters. Requests live in a pool of their own.
//
// Failures. A partition whose device failed, or whose proof does not verify, is made again, on another device if there
// is one. A device that fails several times in a row gets no work for a while, then one more chance. Where a proof does
// not verify although its witness holds, the copy of the parameters that it was made with is doubted: nobody begins
// with it any more, and when the last who holds it has ended it is evicted, so that what comes next loads another.
//
// Limits. A stage that takes longer than Policy::stage_limit is given up: its job fails, whoever asks again is served
// elsewhere. A stage cannot be stopped, so what it holds stays held, and its device gets no work, until it ends; what
// it then reports is not the job's any more.
//
// Cancellation takes effect between stages: what a stage holds when its job has ended is dropped at its end.

#include <functional>
#include <map>
#include <set>
#include <unordered_map>

#include "engine/capacity.h"
#include "engine/policy.h"
#include "engine/queues.h"

namespace cuzk::engine {

using Time = Clock::time_point;
using JobId = uint64_t;
inline constexpr size_t kNoDevice = SIZE_MAX;

struct PartitionId {
  JobId job;
  uint32_t index;
};

struct JobSpec {
  Priority priority = Priority::kNormal;
  uint64_t request_bytes = 0;    // held from parsing until the job and all its stages have ended
  std::optional<Time> deadline;  // the proof is of no use after this
  bool resumed = false;          // accepted by an earlier process: waits although the queue is full
};

struct Decision {
  enum class Kind : uint8_t {
    kParse,        // answered by parsed()
    kLoadCircuit,  // answered by circuit_loaded()
    kLoadParams,   // of `circuit` onto `device`; answered by params_loaded()
    kEvict,        // parameters of `circuit` on `device`, or the circuit where that is kNoDevice; evicted()
    kSynthesise,   // answered by synthesised()
    kStart,        // on `device`; answered by started()
    kFinish,       // answered by finished()
    kDrop,         // throw away what the partition holds between stages; answered by dropped()
    kOverdue,      // a stage in progress is given up; once a stage, no answer
    kEnd,          // the job has ended; once a job, no answer
  };
  Kind kind;
  JobId job = 0;
  uint32_t partition = 0;
  size_t circuit = 0, device = kNoDevice;
  Footprint grant;          // what may be used in addition; for kParse of the requests' pool
  unsigned attempt = 1;     // of a partition
  bool started = false;     // kDrop: it had been on a device
  bool check_rows = false;  // kSynthesise: an earlier proof did not verify; kUnsatisfied where the witness is to blame
  bool doubted = false;     // kEvict: a proof made with these parameters is wrong
  State state = State::kCompleted;  // kEnd
  std::optional<Error> error;       // kEnd
  // kLoadCircuit, kLoadParams: of the job that waits for it.
  Priority priority = Priority::kLow;
  std::optional<Origin> origin;  // kOverdue, and of an error that came up in a stage

  PartitionId id() const { return {job, partition}; }
};

class Scheduler {
 public:
  // At most 64 devices.
  Scheduler(Policy policy, std::vector<DeviceSpec> devices);

  // --- Events. Each is followed by decide(). Memory that a failed stage had been granted is free by the time it is
  // reported; what a successful one needs no more, too.

  // The number by which a circuit is called from here on.
  size_t circuit(const std::string& id);
  // What a circuit takes, where that is known before it is loaded.
  void know(size_t circuit, CircuitNeeds needs);

  // A new job. kUnavailable while draining; kResourceExhausted where the queue is full; kTooLarge for a request that
  // can never be held.
  Status admit(JobId id, const JobSpec& spec, Time now);
  struct Parsed {
    size_t circuit;
    uint32_t partitions;
  };
  void parsed(JobId id, Result<Parsed> parsed, Time now);
  void circuit_loaded(size_t circuit, Result<CircuitNeeds> needs, Time now);
  void params_loaded(size_t circuit, size_t device, Status loaded, Time now);
  // Parameters that are being loaded will keep only so much of the host.
  void params_shrunk(size_t circuit, size_t device, uint64_t host_bytes);
  void evicted(size_t circuit, size_t device, Time now);
  void synthesised(PartitionId id, Status made, Time now);
  void started(PartitionId id, Status started, Time now);
  // Holds for a proof that verifies; kVerifyFailed for one that does not.
  void finished(PartitionId id, Status finished, Time now);
  void dropped(PartitionId id, Time now);
  // A stage in progress needs only so much from now on.
  void shrunk(PartitionId id, Footprint left, Time now);

  // Ends a job from outside: cancelled, superseded, abandoned. Nothing where it has ended.
  void end(JobId id, State state, Error error, Time now);
  // Whether somebody waits for the job; a job that nobody waits for ends after Policy::grace.
  void watched(JobId id, bool watched, Time now);
  // Another Policy::max_waiting from now on; who waits already stays.
  void set_max_waiting(size_t count) { waiting_.set_open(count); }
  // Refuses new jobs and ends those that have not begun.
  void drain(Time now);

  // Loads a circuit and its parameters on every device that can hold them, and keeps them until unload(). Given up
  // where a load fails.
  void preload(size_t circuit);
  // Evicts a circuit and its parameters; false where a partition holds them.
  bool unload(size_t circuit);

  // --- Decisions

  std::vector<Decision> decide(Time now);
  // When decide() is due although no event came.
  std::optional<Time> wake_time() const;

  // --- Views

  // No job is open and no stage is running.
  bool idle() const { return jobs_.empty() && loading_ == 0; }
  bool draining() const { return draining_; }
  size_t loading() const { return loading_; }  // loads and evictions in progress
  const std::string& name(size_t circuit) const { return circuits_[circuit].id; }
  size_t waiting() const { return waiting_.used(); }
  size_t free_places(Priority priority) const { return waiting_.left(priority); }  // in the queue
  // Partitions by where they are.
  enum class Step : uint8_t { kWaiting, kSynthesising, kReady, kStarting, kStarted, kFinishing, kDropping, kDone };
  struct JobView {
    JobId id;
    Priority priority;
    State state;
    Time rank;  // lower is served first
    size_t circuit;
    std::array<uint32_t, 8> partitions;  // by step
  };
  // Those not over yet, in order of service.
  std::vector<JobView> jobs() const;
  std::vector<Step> steps(JobId id) const;  // of its partitions
  struct Usage {
    uint64_t used, limit;
  };
  Usage host() const { return {host_.capacity.used(), host_.capacity.limit(Priority::kCritical)}; }
  Usage requests() const { return {requests_.used(), requests_.limit(Priority::kCritical)}; }
  Usage device_memory(size_t device) const;
  struct Health {
    unsigned failures = 0;                  // in a row
    std::optional<Time> quarantined_until;  // where it gets no work now; longer, while a stage there is overdue
    size_t running = 0;                     // device stages
    unsigned quarantines = 0;               // in a row
  };
  Health health(size_t device) const;
  // Stages that ended after they had been given up.
  uint64_t stale_reports() const { return stale_reports_; }
  enum class Residency : uint8_t { kAbsent, kLoading, kReady, kDoubted, kEvicting };
  Residency resident(size_t circuit, size_t device) const;  // kNoDevice: the circuit itself
  // Partitions that hold it, and when the last one let it go or took it.
  size_t users(size_t circuit, size_t device) const { return resident_of(circuit, device).users; }
  Time last_used(size_t circuit, size_t device) const { return resident_of(circuit, device).last_used; }
  uint64_t doubts(size_t circuit, size_t device) const { return resident_of(circuit, device).doubts; }  // so far
  // Who waits and what is taken, for a log.
  std::string describe() const;
  // Whether the device could run it if nothing else were there; the needs are known.
  bool fits_on(size_t circuit, size_t device, Priority priority) const {
    return can_hold(circuits_[circuit], device, priority);
  }
  // Why a job of this class can never run, or none.
  std::optional<Error> never_fits(size_t circuit, Priority priority) const;

 private:
  // Of a stage in progress: when it began, or was last found to exceed the limit.
  struct Watch {
    Time since{};
    bool overdue = false;
  };
  struct Partition {
    Step step = Step::kWaiting;
    Watch watch;
    unsigned attempt = 1;
    bool permit = false;
    bool rows_hold = false;      // the witness was checked
    size_t place = kNoDevice;    // whose parameters it holds: the device where its scratch will fit, then where it is
    size_t suspect = kNoDevice;  // which made a proof that did not verify
    uint64_t copy = 0;           // of the parameters that its last proof was made with
    uint64_t avoided = 0;        // devices that failed it, a bit each
    Footprint held;
  };
  struct OrderKey {
    Time rank;
    JobId id;
    auto operator<=>(const OrderKey&) const = default;
  };
  // Jobs whose partitions differ in nothing that decides where and when they may begin.
  static constexpr JobId kNoJob = UINT64_MAX;
  struct Alike {
    size_t circuit;
    Priority priority;
    JobId retried;  // one for itself
    auto operator<=>(const Alike&) const = default;
  };
  struct Job {
    JobId id;
    Time rank;
    JobSpec spec;
    State state = State::kParsing;
    bool parsing = false, holds_request = false;
    bool retried = false;  // a partition failed, so that they are not all alike
    Watch watch;           // of its parsing
    size_t circuit = 0;
    std::vector<Partition> partitions;
    std::array<uint32_t, 8> count{};  // of partitions by step
    std::optional<Time> leave_at;     // nobody waits for it

    OrderKey key() const { return {rank, id}; }
    Alike alike() const { return {circuit, spec.priority, retried ? id : kNoJob}; }
    // When it ends by itself.
    std::optional<Time> expiry() const {
      return spec.deadline && leave_at ? std::min(spec.deadline, leave_at) : std::max(spec.deadline, leave_at);
    }
    uint32_t& at(Step step) { return count[static_cast<size_t>(step)]; }
    uint32_t at(Step step) const { return count[static_cast<size_t>(step)]; }
    uint32_t busy() const { return at(Step::kSynthesising) + at(Step::kStarting) + at(Step::kFinishing); }
  };
  struct Resident {
    Residency state = Residency::kAbsent;
    Watch watch;  // of its load
    Footprint held;
    Priority priority = Priority::kLow;  // of the job that it was loaded for
    size_t users = 0;                    // partitions that hold it
    Time last_used{};
    Time retry_from{};    // after a failed load, where another device will do
    uint64_t copy = 0;    // loads so far
    uint64_t doubts = 0;  // of copies so far
  };
  struct Circuit {
    std::string id;
    std::optional<CircuitNeeds> needs;
    Resident self;
    std::vector<Resident> params;  // one a device
    unsigned failed_loads = 0;     // in a row
    bool preload = false;          // to be loaded although no job asks
    bool pinned = false;           // evicted only where a job cannot run otherwise
    size_t backlog = 0;            // partitions that no device has begun
    // In this round.
    bool wanted = false;  // by a job that was served already
    uint64_t keep = 0;    // where such a job will use its parameters, a bit a device
  };
  // A memory. By level and in this round: what is held by those who stay or wait for more; the most that one of them
  // will ask for; what is kept free for those who were served before and wait for something else besides.
  struct Pool {
    Capacity capacity;
    std::array<uint64_t, kPriorities> held{}, largest{}, kept{};
  };
  struct Device {
    DeviceSpec spec;
    Capacity lanes;
    Pool memory;
    bool load_waits = false;  // for memory that is in use: nothing comes here that was not promised
    unsigned failures = 0, quarantines = 0;
    size_t overdue = 0;  // stages and loads
    Time usable_from{};
  };
  using Kind = Decision::Kind;

  // Events (scheduler.cpp).
  Job* find(JobId id);
  void count(Job& job, Step step, int change);
  void see_activity(Job& job);
  void start_timer(Job& job);
  void stop_timer(Job& job);
  void move(Job& job, Partition& partition, Step step);
  void use(Job& job, Partition& partition, size_t place);
  void shrink(Job& job, Partition& partition, Footprint left);
  void give_permit(Job& job, Partition& partition);
  void drop(Job& job, Partition& partition);
  void again_or_fail(Job& job, Partition& partition, Stage stage, Error error);
  Origin origin_of(const Job& job, const Partition& partition, Stage stage) const;
  Origin load_origin(size_t device) const;
  void conclude(Job& job, State state, std::optional<Error> error, std::optional<Origin> origin = std::nullopt);
  void conclude_all(const std::function<bool(const Job&)>& which, State state, const Error& error,
                    const std::optional<Origin>& origin = std::nullopt);
  void forget_if_over(Job& job);
  void blame(size_t device);
  void quarantine(size_t device);
  void fail_for_lack(size_t circuit, size_t device, const Error& error);
  bool ended_late(Watch& watch, size_t device);
  void loaded(size_t circuit, size_t device, const Status& loaded);
  void doubt(size_t circuit, size_t device, uint64_t copy);
  void evict(size_t circuit, size_t device);
  void give_back(Resident& resident, size_t device);
  Decision& emit(Kind kind, const Job& job, const Partition& partition);

  // Decisions (scheduler_rules.cpp), in the order in which a round takes them.
  void expire();
  void give_up_overdue();
  bool exceeds_limit(const Watch& watch) const { return now_ >= watch.since + policy_.stage_limit; }
  Error give_up(Watch& watch, Decision stage);
  void finish_partitions();
  void start_partitions();
  void evict_doubted();
  void admit_partitions();
  void parse_requests();

  bool start(Job& job, Partition& partition);
  bool synthesise(Job& job, Partition& partition, size_t device);
  // Whether a load may push others aside: wait at the head of the queue for memory, evict what is pinned.
  enum class For : uint8_t { kJob, kConvenience };
  void load_circuit(size_t circuit, Priority priority, For what, JobId job);
  void load_params(size_t circuit, uint64_t devices, Priority priority, For what);
  void spread(size_t circuit, Priority priority);
  void preload();
  void load(size_t circuit, size_t device, Footprint amount, Priority priority, For what, JobId job);

  void survey();
  static void hold(Pool& pool, Priority priority, uint64_t amount, uint64_t after);
  static uint64_t shortage(const Pool& pool, size_t level, uint64_t amount, uint64_t after);
  static bool has_room(const Pool& pool, Priority priority, uint64_t amount, uint64_t after);
  void keep_or_wait(bool fits, size_t device, Priority priority, uint64_t amount, uint64_t after);
  void evict_idle(size_t device, Priority priority, uint64_t amount, uint64_t after, For what);

  // What a partition is busy with in this step.
  static std::optional<Stage> stage_of(Step step);
  // kNoDevice stands for the circuit itself, and for host memory.
  Resident& resident_of(size_t circuit, size_t device);
  const Resident& resident_of(size_t circuit, size_t device) const;
  Pool& pool_of(size_t device) { return device == kNoDevice ? host_ : devices_[device].memory; }
  const Needs& needs_of(const Job& job, size_t device) const;
  bool usable(size_t device) const { return devices_[device].overdue == 0 && devices_[device].usable_from <= now_; }
  bool can_hold(const Circuit& circuit, size_t device, Priority priority) const;
  uint64_t candidates(const Circuit& circuit, const Partition& partition, Priority priority) const;

  const Policy policy_;
  std::vector<Device> devices_;
  Pool host_;
  Capacity requests_, waiting_, parsers_, loaders_, permits_, finishers_;
  std::vector<Circuit> circuits_;
  std::unordered_map<std::string, size_t> circuit_index_;
  std::map<OrderKey, Job> jobs_;  // in order of service
  std::unordered_map<JobId, Job*> by_id_;
  // A round costs what is under way and as many rows as there are, not as many jobs as wait.
  std::map<OrderKey, Job*> active_;  // with a stage in progress, or something held between two
  Queues<Priority, OrderKey, Job> unparsed_;
  Queues<Alike, OrderKey, Job> unbegun_;     // with partitions that wait
  std::set<std::pair<Time, JobId>> timers_;  // Job::expiry() of those not ended
  std::vector<Decision> out_;
  Time now_{};
  size_t loading_ = 0;  // loads and evictions in progress
  uint64_t stale_reports_ = 0;
  bool draining_ = false;
};

}  // namespace cuzk::engine
