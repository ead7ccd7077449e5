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
#include "engine/work.h"

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

// Holds on to one job, whatever becomes of its id.
struct Ticket {
  std::shared_ptr<Job> job;
  uint32_t queue_position = 0;  // jobs that waited when this one came
};

struct KindCount {
  uint32_t waiting = 0, running = 0;
};
struct Snapshot {
  std::map<std::string, KindCount> kinds;  // jobs not yet ended, by Request::kind
  std::vector<ParamsStore::Loaded> params;
  std::vector<CircuitStore::Loaded> circuits;
  std::vector<mem::Budget::Usage> memory;  // host, requests, then the devices
  std::vector<mem::Ledger::Line> ledger;
  struct Device {
    std::string name;
    Scheduler::Health health;
  };
  std::vector<Device> devices;
  struct Job {
    std::string id, kind;
    Priority priority;
    State state;
    Clock::duration age;  // since submission
    std::vector<Scheduler::Step> partitions;
  };
  std::vector<Job> jobs;  // not yet ended, in order of service
  uint64_t completed = 0, failed = 0;
};

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
  // Ends a job; stages in progress run to their end and no further. Says whether it was running; kNotFound as find().
  Result<bool> cancel(const std::string& id);
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

  Snapshot snapshot();
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
  void evict_resident(size_t circuit, size_t device);
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
  void keep_result(std::shared_ptr<Job> job);
  void forget_old_results();

  // These do not.
  std::shared_ptr<Statement> await_turn(const Job& job);  // null where the job ended first
  std::string name_of(size_t circuit);
  void run_stage(Work& work, StageBody stage, Report report);
  void drop(PartitionId id);
  void let_go(PartitionId id);
  void work();
  void keep_time();

  // What `body` returns; its time is added to the job's stage.
  template <class Body>
  auto timed(Job& job, Stage stage, Body&& body) {
    const Clock::time_point begin = options_.now();
    auto result = body();
    const Clock::duration spent = options_.now() - begin;
    std::lock_guard lock(mutex_);
    job.times[stage] += spent;
    return result;
  }

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
  uint64_t completed_ = 0, failed_ = 0;
  bool shutting_down_ = false, stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace cuzk::engine
