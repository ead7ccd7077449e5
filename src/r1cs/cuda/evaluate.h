#pragma once
// A circuit and packed witnesses in device memory, and the rows that follow from them. Memory belongs to the caller and
// is used as long as these views of it are.

#include "r1cs/cuda/tables.h"
#include "r1cs/witness.h"

namespace cuzk::r1cs {

// upload(make_circuit_tables(circuit), memory, stream). 88 MiB for 32 GiB PoRep.
using DeviceCircuit = CircuitTables<DeviceArray>;

struct DeviceWitness {
  DeviceArray<uint32_t> bits;       // bit j % 32 of word j / 32 is auxiliary variable j where that is a bit
  DeviceArray<device::Fr> scalars;  // the full scalars: inputs with ONE first, then the field-element variables
};

uint64_t device_witness_bytes(const Circuit& circuit);
// Asynchronous where the witness is pinned; it must live until the stream has done it. kInvalidInput where its lengths
// are not those of the circuit, kInternal where there is too little memory.
Result<DeviceWitness> upload(const Witness& witness, const DeviceCircuit& circuit, gpu::DeviceSpan<std::byte> memory,
                             const gpu::Stream& stream);

// a_q and b_q of every row q, then of the rows (input i) * (0) = (0) that Groth16 appends, then zeros. The spans have
// one length, at least the number of those rows; kInternal otherwise. 32 GiB PoRep: 3.5 ms on an H200, of which writing
// the two vectors alone takes 2.0.
Status evaluate(const DeviceCircuit& circuit, const DeviceWitness& witness, gpu::DeviceSpan<device::Fr> a,
                gpu::DeviceSpan<device::Fr> b, const gpu::Stream& stream);

}  // namespace cuzk::r1cs
