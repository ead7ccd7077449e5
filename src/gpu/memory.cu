#include "gpu/launch.cuh"
#include "gpu/memory.h"

namespace cuzk::gpu {

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
  entry.resize(bytes);
  PinnedMemory out;
  out.bytes_ = {static_cast<std::byte*>(at), bytes};
  out.reservation_ = std::move(reservation);
  out.entry_ = std::move(entry);
  return out;
}

PinnedMemory::~PinnedMemory() {
  if (bytes_.data()) cudaFreeHost(bytes_.data());
}

Result<Pin> Pin::make(std::span<const std::byte> bytes) {
  Pin out;
  if (bytes.empty()) return out;
  void* at = const_cast<std::byte*>(bytes.data());  // nothing is written to it
  CUZK_CUDA(cudaHostRegister(at, bytes.size(), cudaHostRegisterPortable));
  out.at_ = at;
  return out;
}

Pin::~Pin() {
  if (at_) cudaHostUnregister(at_);
}

}  // namespace cuzk::gpu
