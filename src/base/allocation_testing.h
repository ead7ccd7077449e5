#pragma once
// How large allocations are, in programs that link cuzk_base_testing.

#include <cstddef>

namespace cuzk::testing {

// What operator new was asked for at most, by all threads, since this was made.
class LargestAllocation {
 public:
  LargestAllocation();
  size_t bytes() const;
};

}  // namespace cuzk::testing
