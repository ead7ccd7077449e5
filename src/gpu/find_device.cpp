#include <algorithm>
#include <charconv>

#include "gpu/device.h"

namespace cuzk::gpu {

Result<DeviceInfo> find_device(std::string_view name) {
  std::vector<DeviceInfo> all = devices();
  if (all.empty()) return fail(Code::kUnavailable, "{}", absence());
  if (name.empty()) return all.front();
  auto names = [&](const DeviceInfo& device) {
    int ordinal = -1;
    auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), ordinal);
    if (error == std::errc{} && end == name.data() + name.size()) return device.ordinal == ordinal;
    return device.pci_address == name || (name.starts_with("GPU-") && device.uuid.starts_with(name));
  };
  std::vector<DeviceInfo> found;
  std::string list;
  for (const DeviceInfo& device : all) {
    if (names(device)) found.push_back(device);
    list += fmt::format("{}{} {} {}", list.empty() ? "" : ", ", device.ordinal, device.uuid, device.name);
  }
  if (found.size() == 1) return found.front();
  return fail(Code::kNotFound, "{} CUDA devices are named '{}'; there are {}", found.empty() ? "no" : "several", name,
              list);
}

Result<std::vector<DeviceInfo>> find_devices(const std::vector<std::string>& names) {
  if (names.empty()) return devices();
  std::vector<DeviceInfo> found;
  for (const std::string& name : names) {
    CUZK_TRY_ASSIGN(DeviceInfo device, find_device(name));
    found.push_back(std::move(device));
  }
  return found;
}

Result<uint64_t> usable_bytes(int ordinal, uint64_t limit_bytes) {
  constexpr uint64_t kDriverBytes = uint64_t{1} << 30;
  CUZK_TRY_ASSIGN(const uint64_t free, free_bytes(ordinal));
  return std::min(limit_bytes, free - std::min(free, kDriverBytes));
}

}  // namespace cuzk::gpu
