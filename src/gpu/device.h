#pragma once
// The CUDA devices of this machine.

#include <cstdint>
#include <string>
#include <vector>

namespace cuzk::gpu {

struct DeviceInfo {
  std::string name;
  std::string pci_address;  // "0000:17:00.0", stable across restarts where the index is not
  unsigned compute_major, compute_minor;
  unsigned multiprocessors;
  uint64_t memory_bytes;
};

// Whether the CUDA sources are in this build (cmake/cuda.cmake).
bool available();

// The devices that the driver shows to this process, in its order (CUDA_VISIBLE_DEVICES is honoured). Empty where there
// is no device, no driver, or no CUDA in this build.
std::vector<DeviceInfo> devices();

}  // namespace cuzk::gpu
