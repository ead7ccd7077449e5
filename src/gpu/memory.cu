#include <atomic>

#include "gpu/launch.cuh"
#include "gpu/memory.h"

namespace cuzk::gpu {
namespace {

std::atomic<uint64_t> pinned = 0;

}  // namespace

Result<DeviceMemory> DeviceMemory::make_uncovered(int ordinal, uint64_t bytes) {
  Current current(ordinal);
  void* at = nullptr;
  if (bytes > 0) CUZK_CUDA(cudaMalloc(&at, bytes));
  DeviceMemory out;
  out.ordinal_ = ordinal;
  out.bytes_ = {static_cast<std::byte*>(at), bytes};
  return out;
}

Result<DeviceMemory> DeviceMemory::make(int ordinal, mem::Reservation reservation, mem::Ledger::Entry entry) {
  CUZK_TRY_ASSIGN(DeviceMemory out, make_uncovered(ordinal, reservation.bytes()));
  entry.resize(reservation.bytes());
  out.reservation_ = std::move(reservation);
  out.entry_ = std::move(entry);
  return out;
}

DeviceMemory::~DeviceMemory() {
  if (!bytes_.data) return;
  Current current(ordinal_);
  cudaFree(bytes_.data);
}

Result<PinnedMemory> PinnedMemory::make(mem::Reservation reservation, mem::Ledger::Entry entry) {
  const uint64_t bytes = reservation.bytes();
  void* at = nullptr;
  if (bytes > 0) CUZK_CUDA(cudaHostAlloc(&at, bytes, cudaHostAllocPortable));
  pinned += bytes;
  entry.resize(bytes);
  PinnedMemory out;
  out.bytes_ = {static_cast<std::byte*>(at), bytes};
  out.reservation_ = std::move(reservation);
  out.entry_ = std::move(entry);
  return out;
}

PinnedMemory::~PinnedMemory() {
  if (!bytes_.data()) return;
  cudaFreeHost(bytes_.data());
  pinned -= bytes_.size();
}

uint64_t pinned_bytes() { return pinned; }

// CUDA wants it so; nothing is written to it.
static void* address(std::span<const std::byte> bytes) { return const_cast<std::byte*>(bytes.data()); }

Result<Pin> Pin::make(std::span<const std::byte> bytes) {
  Pin out;
  if (bytes.empty()) return out;
  CUZK_CUDA(cudaHostRegister(address(bytes), bytes.size(), cudaHostRegisterPortable));
  out.bytes_ = bytes;
  pinned += bytes.size();
  return out;
}

Pin::~Pin() {
  if (bytes_.empty()) return;
  cudaHostUnregister(address(bytes_));
  pinned -= bytes_.size();
}

}  // namespace cuzk::gpu
