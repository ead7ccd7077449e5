#pragma once
// Transforms of 2, 4 and 8 elements in registers; natural order in and out, lazy values (field/cuda/fr.cuh).

#include <array>

#include "field/cuda/fr.cuh"

namespace cuzk::ntt {

// A constant factor, prepared for device::fr::mul_prepared<8>.
struct Constant {
  std::array<device::Fr, 8> pieces;

  explicit constexpr Constant(const Fr& value) : pieces{} {
    for (unsigned i = 0; i < 8; i++) pieces[i] = device::Fr::from_host(value * device::fr::multiplier(8, i));
  }
};

#ifdef __CUDACC__

using device::fr::add_lazy;
using device::fr::sub_lazy;

// One of w, w^2 = i and so on for w = fr_root_of_unity(3).
enum class Factor { kI, kHalfSum, kHalfDifference };

template <Factor kFactor>
__device__ __forceinline__ device::Fr times(const device::Fr& x) {
  constexpr Constant constant = [] {
    const Fr w = fr_root_of_unity(3), w3 = w * w * w, half = Fr::from_u64(2).inverse();
    if (kFactor == Factor::kI) return Constant(w * w);
    return Constant((kFactor == Factor::kHalfSum ? w + w3 : w - w3) * half);
  }();
  return device::fr::mul_prepared<8>(x, [&](unsigned i) { return constant.pieces[i]; });
}

// (a, b) = (a + b, a - b)
__device__ __forceinline__ void butterfly(device::Fr& a, device::Fr& b) {
  const device::Fr difference = sub_lazy(a, b);
  a = add_lazy(a, b);
  b = difference;
}

__device__ __forceinline__ void transform(device::Fr (&x)[2]) { butterfly(x[0], x[1]); }

// y_k = sum x_j i^(jk)
__device__ __forceinline__ void transform4(device::Fr& x0, device::Fr& x1, device::Fr& x2, device::Fr& x3) {
  butterfly(x0, x2);
  butterfly(x1, x3);
  x3 = times<Factor::kI>(x3);
  butterfly(x0, x1);  // y0, y2
  butterfly(x2, x3);  // y1, y3
  const device::Fr y2 = x1;
  x1 = x2;
  x2 = y2;
}

// y_k = sum x_j w^(jk), w of order 8. Four products: with d_j = x_j - x_(j+4) the odd outputs are
// d_0 +- i d_2 +- (w d_1 + w^3 d_3) and d_0 -+ i d_2 +- (w^3 d_1 + w d_3), and those two brackets are the sum and the
// difference of (w + w^3)/2 (d_1 + d_3) and (w - w^3)/2 (d_1 - d_3) (Winograd's algorithm for 8 points).
__device__ __forceinline__ void transform8(device::Fr (&x)[8]) {
#pragma unroll
  for (int j = 0; j < 4; j++) butterfly(x[j], x[j + 4]);
  butterfly(x[5], x[7]);
  x[5] = times<Factor::kHalfSum>(x[5]);
  x[7] = times<Factor::kHalfDifference>(x[7]);
  butterfly(x[5], x[7]);  // w d_1 + w^3 d_3, w^3 d_1 + w d_3
  x[6] = times<Factor::kI>(x[6]);
  butterfly(x[4], x[6]);
  butterfly(x[4], x[5]);               // y1, y5
  butterfly(x[6], x[7]);               // y3, y7
  transform4(x[0], x[1], x[2], x[3]);  // y0, y2, y4, y6
  const device::Fr y1 = x[4], y3 = x[6], y2 = x[1], y4 = x[2], y6 = x[3];
  x[1] = y1;
  x[2] = y2;
  x[3] = y3;
  x[4] = y4;
  x[6] = y6;
}
#endif

}  // namespace cuzk::ntt
