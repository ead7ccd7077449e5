#pragma once
// The parameters of a circuit in device memory: read from an official file with the checks of groth16/files.h, copied
// from the host's form, or made from known secrets; and written to a file. Errors beyond those named: those of
// gpu/stream.h.

#include <filesystem>

#include "curve/cuda/types.h"
#include "gpu/device.h"
#include "gpu/stream.h"
#include "groth16/files.h"
#include "groth16/setup.h"

namespace cuzk::groth16 {

struct DeviceParameters {
  VerifyingKey vk;
  gpu::DeviceSpan<device::G1Affine> h, l, a, b_g1;  // sections as in Parameters, Montgomery form
  gpu::DeviceSpan<device::G2Affine> b_g2;
  gpu::DeviceMemory memory;  // that holds them
};
Lengths lengths_of(const DeviceParameters& parameters);

// Bytes of device memory for the sections of these lengths.
uint64_t device_bytes(const Lengths& lengths);

// Pinned memory through which files pass, in two windows; any size from 384 bytes on works, this one is fast.
inline constexpr uint64_t kParamsStagingBytes = uint64_t{192} << 20;

// --- files

struct LoadedDeviceParameters : LoadReport {
  DeviceParameters parameters;
};
// load_params to a device; `memory` has at least device_bytes of the file's lengths. Of several bad points the first of
// the file is named. From the page cache an H200 reads 37 GB/s in canonical form and 2.1 GB/s with the full check,
// where no digest is wanted: BLAKE2b makes 0.65 GB/s.
Result<LoadedDeviceParameters> load_device_params(const std::filesystem::path& path,
                                                  const std::optional<Lengths>& wanted, const LoadOptions& options,
                                                  gpu::DeviceMemory memory, std::span<std::byte> staging,
                                                  exec::Pool& pool);
// The file appears under its name when it is complete. Progress counts points.
Status write_params(const std::filesystem::path& path, const DeviceParameters& parameters, std::span<std::byte> staging,
                    const Progress& progress = {});

// --- the host's form, for tests and small circuits

Result<DeviceParameters> upload_params(const Parameters& parameters, gpu::DeviceMemory memory);
Result<Parameters> download_params(const DeviceParameters& parameters);

// --- development parameters (groth16/setup.h)

// Scalars of the points (filecoin-spec A.12), in the order of the sections.
struct SetupScalars {
  std::span<const Fr> ic;                     // (beta A_i + alpha B_i + C_i)/gamma, on the host
  gpu::DeviceSpan<const device::Fr> l, a, b;  // (beta A_j + alpha B_j + C_j)/delta, A_i and B_i of those that occur
};
// Bytes of device memory that device_setup works in: tables of multiples of the generators.
uint64_t device_setup_bytes(const Lengths& lengths, const gpu::DeviceInfo& device);
// What groth16::setup writes, in device memory; h has m - 1 points. kInvalidInput as there.
Result<DeviceParameters> device_setup(const Toxic& toxic, uint64_t h_points, const SetupScalars& scalars,
                                      const gpu::DeviceInfo& device, gpu::DeviceMemory memory,
                                      gpu::DeviceSpan<std::byte> workspace);

}  // namespace cuzk::groth16
