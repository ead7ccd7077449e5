#pragma once
// Large memory, zeroed, straight from the system, made from a reservation that lives as long as it does.

#include <cstddef>
#include <span>

#include "mem/budget.h"
#include "mem/ledger.h"

namespace cuzk::mem {

class Buffer {
 public:
  // As many bytes as the reservation holds; `entry`, where given, is set to that size. Aligned to a page, and from
  // kHugeBytes on to a huge page, which the system is asked to use. kResourceExhausted where it has no address space.
  static Result<Buffer> make(Reservation reservation, Ledger::Entry entry = {});

  static constexpr size_t kHugeBytes = size_t{2} << 20;

  Buffer() = default;
  ~Buffer();
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer other) noexcept {
    swap(other);
    return *this;
  }

  std::span<std::byte> bytes() const { return bytes_; }
  // The whole elements of T that the bytes hold; T is a trivial type for which zero bytes are a value.
  template <class T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }

  // Frees the end, keeping the first `bytes`; the memory (whole pages), reservation and ledger shrink at once.
  void shrink_to(size_t bytes);

 private:
  void swap(Buffer& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(reservation_, other.reservation_);
    std::swap(entry_, other.entry_);
  }

  Reservation reservation_;
  Ledger::Entry entry_;
  std::span<std::byte> bytes_;
};

}  // namespace cuzk::mem
