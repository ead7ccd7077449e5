#pragma once
// Something of which there is so much, shared by priority classes: places at a stage, or bytes of a memory.
//
// What is kept for a class is open to it and to higher ones; a lower class finds the limit that is left. In a round of
// decisions, whoever does not fit blocks the limits that it would have broken. So nobody who comes after overtakes it
// there, and a higher class still finds what is kept for it.

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/job.h"

namespace cuzk::engine {

class Capacity {
 public:
  // `open` for every class, on top of it so much for kHigh and kCritical, and on top of that for kCritical alone.
  explicit Capacity(uint64_t open = 0, uint64_t for_high = 0, uint64_t for_critical = 0)
      : limit_{open, open, open + for_high, open + for_high + for_critical} {}

  // Another amount for every class; what is used may exceed it for a while.
  void set_open(uint64_t open) {
    const uint64_t before = limit_[0];
    for (uint64_t& limit : limit_) limit = limit - before + open;
  }

  // What the classes up to this one may use together, and do use.
  uint64_t limit(Priority priority) const { return limit_[index(priority)]; }
  uint64_t used(Priority priority = Priority::kCritical) const { return used_[index(priority)]; }

  // How much one of this class could take, were nobody blocked.
  uint64_t left(Priority priority) const {
    uint64_t least = UINT64_MAX;
    for (size_t level = index(priority); level < kPriorities; level++)
      least = std::min(least, limit_[level] - std::min(limit_[level], used_[level]));
    return least;
  }

  bool fits(Priority priority, uint64_t amount) const {
    for (size_t level = index(priority); level < kPriorities; level++) {
      if (blocked_[level] || used_[level] + amount > limit_[level]) return false;
    }
    return true;
  }
  void take(Priority priority, uint64_t amount) {
    for (size_t level = index(priority); level < kPriorities; level++) used_[level] += amount;
  }
  void give(Priority priority, uint64_t amount) {
    for (size_t level = index(priority); level < kPriorities; level++) used_[level] -= amount;
  }

  // For the rest of the round.
  void block(Priority priority, uint64_t amount) {
    for (size_t level = index(priority); level < kPriorities; level++) {
      if (used_[level] + amount > limit_[level]) blocked_[level] = true;
    }
  }
  void block_level(size_t level) { blocked_[level] = true; }
  void unblock() { blocked_ = {}; }

 private:
  static size_t index(Priority priority) { return static_cast<size_t>(priority); }

  std::array<uint64_t, kPriorities> limit_{}, used_{};  // by level: the class and all below it
  std::array<bool, kPriorities> blocked_{};
};

}  // namespace cuzk::engine
