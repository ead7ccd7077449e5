#pragma once
// The scalars of a query (l, a or b) split by kind, as lists of positions: the bits that are 1, which are made for each
// witness, and the full scalars, which are fixed (QueryTables::positions and scalars). Positions count the variables
// that are present, inputs first.

#include "r1cs/cuda/evaluate.h"

namespace cuzk::r1cs {

// Bits that are 1 in each query: the lengths of the lists. Reads the bitmaps once on the host, about 5 ms for 32 GiB
// PoRep.
std::array<uint64_t, kQueries> count_ones(const Circuit& circuit, const Witness& witness);
// Bits in each query, so the most that count_ones gives.
std::array<uint64_t, kQueries> count_bits_present(const Circuit& circuit);

uint64_t list_ones_scratch_bytes(const Circuit& circuit);
// Writes the positions of the bits that are 1, ascending; what does not fit into `positions` is left out.
Status list_ones(const DeviceCircuit& circuit, Query query, const DeviceWitness& witness,
                 gpu::DeviceSpan<uint32_t> positions, gpu::DeviceSpan<std::byte> scratch, const gpu::Stream& stream);

// Copies the values of the variables that are present to their positions. `values` has one for every variable, inputs
// first; `out` is as long as there are positions. kInternal where the lengths are others.
Status keep_present(const DeviceCircuit& circuit, Query query, gpu::DeviceSpan<const device::Fr> values,
                    gpu::DeviceSpan<device::Fr> out, const gpu::Stream& stream);

}  // namespace cuzk::r1cs
