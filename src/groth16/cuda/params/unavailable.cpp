// Linked in place of params.cu where there is no CUDA compiler.
#include "groth16/cuda/params/params.h"

namespace cuzk::groth16 {
namespace {

tl::unexpected<Error> absent() { return fail(Code::kUnavailable, "this build has no CUDA"); }

}  // namespace

Lengths lengths_of(const DeviceParameters&) { return {}; }
uint64_t device_bytes(const Lengths&) { return 0; }
Result<LoadedDeviceParameters> load_device_params(const std::filesystem::path&, const std::optional<Lengths>&,
                                                  const LoadOptions&, gpu::DeviceMemory, std::span<std::byte>,
                                                  exec::Pool&) {
  return absent();
}
Status write_params(const std::filesystem::path&, const DeviceParameters&, std::span<std::byte>, const Progress&) {
  return absent();
}
Result<DeviceParameters> upload_params(const Parameters&, gpu::DeviceMemory) { return absent(); }
Result<Parameters> download_params(const DeviceParameters&) { return absent(); }
uint64_t device_setup_bytes(const Lengths&, const gpu::DeviceInfo&) { return 0; }
Result<DeviceParameters> device_setup(const Toxic&, uint64_t, const SetupScalars&, const gpu::DeviceInfo&,
                                      gpu::DeviceMemory, gpu::DeviceSpan<std::byte>) {
  return absent();
}

}  // namespace cuzk::groth16
