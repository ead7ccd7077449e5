#include "base/allocation_testing.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> largest = 0;

void* allocate(std::size_t size, std::size_t alignment) {
  std::size_t known = largest;
  while (size > known && !largest.compare_exchange_weak(known, size)) continue;
  void* memory = std::aligned_alloc(alignment, (size / alignment + 1) * alignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace cuzk::testing {

LargestAllocation::LargestAllocation() { largest = 0; }
size_t LargestAllocation::bytes() const { return largest; }

}  // namespace cuzk::testing
