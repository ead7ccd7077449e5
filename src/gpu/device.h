#pragma once
// The CUDA devices of this machine.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cuzk::gpu {

struct DeviceInfo {
  int ordinal;  // what CUDA calls it in this process
  std::string name;
  std::string uuid;         // "GPU-8b2c...", as nvidia-smi prints it
  std::string pci_address;  // "0000:17:00.0", stable across restarts where the ordinal is not
  unsigned compute_major, compute_minor;
  unsigned multiprocessors;
  uint64_t memory_bytes;
  double clock_hz;  // at most, of the multiprocessors
};

// Whether the CUDA sources are in this build (cmake/cuda.cmake).
bool available();

// The devices that the driver shows to this process, in its order (CUDA_VISIBLE_DEVICES is honoured). Empty where there
// is no device, no driver, or no CUDA in this build.
std::vector<DeviceInfo> devices();

// Why there is none, and what to do.
std::string absence();

// The one that `name` names: an ordinal, a UUID or a beginning of one that only it has, a PCI address, or "" for the
// first. kUnavailable where there is none at all, kNotFound where none or several match.
Result<DeviceInfo> find_device(std::string_view name);

// The devices of these names, or all where there is no name. Errors as for find_device; no device at all is none found,
// not an error, where no name is given.
Result<std::vector<DeviceInfo>> find_devices(const std::vector<std::string>& names);

// Bytes that this device has free at the moment. kUnavailable where it cannot be asked.
Result<uint64_t> free_bytes(int ordinal);
// Of these, what to plan with: at most `limit_bytes`, and less what the driver takes as it goes.
Result<uint64_t> usable_bytes(int ordinal, uint64_t limit_bytes = UINT64_MAX);

}  // namespace cuzk::gpu
