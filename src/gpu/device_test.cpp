#include "gpu/device.h"

#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <set>

namespace cuzk::gpu {
namespace {

// Devices as the driver's files in /dev show them.
size_t device_files() {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/dev")) {
    const std::string name = entry.path().filename().string();
    count += name.starts_with("nvidia") && name.size() > 6 && std::isdigit(static_cast<unsigned char>(name[6]));
  }
  return count;
}

TEST(Device, CudaIsInTheBuildAsConfigured) { EXPECT_EQ(available(), bool{CUZK_WITH_CUDA}); }

TEST(Device, OnlyWhatTheDriverHas) {
  const auto found = devices();
  EXPECT_LE(found.size(), device_files());
  if (!available()) {
    EXPECT_TRUE(found.empty());
  }
  std::set<std::string> addresses;
  for (const DeviceInfo& device : found) {
    EXPECT_FALSE(device.name.empty());
    EXPECT_TRUE(addresses.insert(device.pci_address).second);
    EXPECT_GE(device.compute_major, 5u);
    EXPECT_GT(device.multiprocessors, 0u);
    EXPECT_GT(device.memory_bytes, uint64_t{1} << 30);
  }
}

}  // namespace
}  // namespace cuzk::gpu
