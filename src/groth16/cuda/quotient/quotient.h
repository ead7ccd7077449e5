#pragma once
// The quotient polynomial (groth16/quotient.h) on a device.

#include "ntt/cuda/ntt.h"

namespace cuzk::groth16 {

// From the values of A and B on the domain to the coefficients of h in `a`, in bit-reversed order: h_i lies at the
// reverse of the log2_size bits of i. `b` and `scratch` are used up. All have domain.size() elements, Montgomery
// residues in [0, r); kInternal otherwise.
//
// Six transforms, as on the CPU. With g^n = -1 for the shift g of the coset, h = (C - P) / 2, where C interpolates A B
// on the domain and P on the coset. The products and the difference are part of the transforms' passes.
Status quotient(const ntt::DeviceDomain& domain, gpu::DeviceSpan<device::Fr> a, gpu::DeviceSpan<device::Fr> b,
                gpu::DeviceSpan<device::Fr> scratch, const gpu::Stream& stream);

}  // namespace cuzk::groth16
