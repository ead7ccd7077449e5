#include "base/allocation_testing.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <new>

namespace cuzk::testing {
namespace {

std::atomic<size_t> largest = 0;
thread_local size_t until_failure = 0;

// By address, as operator delete is not always told the size. No container: it would allocate.
struct Alive {
  void* at;
  size_t bytes;
};
std::atomic<bool> watching = false;
std::mutex mutex;
std::array<Alive, 4096> alive;
size_t count = 0;
uint64_t sum = 0, most = 0;

template <class Allocate>
void* allocated(size_t bytes, Allocate&& allocate) {
  if (until_failure > 0 && --until_failure == 0) throw std::bad_alloc();
  size_t known = largest;
  while (bytes > known && !largest.compare_exchange_weak(known, bytes)) continue;
  void* const at = allocate();
  if (watching && bytes >= LargeAllocations::kLarge) {
    std::lock_guard lock(mutex);
    alive.at(count++) = {at, bytes};
    most = std::max(most, sum += bytes);
  }
  return at;
}

void freed(void* at) {
  if (!watching) return;
  std::lock_guard lock(mutex);
  const auto end = alive.begin() + static_cast<ptrdiff_t>(count);
  const auto found = std::find_if(alive.begin(), end, [&](const Alive& each) { return each.at == at; });
  if (found == end) return;
  sum -= found->bytes;
  *found = alive[--count];
}

}  // namespace

LargestAllocation::LargestAllocation() { largest = 0; }
size_t LargestAllocation::bytes() const { return largest; }

LargeAllocations::LargeAllocations() {
  count = sum = most = 0;
  watching = true;
}
LargeAllocations::~LargeAllocations() { watching = false; }
uint64_t LargeAllocations::peak() const {
  std::lock_guard lock(mutex);
  return most;
}

void fail_allocation(size_t nth) { until_failure = nth; }

}  // namespace cuzk::testing

// The operators by their mangled names: new, with and without an alignment; delete, with and without a size as well.
using cuzk::testing::allocated;
using cuzk::testing::freed;
using std::align_val_t;

extern "C" {
void* __real__Znwm(size_t bytes);
void* __real__ZnwmSt11align_val_t(size_t bytes, align_val_t alignment);
void __real__ZdlPv(void* at);
void __real__ZdlPvm(void* at, size_t bytes);
void __real__ZdlPvSt11align_val_t(void* at, align_val_t alignment);
void __real__ZdlPvmSt11align_val_t(void* at, size_t bytes, align_val_t alignment);

void* __wrap__Znwm(size_t bytes) {
  return allocated(bytes, [&] { return __real__Znwm(bytes); });
}
void* __wrap__ZnwmSt11align_val_t(size_t bytes, align_val_t alignment) {
  return allocated(bytes, [&] { return __real__ZnwmSt11align_val_t(bytes, alignment); });
}
void __wrap__ZdlPv(void* at) {
  freed(at);
  __real__ZdlPv(at);
}
void __wrap__ZdlPvm(void* at, size_t bytes) {
  freed(at);
  __real__ZdlPvm(at, bytes);
}
void __wrap__ZdlPvSt11align_val_t(void* at, align_val_t alignment) {
  freed(at);
  __real__ZdlPvSt11align_val_t(at, alignment);
}
void __wrap__ZdlPvmSt11align_val_t(void* at, size_t bytes, align_val_t alignment) {
  freed(at);
  __real__ZdlPvmSt11align_val_t(at, bytes, alignment);
}
}
