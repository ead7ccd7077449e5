#include <fmt/format.h>

#include "gpu/device.h"
#include "gpu/launch.cuh"

namespace cuzk::gpu {
namespace {

// As nvidia-smi prints it.
std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; i++) {
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
  }
  return text;
}

}  // namespace

bool available() { return true; }

std::vector<DeviceInfo> devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return {};  // no driver, or one that is too old
  std::vector<DeviceInfo> devices;
  for (int index = 0; index < count; index++) {
    cudaDeviceProp properties;
    char address[16];
    if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) continue;
    int kilohertz = 0;
    if (cudaDeviceGetPCIBusId(address, sizeof address, index) != cudaSuccess) continue;
    if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, index) != cudaSuccess) continue;
    devices.push_back({index, properties.name, uuid_text(properties.uuid), address,
                       static_cast<unsigned>(properties.major), static_cast<unsigned>(properties.minor),
                       static_cast<unsigned>(properties.multiProcessorCount), properties.totalGlobalMem,
                       1e3 * kilohertz});
  }
  return devices;
}

std::string absence() {
  int count = 0, driver = 0, runtime = 0;
  const bool insufficient = cudaGetDeviceCount(&count) == cudaErrorInsufficientDriver;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  if (insufficient && driver == 0) return "there is no CUDA driver";
  // Within a major release older drivers serve newer runtimes.
  if (insufficient) {
    return fmt::format("the driver is of CUDA {}.{}, this build of {}.{}: install a driver of CUDA {}.0 or newer",
                       driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10, runtime / 1000);
  }
  return "the driver shows no CUDA device";
}

Result<uint64_t> free_bytes(int ordinal) {
  Current current(ordinal);
  size_t free = 0, total = 0;
  CUZK_CUDA(cudaMemGetInfo(&free, &total));
  return free;
}

}  // namespace cuzk::gpu
