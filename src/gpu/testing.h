#pragma once
// For tests that need a device: they are skipped, visibly, where there is none.

#include <gtest/gtest.h>

#include "gpu/device.h"
#include "gpu/stream.h"

namespace cuzk::gpu {

#define CUZK_SKIP_WITHOUT_DEVICE() \
  if (::cuzk::gpu::devices().empty()) GTEST_SKIP() << "no CUDA device"

// Device memory for tests, from a budget of its own.
inline DeviceMemory test_memory(uint64_t bytes) {
  mem::Budget budget({{"gpu", bytes}});
  return DeviceMemory::make(0, budget.reserve({0, bytes}).value()).value();
}

// An array of test data in device memory.
template <class T>
class TestArray {
 public:
  explicit TestArray(size_t size) : memory_(test_memory(size * sizeof(T))) {}
  explicit TestArray(std::span<const T> values) : TestArray(values.size()) {
    EXPECT_TRUE(stream_.upload(span(), values));
    EXPECT_TRUE(stream_.synchronize());
  }
  DeviceSpan<T> span() const { return memory_.bytes().as<T>(); }
  std::vector<T> values() const {
    std::vector<T> out(span().size);
    EXPECT_TRUE(stream_.download(std::span(out), span().as_const()));
    EXPECT_TRUE(stream_.synchronize());
    return out;
  }

 private:
  Stream stream_ = Stream::make(0).value();
  DeviceMemory memory_;
};

}  // namespace cuzk::gpu
