#pragma once
// Watches operator new, and makes it fail, in programs that link cuzk_base_testing: by the linker's --wrap, so what
// shared libraries allocate is not seen.

#include <cstddef>
#include <cstdint>

namespace cuzk::testing {

// What operator new was asked for at most, by all threads, since this was made.
class LargestAllocation {
 public:
  LargestAllocation();
  size_t bytes() const;
};

// The nth allocation of this thread from now on throws std::bad_alloc; 0: none does.
void fail_allocation(size_t nth);

}  // namespace cuzk::testing
