#pragma once
// What was done when, and how long it takes: the stages of one job as they were carried out, and counts over all jobs.

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "engine/job.h"

namespace cuzk::engine {

// One stage of a partition, or of a whole job. A job has at most 4 a partition and attempt, and few of its own.
struct Span {
  Stage stage;
  uint32_t partition = kWholeJob;
  unsigned attempt = 1;
  size_t device = SIZE_MAX;  // by the engine's number; from the device stage on
  Clock::time_point begin{};
  std::optional<Clock::time_point> end = {};  // absent while it runs
  bool good = false;                          // it ended without an error

  Clock::duration length(Clock::time_point now) const { return end.value_or(now) - begin; }
};

// What a job has cost so far, stages in progress left out.
struct Cost {
  Clock::duration gpu{};  // in device stages on cards; workers of one card may overlap
  Clock::duration cpu{};  // of all threads, in all stages but loads
};

// Durations by size. Bounds are shared by all of them, so that they can be added up: 1 ms to 50 min in half decades.
struct Histogram {
  static constexpr std::array kBounds = {0.001, 0.003, 0.01, 0.03,  0.1,   0.3,    1.0,
                                         3.0,   10.0,  30.0, 100.0, 300.0, 1000.0, 3000.0};  // s, inclusive

  std::array<uint64_t, kBounds.size() + 1> counts{};  // by the least bound that holds; the last has none
  double sum = 0;                                     // s

  void add(Clock::duration duration) {
    const double seconds = std::chrono::duration<double>(duration).count();
    counts[static_cast<size_t>(std::lower_bound(kBounds.begin(), kBounds.end(), seconds) - kBounds.begin())]++;
    sum += seconds;
  }
};

// Of all jobs of a kind since the start; nothing here ever falls.
struct Totals {
  uint64_t completed = 0, cancelled = 0;
  std::map<Code, uint64_t> failed;
  Histogram duration;                     // of completed jobs, from submission to the end
  std::array<Histogram, kStages> stages;  // parse and wait once a job, the others once a partition and attempt

  uint64_t failures() const {
    uint64_t sum = 0;
    for (const auto& [code, count] : failed) sum += count;
    return sum;
  }
};

}  // namespace cuzk::engine
