#pragma once
// The scalars of a query (l, a or b) split by kind, as lists of positions: bits that are 1, and full scalars. Positions
// count the variables that are present, inputs first. QueryTables holds the lengths: num_scalars of the one list, and
// at most num_bits of the other.

#include "r1cs/cuda/evaluate.h"

namespace cuzk::r1cs {

uint64_t list_scratch_bytes(const Circuit& circuit);

// Positions of the bits that are 1, ascending, and to count[0] their number. Those that do not fit into `positions` are
// counted and left out. 32 GiB PoRep: 0.20, 0.20 and 0.13 ms for l, a and b on an H200.
Status list_ones(const DeviceCircuit& circuit, Query query, const DeviceWitness& witness,
                 gpu::DeviceSpan<uint32_t> positions, gpu::DeviceSpan<uint32_t> count,
                 gpu::DeviceSpan<std::byte> scratch, const gpu::Stream& stream);

// Positions of the inputs and field elements, ascending, and which of a witness's full scalars they are. The same for
// every witness. kInternal where the spans are not of length num_scalars.
Status list_scalars(const DeviceCircuit& circuit, Query query, gpu::DeviceSpan<uint32_t> positions,
                    gpu::DeviceSpan<uint32_t> scalars, gpu::DeviceSpan<std::byte> scratch, const gpu::Stream& stream);

// Copies the values of the variables that are present to their positions. `values` has one for every variable, inputs
// first; `out` is as long as there are positions. kInternal where the lengths are others.
Status keep_present(const DeviceCircuit& circuit, Query query, gpu::DeviceSpan<const device::Fr> values,
                    gpu::DeviceSpan<device::Fr> out, const gpu::Stream& stream);

}  // namespace cuzk::r1cs
