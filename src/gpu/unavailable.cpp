// Linked in place of the .cu files where there is no CUDA compiler.
#include "gpu/device.h"

namespace cuzk::gpu {

bool available() { return false; }
std::vector<DeviceInfo> devices() { return {}; }

}  // namespace cuzk::gpu
