#pragma once
// Carves arrays out of caller-given memory. Without memory it counts, so that the size a plan states and the use that
// run makes of it come from one text.

#include <cstddef>
#include <cstdint>
#include <span>

namespace cuzk::mem {

class Carver {
 public:
  Carver() = default;
  explicit Carver(std::span<std::byte> memory) {
    const auto address = reinterpret_cast<uintptr_t>(memory.data());
    base_ = memory.data() + (kAlignment - address % kAlignment) % kAlignment;
  }

  template <class T>
  std::span<T> take(size_t count) {
    std::byte* start = base_ ? base_ + used_ : nullptr;
    used_ += (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    return {reinterpret_cast<T*>(start), start ? count : 0};
  }
  // What the arrays taken so far need of memory at any address.
  uint64_t bytes() const { return used_ + kAlignment; }

 private:
  static constexpr size_t kAlignment = 64;
  std::byte* base_ = nullptr;
  size_t used_ = 0;
};

}  // namespace cuzk::mem
