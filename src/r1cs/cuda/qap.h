#pragma once
// The scalars of development parameters: the QAP at tau, and what setup makes of it (Groth 2016, section 3.2).

#include "r1cs/cuda/evaluate.h"

namespace cuzk::r1cs {

// upload(make_column_tables(circuit), memory, stream). 85 MiB for 32 GiB PoRep.
using DeviceColumns = ColumnTables<DeviceArray>;

// out[i] = first * ratio^i
Status powers(const Fr& first, const Fr& ratio, gpu::DeviceSpan<device::Fr> out, const gpu::Stream& stream);

// out[q] = L_q(tau) = w^q (tau^m - 1) / (m (tau - w^q)), for the first points of the domain of m = 2^log2_size.
// kInvalidInput where tau is in the domain, kInternal where `out` is longer than it.
Status lagrange_at(const Fr& tau, unsigned log2_size, gpu::DeviceSpan<device::Fr> out, const gpu::Stream& stream);

template <template <class> class Array>
uint64_t column_sums_scratch_bytes(const ColumnTables<Array>& columns) {
  gpu::DeviceCarver carver;
  carver.take<device::Fr>(columns.num_partials);
  return carver.bytes();
}
// out[i] = sum over the rows q of (coefficient of variable i in matrix m of row q) * row_values[q], inputs first, then
// auxiliary variables. Row values are also those of the appended rows (input i) * (0) = (0). With Lagrange values at
// tau these are A_i(tau), B_i(tau), C_i(tau) for m = 0, 1, 2. kInternal where lengths differ. 32 GiB PoRep: 9.6, 4.5
// and 6.8 ms on an H200, after 16.5 for lagrange_at.
Status column_sums(const DeviceCircuit& circuit, const DeviceColumns& columns, unsigned m,
                   gpu::DeviceSpan<const device::Fr> row_values, gpu::DeviceSpan<device::Fr> out,
                   gpu::DeviceSpan<std::byte> scratch, const gpu::Stream& stream);

// c[i] = (beta a[i] + alpha b[i] + c[i]) * factor: with 1/gamma for inputs and 1/delta for auxiliary variables the
// scalars of ic and l. kInternal where lengths differ.
Status combine(const Fr& alpha, const Fr& beta, const Fr& factor, gpu::DeviceSpan<const device::Fr> a,
               gpu::DeviceSpan<const device::Fr> b, gpu::DeviceSpan<device::Fr> c, const gpu::Stream& stream);

}  // namespace cuzk::r1cs
