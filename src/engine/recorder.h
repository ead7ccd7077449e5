#pragma once
// What a restart must not lose. The engine tells a recorder of it, and at the next start the recorder's owner gives it
// back: results to Engine::adopt(), jobs that had not ended to Engine::submit() (Request::resumed).

#include <functional>
#include <string>

#include "engine/work.h"

namespace cuzk::engine {

// All but settle() are called in the order of events, under the engine's mutex: they take note and return.
class Recorder {
 public:
  virtual ~Recorder() = default;

  // A new job; it takes its id from any other. `payload` may be called until settle() returns.
  virtual void accepted(const Job& job, std::function<std::string()> payload) = 0;
  // A verified proof, as it is encoded.
  virtual void proved(const Job& job, uint32_t partition, ByteSpan proof) = 0;
  // The job has its result. Jobs that a shutdown puts off have none.
  virtual void ended(const Job& job) = 0;
  // The result is not kept any longer.
  virtual void forgotten(const Job& job) = 0;
  // Returns when all that was told before is on disk, or is known not to get there.
  virtual void settle() = 0;
};

}  // namespace cuzk::engine
