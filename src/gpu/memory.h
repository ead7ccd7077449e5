#pragma once
// Device and pinned host memory, made from a reservation like every large buffer (mem/buffer.h), and the type for what
// lies in device memory. Errors: kResourceExhausted where the device or system has no room, kUnavailable where it
// failed.

#include <cstddef>
#include <cstdint>
#include <span>

#include "mem/budget.h"
#include "mem/ledger.h"

namespace cuzk::gpu {

// Elements in device memory; host code carries it about and never dereferences it.
template <class T>
struct DeviceSpan {
  T* data = nullptr;
  size_t size = 0;

  DeviceSpan first(size_t count) const { return {data, count}; }
  DeviceSpan subspan(size_t offset, size_t count) const { return {data + offset, count}; }
  DeviceSpan subspan(size_t offset) const { return {data + offset, size - offset}; }
  // The same bytes as elements of another type of at most this alignment.
  template <class U>
  DeviceSpan<U> as() const {
    return {reinterpret_cast<U*>(data), size * sizeof(T) / sizeof(U)};
  }
  DeviceSpan<const T> as_const() const { return {data, size}; }
};

// Memory of one device: as many bytes as the reservation holds, uninitialised, aligned to 256.
class DeviceMemory {
 public:
  static Result<DeviceMemory> make(int ordinal, mem::Reservation reservation, mem::Ledger::Entry entry = {});
  // For who keeps memory between uses, each of which has a reservation that covers it.
  static Result<DeviceMemory> make_uncovered(int ordinal, uint64_t bytes);

  DeviceMemory() = default;
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept { swap(other); }
  DeviceMemory& operator=(DeviceMemory other) noexcept {
    swap(other);
    return *this;
  }

  int ordinal() const { return ordinal_; }
  DeviceSpan<std::byte> bytes() const { return bytes_; }

 private:
  void swap(DeviceMemory& other) noexcept {
    std::swap(ordinal_, other.ordinal_);
    std::swap(bytes_, other.bytes_);
    std::swap(reservation_, other.reservation_);
    std::swap(entry_, other.entry_);
  }

  int ordinal_ = 0;
  DeviceSpan<std::byte> bytes_;
  mem::Reservation reservation_;
  mem::Ledger::Entry entry_;
};

// Page-locked host memory, which devices read and write at full speed while kernels run.
class PinnedMemory {
 public:
  static Result<PinnedMemory> make(mem::Reservation reservation, mem::Ledger::Entry entry = {});

  PinnedMemory() = default;
  ~PinnedMemory();
  PinnedMemory(PinnedMemory&& other) noexcept { swap(other); }
  PinnedMemory& operator=(PinnedMemory other) noexcept {
    swap(other);
    return *this;
  }

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  void swap(PinnedMemory& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(reservation_, other.reservation_);
    std::swap(entry_, other.entry_);
  }

  std::span<std::byte> bytes_;
  mem::Reservation reservation_;
  mem::Ledger::Entry entry_;
};

// Makes memory that exists already page-locked, while it lives: 0.04 s/GiB, against 0.67 for new pinned memory.
class Pin {
 public:
  static Result<Pin> make(std::span<const std::byte> bytes);

  Pin() = default;
  ~Pin();
  Pin(Pin&& other) noexcept { std::swap(bytes_, other.bytes_); }
  Pin& operator=(Pin other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }

 private:
  std::span<const std::byte> bytes_;
};

// Page-locked host memory that this process holds now, of both kinds above.
uint64_t pinned_bytes();

// Carves arrays out of device memory. Without memory it counts, so that the size a plan states and the use that run
// makes of it come from one text.
class DeviceCarver {
 public:
  DeviceCarver() = default;
  explicit DeviceCarver(DeviceSpan<std::byte> memory) : base_(memory.data) {}

  template <class T>
  DeviceSpan<T> take(size_t count) {
    std::byte* start = base_ + used_;  // never dereferenced while counting
    used_ += (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    if (used_ > high_water_) high_water_ = used_;
    return {reinterpret_cast<T*>(start), count};
  }
  // Arrays taken after mark() are given up by release(mark()), for steps that follow each other.
  uint64_t mark() const { return used_; }
  void release(uint64_t mark) { used_ = mark; }
  // The most that was taken at a time.
  uint64_t bytes() const { return high_water_; }

 private:
  static constexpr size_t kAlignment = 256;
  std::byte* base_ = nullptr;
  uint64_t used_ = 0, high_water_ = 0;
};

}  // namespace cuzk::gpu
