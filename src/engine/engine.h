#pragma once
// The engine: takes statements, proves their partitions, and answers with proofs it has verified.
//
// The path of a job and its stages are pipeline.cpp. What is done next, when and where is decided by the scheduler
// (scheduler.h); this class keeps the jobs, the memory and the threads, and does what the scheduler says.

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "engine/backend.h"
#include "engine/recorder.h"
#include "engine/scheduler.h"
#include "engine/stores.h"
#include "engine/telemetry.h"
#include "engine/work.h"
#include "exec/meter.h"

namespace cuzk::engine {

struct Options {
  Policy policy;  // partition_workers 0: as many as the pool has threads, and the memory allows
  // Results are kept so long, and at most so many bytes of them: the oldest leave first.
  Clock::duration result_ttl = std::chrono::hours(1);
  uint64_t result_bytes = 64 << 20;
  Recorder* recorder = nullptr;  // outlives the engine
  std::function<Clock::time_point()> now = Clock::now;
};

struct Device {
  DeviceSpec spec;
  Backend* backend;  // outlives the engine
};

// What partitions of a circuit take on these back ends, their verification on so many threads included.
CircuitNeeds needs_of(const r1cs::Circuit& circuit, std::span<Backend* const> backends, size_t threads);

// Holds on to one job, whatever becomes of its id.
struct Ticket {
  std::shared_ptr<Job> job;
  uint32_t queue_position = 0;  // jobs that waited when this one came
};

struct KindCount {
  uint32_t waiting = 0, running = 0;  // jobs not yet ended
  Clock::duration oldest_waiting{};   // since the submission of the one that has waited longest; 0 without one
  Totals totals;
};
struct Snapshot {
  Clock::time_point time;                  // when it was taken, by Options::now
  std::map<std::string, KindCount> kinds;  // by Request::kind, those that were ever asked for
  std::vector<ParamsStore::Loaded> params;
  std::vector<CircuitStore::Loaded> circuits;
  std::vector<mem::Budget::Usage> memory;  // host, requests, then the devices
  std::vector<mem::Ledger::Line> ledger;
  struct Running {
    std::string id, kind;  // of the job
    uint32_t partition;
    Clock::time_point since;
  };
  struct Device {
    std::string name;
    Scheduler::Health health;
    size_t workers = 1;
    std::vector<Running> running = {};       // device stages, those that began earlier first
    std::map<Code, uint64_t> failures = {};  // of stages that it was given, since the start
  };
  std::vector<Device> devices;
  struct Job {
    std::string id, kind;
    Priority priority;
    State state;
    Clock::time_point submitted, seen;  // `seen`: when this was read
    std::vector<Scheduler::Step> partitions;
    std::vector<Span> spans = {};
    std::optional<Error> error = {};
    Cost cost = {};
    std::optional<Clock::time_point> ended = {};
  };
  // Of those on the page.
  std::vector<Job> jobs;   // not yet ended, in order of service
  std::vector<Job> ended;  // within kEndedShown, the last kMostEnded; a partition without a good proof is at kDropping
  size_t jobs_in_all = 0;  // on all pages
  uint64_t completed = 0, failed = 0;
  size_t synthesising = 0;           // partitions
  size_t partition_workers = 0;      // partitions that may be in synthesis or wait for a device
  std::map<Code, uint64_t> refused;  // by submit(), since the start
  // In the queue, for jobs of each class.
  std::array<size_t, kPriorities> free_places{};
  std::array<uint64_t, kStages> overdue{};  // stages that were given up, since the start
  uint64_t stale_reports = 0;               // of them, those that have ended
  bool draining = false;
};

// A part of a snapshot's jobs: those not yet ended come first.
struct Page {
  size_t offset = 0, limit = SIZE_MAX;
};
inline constexpr Page kNoJobs{0, 0};

inline constexpr Clock::duration kEndedShown = std::chrono::seconds(30);
inline constexpr size_t kMostEnded = 100;  // jobs can end faster than anybody reads

class Engine {
 public:
  // All but the options outlive the engine.
  Engine(Options options, CircuitStore& circuits, ParamsStore& params, std::vector<Device> devices, exec::Pool& pool);
  // On the processor alone.
  Engine(Options options, CircuitStore& circuits, ParamsStore& params, Backend& cpu, exec::Pool& pool)
      : Engine(std::move(options), circuits, params, {{{"cpu", 1, 0}, &cpu}}, pool) {}
  // Drains.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Takes a job; parses its payload on the calling thread, when its turn has come. A known id with the same digest
  // joins the job that runs or returns the kept proof; with another digest it supersedes that job, which ends as
  // cancelled. A payload that does not parse, or needs more than the machine has (kTooLarge), is a job that failed, not
  // an error. Errors: kUnavailable while draining, kResourceExhausted when the queue is full, kTooLarge for a request
  // beyond what requests may take. Returns when the recorder has the job. A resumed job needs no place in the queue, is
  // parsed later on a thread of the engine, and its known proofs are not made again.
  Result<Ticket> submit(Request request);
  // Takes over the result of an earlier process. In the order of their ends, and before the first submit().
  void adopt(Ended ended);
  // The job of an id, while it runs and as long as its result is kept; kNotFound "job not found: ID".
  Result<Ticket> find(const std::string& id);
  // Waits for the end of a job; nullopt when `timeout` passes first.
  std::optional<Outcome> await(const Ticket& ticket, std::optional<Clock::duration> timeout = std::nullopt);
  // Ends a job; stages in progress run to their end and no further. Says whether it was running.
  bool cancel(const Ticket& ticket);
  // The job of an id; kNotFound as find().
  Result<bool> cancel(const std::string& id) {
    return find(id).map([&](const Ticket& ticket) { return cancel(ticket); });
  }
  // Somebody waits for the job, or no longer does. When the last one leaves, the job is cancelled after
  // Policy::grace; one that nobody ever waited for is not, nor one with Request::keep.
  void watch(const Ticket& ticket);
  void unwatch(const Ticket& ticket);

