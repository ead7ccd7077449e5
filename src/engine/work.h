#pragma once
// What the engine keeps of a job, and of a partition on its way.

#include <memory>
#include <optional>
#include <vector>

#include "engine/backend.h"
#include "engine/job.h"
#include "engine/scheduler.h"
#include "engine/telemetry.h"
#include "groth16/circuit_source.h"
#include "mem/buffer.h"

namespace cuzk::engine {

// What is to be proved, with the memory it takes.
struct Statement {
  Status granted;  // whether there was memory for it
  mem::Reservation memory;
  mem::Ledger::Entry entry;
  std::shared_ptr<const groth16::CircuitSource> source;  // when it is parsed
};

// What changes in a job is guarded by the engine's mutex.
struct Job {
  const std::string id, kind;
  const Priority priority;
  const Bytes32 payload_digest;
  const JobId number;  // in order of submission, from 1
  const Clock::time_point submitted;

  State state = State::kParsing;
  std::shared_ptr<Statement> statement;  // from when it may be parsed until the end
  size_t circuit = SIZE_MAX;
  Bytes proof;  // its partitions' proofs; a gap until the last is placed
  std::optional<Error> error;
  std::optional<Origin> origin;  // of the error
  StageTimes times;
  Cost cost;
  std::vector<Span> spans;  // in order of their begin
  uint32_t partitions = 0;  // known when it is parsed
  Clock::time_point enqueued, ended;
  size_t watchers = 0;
  bool keep = false;
  std::function<Result<std::shared_ptr<const groth16::CircuitSource>>()> parse;  // resumed, and not parsed yet
  std::map<uint32_t, Bytes> known;                                               // Resumed::proofs
};

// A partition between the beginning of its synthesis and its end. Its stages follow each other, so nothing in it is
// used by two threads at a time.
struct Work {
  std::shared_ptr<Job> job;
  std::shared_ptr<const Statement> statement;
  uint32_t partition = 0;
  unsigned attempt = 1;
  bool check_rows = false;
  size_t device = kNoDevice;
  Setting setting;  // parameters from the device stage on
  Memory memory;    // for the next stage
  Status granted;   // whether there was memory for it
  std::optional<r1cs::Witness> witness;
  std::unique_ptr<Pending> pending;
  mem::Buffer verification;  // what its proof is verified in; from the device stage on
  Bytes proof;               // encoded; from the beginning where an earlier process made it
  Entries entries, scratch;  // in the ledger

  PartitionId id() const { return {job->number, partition}; }
  Span span(Stage stage) const { return {stage, partition, attempt, device}; }
};

}  // namespace cuzk::engine
