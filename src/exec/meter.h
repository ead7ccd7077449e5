#pragma once
// Processor time of what a thread has done for it.

#include <atomic>
#include <chrono>
#include <cstdint>

namespace cuzk::exec {

// That of its thread while it lives, and that of other threads in loops of a Pool which its thread calls, loops within
// them included.
class Meter {
 public:
  Meter();
  ~Meter();
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  std::chrono::nanoseconds spent() const;  // on its thread

 private:
  friend class Metered;
  std::atomic<int64_t> elsewhere_ns_{0};
  const int64_t begin_ns_;
  Meter* const before_;
};

}  // namespace cuzk::exec
