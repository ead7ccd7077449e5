#pragma once
// Development parameters of a circuit, made on a device (groth16/setup.h): the same bytes from the same secrets, 32 GiB
// PoRep in seconds.

#include "groth16/cuda/params/params.h"

namespace cuzk::groth16 {

// Device memory that setup_on_device works in, beside the parameters: 20 GiB for 32 GiB PoRep.
uint64_t setup_on_device_bytes(const r1cs::Circuit& circuit, const gpu::DeviceInfo& device);

// `memory`, of device_bytes(lengths_of(circuit)), becomes that of the parameters. Errors as for setup().
Result<DeviceParameters> setup_on_device(const r1cs::Circuit& circuit, const Toxic& toxic,
                                         const gpu::DeviceInfo& device, gpu::DeviceMemory memory,
                                         gpu::DeviceSpan<std::byte> workspace);

}  // namespace cuzk::groth16
