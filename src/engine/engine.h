#pragma once
// The engine: takes statements, proves their partitions on a fixed set of workers, and answers with proofs it has
// verified.
//
// The path of a job is pipeline.cpp; this class keeps the jobs and the threads. All work waits in one ordered queue of
// tasks (task.h): what has been started is finished first, then the higher priority, then the older job.

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "engine/backend.h"
#include "engine/job.h"
#include "engine/stores.h"
#include "engine/task.h"

namespace cuzk::engine {

struct Options {
  size_t workers = 1;        // tasks at a time; each may hold one partition's witness and evaluations
  size_t parsers = 2;        // payloads parsed at a time
  size_t max_waiting = 256;  // jobs that wait; one more is refused
  unsigned attempts = 2;     // proofs of one partition before a job fails because they do not verify
  Clock::duration result_ttl = std::chrono::hours(1);
  std::function<Clock::time_point()> now = Clock::now;
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
  uint64_t completed = 0, failed = 0;
};

class Engine {
 public:
  // All but the options outlive the engine.
  Engine(Options options, CircuitStore& circuits, ParamsStore& params, Backend& backend, exec::Pool& pool);
  // Drains.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Takes a job; parses its payload on the calling thread. A known id with the same digest joins the job that runs or
  // returns the kept proof; with another digest it supersedes that job, which ends as cancelled. A payload that does
  // not parse is a job that failed, not an error. Errors: kUnavailable while draining, kResourceExhausted when the
  // queue is full.
  Result<Ticket> submit(Request request);
  // The job of an id, while it runs and for Options::result_ttl after; kNotFound "job not found: ID".
  Result<Ticket> find(const std::string& id);
  // Waits for the end of a job; nullopt when `timeout` passes first.
  std::optional<Outcome> await(const Ticket& ticket, std::optional<Clock::duration> timeout = std::nullopt);

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
  void run_task(Task task);
  void start_partition(Task task);
  void finish_partition(Task task);
  Result<Admission> admit(Request request);
  Result<Source> parse(Job& job, const std::function<Result<Source>()>& parse);
  void enqueue(const std::shared_ptr<Job>& job, const Source& source);
  Status load(Task& task);
  Result<r1cs::Witness> synthesise(const Task& task);
  Status start(Task& task, r1cs::Witness witness);
  Result<groth16::Proof> finish(Task& task);
  Status verify(const Task& task, const groth16::Proof& proof);
  void prove_again_or_fail(Task task, Error error);
  void place(const Task& task, const groth16::Proof& proof);
  void fail_job(Job& job, Error error);

  // Bookkeeping (engine.cpp). These want mutex_.
  void conclude(Job& job, State state, std::optional<Error> error);  // once; later calls change nothing
  void add_task(Task task);                                          // unless its job has ended
  void forget_old_results();
  void work();

  // What `body` returns; its time is added to the job's stage.
  template <class Body>
  auto timed(Job& job, Stage stage, Body&& body) {
    Clock::time_point begin = options_.now();
    auto result = body();
    Clock::duration spent = options_.now() - begin;
    std::lock_guard lock(mutex_);
    job.times[stage] += spent;
    return result;
  }

  const Options options_;
  CircuitStore& circuits_;
  ParamsStore& params_;
  Backend& backend_;
  exec::Pool& pool_;

  std::mutex mutex_;                 // guards all below, and the jobs
  std::condition_variable changed_;  // a task came, a job ended, a parser became free, or draining began
  std::map<std::string, std::shared_ptr<Job>> jobs_;
  std::map<TaskKey, Task> tasks_;
  uint64_t next_sequence_ = 0;
  size_t waiting_ = 0;  // jobs in kParsing or kWaiting
  size_t open_ = 0;     // jobs not yet ended
  size_t parsing_ = 0, busy_ = 0;
  uint64_t completed_ = 0, failed_ = 0;
  bool draining_ = false, stopping_ = false;
  std::vector<std::jthread> workers_;
};

}  // namespace cuzk::engine
