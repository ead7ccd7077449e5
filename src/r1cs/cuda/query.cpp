#include "r1cs/cuda/query.h"

namespace cuzk::r1cs {

uint64_t list_scratch_bytes(const Circuit& circuit) {
  const uint64_t words = 2 * ((uint64_t{circuit.num_aux} + 63) / 64);
  gpu::DeviceCarver counter;
  counter.take<uint32_t>((words + DeviceCircuit::kBlockWords - 1) / DeviceCircuit::kBlockWords);
  return counter.bytes();
}

}  // namespace cuzk::r1cs
