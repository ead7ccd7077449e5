#pragma once
// Products in Fr that use what its modulus looks like: r = h 2^64 + 2^64 - 2^32 + 1 with h = floor(r / 2^64).
//
// Montgomery's reduction subtracts from T the multiple q r that clears the lowest words. As 1/r = 2^32 + 1 mod 2^64,
// two words t0, t1 have q = (t0, t0 + t1), without a product, and
//
//   (T - q r) / 2^64 = floor(T / 2^64) + q1 + carry(t0 + t1) + q (2^192 - 1 - h) - q 2^192.
//
// So two words cost 12 wide products instead of 16 and two low ones. The negative terms of all words together are the
// number Q = sum q_k 2^(32 k), shifted by 2^256 before the division; it is subtracted once at the end.
//
// A factor f that many values are multiplied by (a twiddle) is prepared as multiples f_i = f 2^(256 i / pieces) R mod
// r: with x cut into as many pieces x_i, sum x_i f_i is only a piece longer than r, so that few words, R = 2^64 or
// 2^96, are left to reduce. 76 wide products with eight pieces and 82 with four, against 112 for Montgomery's form.
//
// "Lazy" values are below 2r instead of r; 4r does not fit 256 bits, so sums are brought back below 2r.

#include "field/cuda/montgomery.cuh"

namespace cuzk::device::fr {

// What makes of a Montgomery residue f the multiple f_i: multiply(f, multiplier(kPieces, i)) in Montgomery's sense.
constexpr cuzk::Fr multiplier(unsigned pieces, unsigned i) {
  const unsigned reduced_words = pieces == 4 ? 3 : 2;
  return cuzk::Fr::from_raw(limbs::power_of_two(256 / pieces * i + 32 * reduced_words, cuzk::Fr::kModulus));
}

#ifdef __CUDACC__

// Sums of products at absolute places: a product that starts at an even limb is added to a pair of `even`, one that
// starts at an odd limb to a pair of `odd`. The number is even + odd.
struct Sums {
  uint32_t even[18] = {}, odd[18] = {};

