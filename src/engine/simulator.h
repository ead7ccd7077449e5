#pragma once
// What would happen on a machine with these settings: the scheduler of the engine under a virtual clock, with stage
// times and sizes from a profile.

#include <functional>

#include "engine/policy.h"
#include "engine/scheduler.h"

namespace cuzk::engine {

// One circuit on the machine of a profile. Times in seconds, of one job or of one partition.
struct CircuitProfile {
  std::string id;
  uint32_t partitions = 1;
  double parse = 0, load_circuit = 0, load_params = 0;
  double synthesis = 0;  // alone; see Profile::slowdown
  double device = 0;     // during which no other partition is computed on the device
  double worker = 0;     // for which the worker is busy besides: another worker's kernels may run
  double finish = 0;
  uint64_t request_bytes = 0;
  CircuitNeeds needs;
};

struct Profile {
  std::string name, about;
  uint64_t memory_bytes = 0;  // of the machine, without swap
  double slowdown = 0;        // each further partition in synthesis makes all of them longer by this share
  Policy policy;
  std::vector<DeviceSpec> devices;
  std::vector<CircuitProfile> circuits;
  bool loaded = true;  // circuits and parameters are in memory at the beginning
};

// The machine on which the engine before this one was measured (wire.md, section 7), with its stage times and sizes:
// 755 GiB, 96 cores, one card of 16 GB. Policy and device workers as asked.
Profile published_machine(size_t partition_workers, size_t gpu_workers);
// The same with the policy that ran out of memory: the permit goes back before the hand-over, and a, b and c are kept
// to the end.
Profile published_accident(size_t partition_workers, size_t gpu_workers);

struct Submission {
  double at = 0;
  size_t circuit = 0;
  Priority priority = Priority::kNormal;
  std::optional<double> deadline, cancel_at;
};

struct Workload {
  std::vector<Submission> submissions;
  // Besides: so many jobs of a circuit, at most so many at a time, the next as soon as one ends.
  size_t jobs = 0, concurrent = 1, circuit = 0;
  Priority priority = Priority::kNormal;
  // When an operator asks for a circuit to be loaded, or evicted.
  struct Wish {
    double at;
    size_t circuit;
    bool loaded;
  };
  std::vector<Wish> wishes;
};

// Live host memory by class, as the engine's ledger names them (memory.h).
struct Live {
  uint64_t requests = 0, circuits = 0, params = 0, witnesses = 0, evaluations = 0, pending = 0;

  uint64_t host() const { return requests + circuits + params + witnesses + evaluations + pending; }
};

struct Sample {
  double at = 0;
  size_t open_jobs = 0, synthesising = 0, queued = 0, on_device = 0, finishing = 0;
  Live live;
  std::vector<uint64_t> on_device_bytes;  // by device
};

struct Report {
  double seconds = 0;  // from the first submission to the last end
  size_t completed = 0, failed = 0, cancelled = 0, refused = 0;
  double seconds_per_proof = 0;  // 0 where none was made
  Live peak;                     // of each class by itself
  uint64_t peak_host = 0;        // of all together
  std::vector<uint64_t> peak_on_device;
  Live left;                               // at the end; circuits and parameters stay
  size_t peak_queued = 0;                  // synthesised partitions that no device has taken
  std::optional<double> out_of_memory_at;  // when the machine had not enough
  std::vector<double> device_idle;         // share of the time, by device
  double synthesis_idle = 0;               // share of the permits
  std::vector<Sample> timeline;            // after every event
};

// For tests: other durations, failures, and a look at every state.
struct SimulationHooks {
  std::function<double(const Decision&, double seconds)> duration;
  std::function<Status(const Decision&)> outcome;
  std::function<void(const Scheduler&, const std::vector<Decision>&, const Sample&, double now)> after_round;
  bool timeline = true;
  size_t max_rounds = SIZE_MAX;  // of decisions; more are taken for a fault of the scheduler
};

// kInternal where the scheduler waits for ever, or goes round and round.
Result<Report> simulate(const Profile& profile, const Workload& workload, const SimulationHooks& hooks = {});

}  // namespace cuzk::engine
