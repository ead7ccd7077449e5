#include <cuda_runtime_api.h>

#include "gpu/device.h"

namespace cuzk::gpu {

bool available() { return true; }

std::vector<DeviceInfo> devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return {};  // no driver, or one that is too old
  std::vector<DeviceInfo> devices;
  for (int index = 0; index < count; index++) {
    cudaDeviceProp properties;
    char address[16];
    if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) continue;
    if (cudaDeviceGetPCIBusId(address, sizeof address, index) != cudaSuccess) continue;
    devices.push_back({properties.name, address, static_cast<unsigned>(properties.major),
                       static_cast<unsigned>(properties.minor), static_cast<unsigned>(properties.multiProcessorCount),
                       properties.totalGlobalMem});
  }
  return devices;
}

}  // namespace cuzk::gpu
