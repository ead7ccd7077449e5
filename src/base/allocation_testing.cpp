#include "base/allocation_testing.h"

#include <atomic>
#include <new>

namespace cuzk::testing {
namespace {

std::atomic<size_t> largest = 0;
thread_local size_t until_failure = 0;

template <class Allocate>
void* allocated(size_t bytes, Allocate&& allocate) {
  if (until_failure > 0 && --until_failure == 0) throw std::bad_alloc();
  size_t known = largest;
  while (bytes > known && !largest.compare_exchange_weak(known, bytes)) continue;
  return allocate();
}

}  // namespace

LargestAllocation::LargestAllocation() { largest = 0; }
size_t LargestAllocation::bytes() const { return largest; }

void fail_allocation(size_t nth) { until_failure = nth; }

}  // namespace cuzk::testing

// The operators by their mangled names, with and without an alignment.
using cuzk::testing::allocated;
using std::align_val_t;

extern "C" {
void* __real__Znwm(size_t bytes);
void* __real__ZnwmSt11align_val_t(size_t bytes, align_val_t alignment);

void* __wrap__Znwm(size_t bytes) {
  return allocated(bytes, [&] { return __real__Znwm(bytes); });
}
void* __wrap__ZnwmSt11align_val_t(size_t bytes, align_val_t alignment) {
  return allocated(bytes, [&] { return __real__ZnwmSt11align_val_t(bytes, alignment); });
}
}
