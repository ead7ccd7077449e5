#pragma once
// One unit of work and its place in the queue. The order is a pure function of the key.

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/backend.h"
#include "engine/job.h"

namespace cuzk::engine {

// What changes in a job is guarded by the engine's mutex.
struct Job {
  const std::string id, kind;
  const Priority priority;
  const Bytes32 payload_digest;
  const uint64_t sequence;  // order of submission
  const Clock::time_point submitted;

  State state = State::kParsing;
  Bytes proof;               // its partitions' proofs; a gap until the last is placed
  uint32_t proofs_left = 0;  // partitions without a verified proof
  std::optional<Error> error;
  StageTimes times;
  Clock::time_point enqueued, ended;
};

struct TaskKey {
  bool fresh;        // false: the partition is on a device already; only finishing frees what it holds
  uint8_t deferral;  // 255 - priority
  uint64_t sequence;
  uint32_t partition;

  auto operator<=>(const TaskKey&) const = default;
};

struct Task {
  std::shared_ptr<Job> job;
  std::shared_ptr<const groth16::CircuitSource> source;
  uint32_t partition;
  unsigned attempt = 1;
  Setting setting;                        // set by load
  std::unique_ptr<Pending> pending = {};  // null: the partition has to be synthesised and started

  TaskKey key() const {
    return {pending == nullptr, static_cast<uint8_t>(255 - static_cast<uint8_t>(job->priority)), job->sequence,
            partition};
  }
};

}  // namespace cuzk::engine