  // Loads a circuit and its parameters ahead of jobs and keeps them until evict(). kTooLarge, kResourceExhausted where
  // there is no room beside what is in use, or why it cannot be loaded.
  struct Preloaded {
    bool already;
    Clock::duration load_time;
  };
  Result<Preloaded> preload(const std::string& circuit_id, CircuitStore::Compile compile);
  // Frees a circuit and its parameters and returns their bytes; kResourceExhausted while partitions hold them.
  Result<uint64_t> evict(const std::string& circuit_id);

  // From now on; see Policy::max_waiting and Options::result_ttl.
  void adjust(size_t max_waiting, Clock::duration result_ttl);

  Snapshot snapshot(Page page = {});
  // The same of one job, as long as find() knows it; kNotFound as find().
  Result<Snapshot::Job> view(const std::string& id);
  // Refuses new jobs, fails those that wait (kUnavailable) and returns when the running ones have ended or, false, when
  // `limit` has passed. May be called again.
  bool drain(std::optional<Clock::duration> limit = std::nullopt);
  // Ends every job now, so that all who wait have an answer; stages in progress still run to their end.
  void abandon();

 private:
  // The path of a job and its stages (pipeline.cpp).
  struct Admission {
    Ticket ticket;
    bool joined;
  };
  using Source = std::shared_ptr<const groth16::CircuitSource>;
  Result<Admission> admit(Request& request);
  void parse(Job& job, std::shared_ptr<Statement> statement, const std::function<Result<Source>()>& to_source);
  void carry_out(const Decision& decision);  // wants mutex_
  void load_circuit(size_t circuit, const CircuitStore::Compile& compile, Result<Memory> memory);
  void load_params(size_t circuit, size_t device, Result<Memory> memory);
  void evict_resident(const Decision& decision);
  Status synthesise(Work& work);
  Status check(const Work& work, const r1cs::Witness& witness);
  Status start(Work& work);
  Status finish(Work& work);
  Status verify(const Work& work, const groth16::Proof& proof);
  bool known_proof_holds(const Work& work);
  void place(const Work& work);