  template <unsigned kAt>
  __device__ __forceinline__ uint32_t* aligned() {
    return kAt % 2 == 0 ? even : odd;
  }
  template <unsigned kAt>
  __device__ __forceinline__ uint32_t* crossing() {
    return kAt % 2 == 0 ? odd : even;
  }
};

// sum += (a[0] + a[2] 2^64 + ...) b, N/2 products onto pairs of limbs, plus the carry flag where kCarryIn; the carry
// out is added to the limb above, sum[N].
template <unsigned N, bool kCarryIn>
__device__ __forceinline__ void add_row(uint32_t* sum, const uint32_t* a, uint32_t b) {
#pragma unroll
  for (unsigned j = 0; j < N; j += 2) {
    sum[j] = kCarryIn || j > 0 ? ptx::madc_lo_cc(a[j], b, sum[j]) : ptx::mad_lo_cc(a[j], b, sum[j]);
    sum[j + 1] = ptx::madc_hi_cc(a[j], b, sum[j + 1]);
  }
  sum[N] = ptx::addc(sum[N], 0);
}

// sums += a b 2^(32 kAt)
template <unsigned kAt>
__device__ __forceinline__ void add_product(Sums& sums, const Fr& a, uint32_t b) {
  add_row<8, false>(sums.aligned<kAt>() + kAt, a.limbs, b);
  add_row<8, false>(sums.crossing<kAt>() + kAt + 1, a.limbs + 1, b);
}

// The words of 2^192 - 1 - h.
struct Complement {
  uint32_t limbs[6];
};
constexpr Complement complement() {
  Complement out{};
  for (unsigned i = 0; i < 6; i++) out.limbs[i] = ~Fr::modulus().limbs[i + 2];
  return out;
}

// Clears two limbs from kAt on; the rest is the quotient, less q[0], q[1] at limbs kAt + 8, kAt + 9.
template <unsigned kAt>
__device__ __forceinline__ void reduce_two(Sums& sums, uint32_t* q) {
  constexpr Complement c = complement();
  uint32_t *a = sums.aligned<kAt>(), *b = sums.crossing<kAt>();
  uint32_t t1;
  if constexpr (kAt == 0) {
    q[0] = a[0];
    t1 = ptx::add_cc(a[1], b[1]);
  } else {
    q[0] = ptx::add_cc(a[kAt], b[kAt]);
    t1 = ptx::addc_cc(a[kAt + 1], b[kAt + 1]);
  }
  add_row<6, true>(a + kAt + 2, c.limbs, q[0]);
  q[1] = ptx::add_cc(q[0], t1);
  const uint32_t sum = ptx::addc(q[1], 0);  // does not wrap: q1 is at most 2^32 - 2 when there is a carry
  b[kAt + 2] = ptx::add_cc(b[kAt + 2], sum);
  add_row<6, true>(b + kAt + 3, c.limbs, q[1]);
  add_row<6, false>(b + kAt + 3, c.limbs + 1, q[0]);
  add_row<6, false>(a + kAt + 4, c.limbs + 1, q[1]);
}
// The same for limb 0 alone.
__device__ __forceinline__ void reduce_first(Sums& sums, uint32_t* q) {
  constexpr Complement c = complement();
  q[0] = sums.even[0];
  sums.even[1] = ptx::add_cc(sums.even[1], q[0]);
  add_row<6, true>(sums.even + 2, c.limbs, q[0]);
  add_row<6, false>(sums.odd + 3, c.limbs + 1, q[0]);
}

// a b / 2^256 in Fr: below r for b < r and a < 2^256.
template <>
__device__ __forceinline__ Fr mul(const Fr& a, const Fr& b) {
  Sums sums;
  uint32_t q[8];
  add_product<0>(sums, b, a.limbs[0]);
  add_product<1>(sums, b, a.limbs[1]);
  reduce_two<0>(sums, q);
  add_product<2>(sums, b, a.limbs[2]);
  add_product<3>(sums, b, a.limbs[3]);
  reduce_two<2>(sums, q + 2);
  add_product<4>(sums, b, a.limbs[4]);
  add_product<5>(sums, b, a.limbs[5]);
  reduce_two<4>(sums, q + 4);
  add_product<6>(sums, b, a.limbs[6]);
  add_product<7>(sums, b, a.limbs[7]);
  reduce_two<6>(sums, q + 6);
  // What is left is in (-r, r) after the subtraction of q.
  Fr out;
  out.limbs[0] = ptx::add_cc(sums.even[8], sums.odd[8]);
#pragma unroll
  for (unsigned i = 1; i < 8; i++) out.limbs[i] = ptx::addc_cc(sums.even[8 + i], sums.odd[8 + i]);
  const uint32_t top = ptx::addc(sums.even[16], sums.odd[16]);
  out.limbs[0] = ptx::sub_cc(out.limbs[0], q[0]);
#pragma unroll
  for (unsigned i = 1; i < 8; i++) out.limbs[i] = ptx::subc_cc(out.limbs[i], q[i]);
  const uint32_t negative = ptx::subc(top, 0);
  constexpr Fr r = Fr::modulus();
  out.limbs[0] = ptx::add_cc(out.limbs[0], r.limbs[0] & negative);
#pragma unroll
  for (unsigned i = 1; i < 7; i++) out.limbs[i] = ptx::addc_cc(out.limbs[i], r.limbs[i] & negative);
  out.limbs[7] = ptx::addc(out.limbs[7], r.limbs[7] & negative);
  return out;
}

// x f for any x < 2^256, below (1 + 2^-28) r; piece(i) is f_i.
template <unsigned kPieces, class Piece>
__device__ __forceinline__ Fr mul_prepared(const Fr& x, const Piece& piece) {
  static_assert(kPieces == 4 || kPieces == 8);
  constexpr unsigned kReduced = kPieces == 4 ? 3 : 2;
  constexpr Fr r = Fr::modulus();
  Sums sums;
#pragma unroll
  for (unsigned i = 0; i < 8; i++) sums.aligned<kReduced>()[kReduced + i] = r.limbs[i];
  uint32_t q[kReduced];
#pragma unroll
  for (unsigned i = 0; i < kPieces; i++) {
    const Fr f = piece(i);
    if constexpr (kPieces == 4) {
      add_product<0>(sums, f, x.limbs[2 * i]);
      add_product<1>(sums, f, x.limbs[2 * i + 1]);
    } else {
      add_product<0>(sums, f, x.limbs[i]);
    }
  }
  if constexpr (kPieces == 4) {
    reduce_first(sums, q);
    reduce_two<1>(sums, q + 1);
  } else {
    reduce_two<0>(sums, q);
  }
  Fr out;
  out.limbs[0] = ptx::add_cc(sums.even[kReduced], sums.odd[kReduced]);
#pragma unroll
  for (unsigned i = 1; i < 7; i++) out.limbs[i] = ptx::addc_cc(sums.even[kReduced + i], sums.odd[kReduced + i]);
  out.limbs[7] = ptx::addc(sums.even[kReduced + 7], sums.odd[kReduced + 7]);
  out.limbs[8 - kReduced] = ptx::sub_cc(out.limbs[8 - kReduced], q[0]);
#pragma unroll
  for (unsigned i = 1; i + 1 < kReduced; i++)
    out.limbs[8 - kReduced + i] = ptx::subc_cc(out.limbs[8 - kReduced + i], q[i]);
  out.limbs[7] = ptx::subc(out.limbs[7], q[kReduced - 1]);
  return out;
}

constexpr Fr twice_modulus() {
  Fr out{};
  const Fr r = Fr::modulus();
  for (unsigned i = 0; i < 8; i++) out.limbs[i] = r.limbs[i] << 1 | (i > 0 ? r.limbs[i - 1] >> 31 : 0);
  return out;
}

// a + b and a - b of lazy values.
__device__ __forceinline__ Fr add_lazy(const Fr& a, const Fr& b) {
  constexpr Fr p = twice_modulus();
  Fr sum, difference;
  sum.limbs[0] = ptx::add_cc(a.limbs[0], b.limbs[0]);
#pragma unroll
  for (unsigned i = 1; i < 8; i++) sum.limbs[i] = ptx::addc_cc(a.limbs[i], b.limbs[i]);
  const uint32_t top = ptx::addc(0, 0);
  difference.limbs[0] = ptx::sub_cc(sum.limbs[0], p.limbs[0]);
#pragma unroll
  for (unsigned i = 1; i < 8; i++) difference.limbs[i] = ptx::subc_cc(sum.limbs[i], p.limbs[i]);
  const uint32_t below = ptx::subc(top, 0);
#pragma unroll
  for (unsigned i = 0; i < 8; i++) sum.limbs[i] = below ? sum.limbs[i] : difference.limbs[i];
  return sum;
}
__device__ __forceinline__ Fr sub_lazy(const Fr& a, const Fr& b) {
  constexpr Fr p = twice_modulus();
  Fr out;
  out.limbs[0] = ptx::sub_cc(a.limbs[0], b.limbs[0]);
#pragma unroll
  for (unsigned i = 1; i < 8; i++) out.limbs[i] = ptx::subc_cc(a.limbs[i], b.limbs[i]);
  const uint32_t negative = ptx::subc(0, 0);
  out.limbs[0] = ptx::add_cc(out.limbs[0], p.limbs[0] & negative);
#pragma unroll
  for (unsigned i = 1; i < 7; i++) out.limbs[i] = ptx::addc_cc(out.limbs[i], p.limbs[i] & negative);
  out.limbs[7] = ptx::addc(out.limbs[7], p.limbs[7] & negative);
  return out;
}
#endif

}  // namespace cuzk::device::fr
