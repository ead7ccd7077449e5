#pragma once
// What the engine is asked for and what it answers.

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "groth16/circuit_source.h"

namespace cuzk::engine {

using Clock = std::chrono::steady_clock;

enum class Priority : uint8_t { kLow, kNormal, kHigh, kCritical };
inline constexpr size_t kPriorities = 4;
inline constexpr std::array<std::string_view, kPriorities> kPriorityNames = {"low", "normal", "high", "critical"};

// A job moves downwards and ends in exactly one of the last three.
enum class State : uint8_t { kParsing, kWaiting, kRunning, kCompleted, kFailed, kCancelled };
constexpr bool is_final(State state) { return state >= State::kCompleted; }

enum class Stage : uint8_t { kParse, kWait, kCircuit, kParams, kSynthesise, kStart, kFinish, kVerify };
inline constexpr size_t kStages = 8;
inline constexpr std::array<std::string_view, kStages> kStageNames = {"parse",      "wait",  "circuit", "params",
                                                                      "synthesise", "start", "finish",  "verify"};

inline constexpr uint32_t kWholeJob = UINT32_MAX;

// Where an error came up.
struct Origin {
  Stage stage;
  uint32_t partition = kWholeJob;
  unsigned attempt = 1;
  std::string device = {};  // its name; empty before the device stage
};

// Time spent by stage, summed over partitions; stages of several partitions may overlap.
struct StageTimes {
  std::array<Clock::duration, kStages> spent{};

  Clock::duration& operator[](Stage stage) { return spent[static_cast<size_t>(stage)]; }
  Clock::duration operator[](Stage stage) const { return spent[static_cast<size_t>(stage)]; }
};

// What is known of a job that an earlier process accepted (recorder.h).
struct Resumed {
  uint64_t number;                   // Job::number
  std::map<uint32_t, Bytes> proofs;  // of partitions; each is verified before it counts
};

struct Request {
  std::string id;    // free text, not empty
  std::string kind;  // a label to count by, such as "porep-c2"
  Priority priority = Priority::kNormal;
  Bytes32 payload_digest{};  // equal ids with equal digests are one job
  // Turns the payload into a statement to prove. Called at most once, within submit(); of a resumed job on a thread of
  // the engine, later.
  std::function<Result<std::shared_ptr<const groth16::CircuitSource>>()> parse;
  uint64_t bytes = 0;                              // about what the statement takes in memory, from parsing to the end
  std::optional<Clock::duration> time_limit = {};  // the proof is of no use after so much time
  bool keep = false;                               // go on although nobody waits (Engine::unwatch)
  std::function<std::string()> payload = {};       // what parse reads, for the recorder; called within submit()
  std::optional<Resumed> resumed = {};
};

// For a log line: ids come from outside, and nothing in them may begin a line of its own.
std::string printable(std::string text);

struct Outcome {
  State state;                 // kCompleted, kFailed or kCancelled
  Bytes proof;                 // kCompleted only: 192 bytes a partition, in order, all of them verified
  std::optional<Error> error;  // the other two
  StageTimes times;
  Clock::duration total{};            // from submission to the end
  std::optional<Origin> origin = {};  // of the error, where it came up in a stage of this process
};

// A job that ended in an earlier process.
struct Ended {
  uint64_t number;
  std::string id, kind;
  Bytes32 payload_digest;
  Outcome outcome;
  Clock::duration age;  // since its end
};

}  // namespace cuzk::engine