  // Doing what the scheduler says (engine.cpp). These want mutex_.
  using StageBody = Status (Engine::*)(Work&);
  using Report = void (Scheduler::*)(PartitionId, Status, Time);
  void round();
  void let_parse(const Decision& decision);
  void post_load(const Decision& decision);
  void post_stage(const Decision& decision, StageBody stage, Report report);
  void post(std::function<void()> task);
  void conclude(const Decision& decision);
  Result<Memory> reserve(const Decision& decision);
  void note_load(size_t circuit, Stage stage, Clock::duration spent, const Status& loaded);
  void note_overdue(const Decision& decision);
  void keep_result(std::shared_ptr<Job> job);
  void forget_old_results();

  // These do not.
  std::shared_ptr<Statement> await_turn(const Job& job);  // null where the job ended first
  std::string name_of(size_t circuit);
  size_t begin_span(Job& job, Span span);
  void end_span(Job& job, size_t index, bool good, Clock::duration cpu);
  void run_stage(Work& work, StageBody stage, Report report);
  void drop(PartitionId id);
  void let_go(PartitionId id);
  void work();
  void keep_time();

  // Stages and loads of a PoSt let those of other jobs stand still.
  static unsigned urgency_of(Priority priority) {
    return priority > Priority::kNormal ? static_cast<unsigned>(priority) - 1 : 0;
  }
  // What `body` returns; how long it took is noted, also where it throws.
  template <class Body>
  auto timed(Job& job, Span span, Body&& body) {
    const exec::Pool::Urgency urgency(pool_, urgency_of(job.priority));
    struct Note {
      Engine& engine;
      Job& job;
      size_t index;
      bool good = false;
      exec::Meter meter;
      ~Note() { engine.end_span(job, index, good, meter.spent()); }
    } note{*this, job, begin_span(job, span)};
    auto result = body();
    note.good = result.has_value();
    return result;
  }
  // These want mutex_.
  Snapshot::Job view_of(const Job& job, std::vector<Scheduler::Step> steps) const;
  static std::vector<Scheduler::Step> steps_of_ended(const Job& job);

  const Options options_;
  CircuitStore& circuits_;
  ParamsStore& params_;
  const std::vector<Device> devices_;
  exec::Pool& pool_;
  mem::Budget budget_;
  mem::Ledger ledger_ = make_ledger();

  std::mutex mutex_;                 // guards all below, and the jobs
  std::condition_variable changed_;  // for those who wait for a job, a turn, a load or idleness
  std::condition_variable posted_, time_changed_;
  Scheduler scheduler_;
  std::map<std::string, std::shared_ptr<Job>> jobs_;  // with those kept for their results
  std::map<JobId, std::shared_ptr<Job>> open_;        // not yet ended
  std::deque<std::shared_ptr<Job>> kept_;             // ended, the oldest first; ids may have gone to newer jobs
  uint64_t kept_bytes_ = 0;
  std::map<std::pair<JobId, uint32_t>, std::unique_ptr<Work>> works_;
  struct Preload {
    CircuitStore::Compile compile;
    std::optional<Error> error;
  };
  std::map<size_t, Preload> preloads_;  // by the scheduler's number of the circuit
  std::deque<std::function<void()>> tasks_;
  JobId next_job_ = 1;
  size_t busy_ = 0, idle_threads_ = 0;  // threads with a task, and without
  size_t parsing_ = 0;                  // callers of submit() who parse
  Clock::duration result_ttl_;
  std::map<std::string, Totals> totals_;  // by kind of job
  std::map<Code, uint64_t> refused_;
  std::array<uint64_t, kStages> overdue_{};
  std::vector<std::map<Code, uint64_t>> device_failures_;
  bool shutting_down_ = false, stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace cuzk::engine
