#pragma once
// Products in Fr that use what its modulus looks like: r = h 2^64 + 2^64 - 2^32 + 1 with h = floor(r / 2^64).
//
// Montgomery's reduction subtracts from T the multiple q r that clears the lowest word. As r = 1 mod 2^32, q is that
// word, and
//
//   (T - q r) / 2^32 = floor(T / 2^32) + q + q (2^192 - 1 - h) 2^32 - q 2^224.
//
// So a word costs 6 wide products instead of 8 and a low one. The negative terms of all words together are the number
// Q = sum q_k 2^(32 k), shifted by 2^256 before the division; it is subtracted once at the end.
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

// sum += (a[0] + a[2] 2^64 + ...) b, N/2 products onto pairs of limbs, plus the carry flag where kCarryIn. The carry
// out is added to `carries`, by default the limb above, which must have room for it: callers see to it that only
// carries have been added there so far.
template <unsigned N, bool kCarryIn>
__device__ __forceinline__ void add_row(uint32_t* sum, const uint32_t* a, uint32_t b, uint32_t& carries) {
#pragma unroll
  for (unsigned j = 0; j < N; j += 2) {
    sum[j] = kCarryIn || j > 0 ? ptx::madc_lo_cc(a[j], b, sum[j]) : ptx::mad_lo_cc(a[j], b, sum[j]);
    sum[j + 1] = ptx::madc_hi_cc(a[j], b, sum[j + 1]);
  }
  carries = ptx::addc(carries, 0);
}
template <unsigned N, bool kCarryIn>
__device__ __forceinline__ void add_row(uint32_t* sum, const uint32_t* a, uint32_t b) {
  add_row<N, kCarryIn>(sum, a, b, sum[N]);
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

// Clears limb kAt; the rest is the quotient, less q at limb kAt + 8.
template <unsigned kAt>
__device__ __forceinline__ uint32_t reduce_limb(Sums& sums, uint32_t& carries) {
  constexpr Complement c = complement();
  uint32_t *a = sums.aligned<kAt>() + kAt, *b = sums.crossing<kAt>() + kAt;
  uint32_t q;
  if constexpr (kAt == 0) {
    q = a[0];
    a[1] = ptx::add_cc(a[1], q);
  } else {
    q = ptx::add_cc(a[0], b[0]);
    a[1] = ptx::addc_cc(a[1], q);
  }
  add_row<6, true>(a + 2, c.limbs, q, carries);
  add_row<6, false>(b + 3, c.limbs + 1, q);
  return q;
}
template <unsigned kAt>
__device__ __forceinline__ uint32_t reduce_limb(Sums& sums) {
  return reduce_limb<kAt>(sums, sums.aligned<kAt>()[kAt + 8]);
}

// value += p where `condition` is not zero. Eight instructions that lanes skip; masking p takes sixteen.
__device__ __forceinline__ void add_if(Fr& value, const Fr& p, uint32_t condition) {
  ptx::add_cc_if(value.limbs[0], p.limbs[0], condition);
#pragma unroll
  for (unsigned i = 1; i < 8; i++) ptx::addc_cc_if(value.limbs[i], p.limbs[i], condition);
}

// a b / 2^256 in Fr: below r for b < r and a < 2^256. Step k leaves limbs k + 8 and k + 9 with carries alone until step
// k + 1 adds products there.
template <>
__device__ __forceinline__ Fr mul(const Fr& a, const Fr& b) {
  Sums sums;
  uint32_t q[8];
  const auto step = [&]<unsigned kAt>(std::integral_constant<unsigned, kAt>) {
    add_product<kAt>(sums, b, a.limbs[kAt]);
    q[kAt] = reduce_limb<kAt>(sums);
  };
  step(std::integral_constant<unsigned, 0>());
  step(std::integral_constant<unsigned, 1>());
  step(std::integral_constant<unsigned, 2>());
  step(std::integral_constant<unsigned, 3>());
  step(std::integral_constant<unsigned, 4>());
  step(std::integral_constant<unsigned, 5>());
  step(std::integral_constant<unsigned, 6>());
  step(std::integral_constant<unsigned, 7>());
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
  add_if(out, r, negative);
  return out;
}

// x f for any x < 2^256, below (1 + 2^-28) r; piece(i) is f_i.
template <unsigned kPieces, class Piece>
__device__ __forceinline__ Fr mul_prepared(const Fr& x, const Piece& piece) {
  static_assert(kPieces == 4 || kPieces == 8);
  constexpr unsigned kReduced = kPieces == 4 ? 3 : 2;
  constexpr Fr r = Fr::modulus();
  // The negative terms make the quotient no less than -r; r is there from the start.
  Sums sums;
#pragma unroll
  for (unsigned i = 0; i < 8; i++) sums.aligned<kReduced>()[kReduced + i] = r.limbs[i];
  uint32_t q[kReduced];
  if constexpr (kPieces == 8) {
#pragma unroll
    for (unsigned i = 0; i < 8; i++) add_product<0>(sums, piece(i), x.limbs[i]);
    q[0] = reduce_limb<0>(sums);
    q[1] = reduce_limb<1>(sums);
  } else {
    // Limb 8 gets products of the upper words, so the carries of the lower ones are kept apart.
    uint32_t carries = 0;
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
      const Fr f = piece(i);
      add_row<8, false>(sums.even, f.limbs, x.limbs[2 * i], carries);
      add_row<8, false>(sums.odd + 1, f.limbs + 1, x.limbs[2 * i]);
      add_product<1>(sums, f, x.limbs[2 * i + 1]);
    }
    q[0] = reduce_limb<0>(sums, carries);
    sums.even[8] = ptx::add_cc(sums.even[8], carries);
    sums.even[9] = ptx::addc_cc(sums.even[9], 0);
    sums.even[10] = ptx::addc(sums.even[10], 0);
    q[1] = reduce_limb<1>(sums);
    q[2] = reduce_limb<2>(sums);
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
  add_if(out, p, ptx::subc(0, 0));
  return out;
}
#endif

}  // namespace cuzk::device::fr
