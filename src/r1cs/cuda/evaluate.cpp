#include "r1cs/cuda/evaluate.h"

#include "r1cs/bitmap.h"

namespace cuzk::r1cs {
namespace {

struct WitnessRoom {
  gpu::DeviceSpan<uint64_t> bits;
  gpu::DeviceSpan<device::Fr> scalars;
};
WitnessRoom carve(gpu::DeviceCarver& carver, size_t num_aux, size_t num_scalars) {
  const auto bits = carver.take<uint64_t>((num_aux + 63) / 64);
  return {bits, carver.take<device::Fr>(num_scalars)};
}

std::span<const device::Fr> on_device(std::span<const Fr> values) {
  return {reinterpret_cast<const device::Fr*>(values.data()), values.size()};
}

}  // namespace

uint64_t device_witness_bytes(const Circuit& circuit) {
  gpu::DeviceCarver counter;
  carve(counter, circuit.num_aux, circuit.num_inputs + count_bits(circuit.aux_is_field));
  return counter.bytes();
}

Result<DeviceWitness> upload(const Witness& witness, const DeviceCircuit& circuit, gpu::DeviceSpan<std::byte> memory,
                             const gpu::Stream& stream) {
  const size_t inputs = circuit.num_inputs, fields = circuit.num_fields;
  gpu::DeviceCarver carver(memory);
  const WitnessRoom room = carve(carver, circuit.num_aux, inputs + fields);
  if (witness.inputs.size() != inputs || witness.bits.size() != room.bits.size || witness.fields.size() != fields) {
    return fail(Code::kInvalidInput,
                "the witness has {} inputs, {} words of bits and {} field elements; the circuit wants {}, {} and {}",
                witness.inputs.size(), witness.bits.size(), witness.fields.size(), inputs, room.bits.size, fields);
  }
  if (carver.bytes() > memory.size)
    return fail(Code::kInternal, "{} bytes of witness into {}", carver.bytes(), memory.size);
  CUZK_TRY(stream.upload(room.bits, std::span<const uint64_t>(witness.bits)));
  CUZK_TRY(stream.upload(room.scalars, on_device(witness.inputs)));
  CUZK_TRY(stream.upload(room.scalars.subspan(inputs), on_device(witness.fields)));
  return DeviceWitness{room.bits.as<const uint32_t>(), room.scalars.as_const()};
}

}  // namespace cuzk::r1cs
