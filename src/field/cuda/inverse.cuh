#pragma once
// Modular inversion for one thread, on the device or (for tests) on the host.
//
// Bernstein, Yang 2019, "Fast constant-time gcd computation and modular inversion" (eprint 2019/266): division steps on
// the low bits of (f, g), 30 at a time, whose effect is then applied to the full numbers as a 2 x 2 matrix. Here the
// number of steps depends on the value, as nothing secret passes. About 17,000 instructions for Fp.

#include <cstdint>

namespace cuzk::device {

#ifdef __CUDACC__
#define CUZK_DEVICE __host__ __device__ __forceinline__
#define CUZK_DEVICE_CALLED __host__ __device__ __noinline__
#define CUZK_UNROLL _Pragma("unroll")
#else
#define CUZK_DEVICE inline
#define CUZK_DEVICE_CALLED inline
#define CUZK_UNROLL
#endif

// N words of 32 bits hold the modulus, an odd number below 2^(32 N - 1).
template <unsigned N>
struct DivisionSteps {
  static constexpr unsigned kLimbs = (32 * N + 29 + 2) / 30;  // of 30 bits, signed, with room for (-2p, p)
  static constexpr int32_t kMask = (1 << 30) - 1;

  struct Number {
    int32_t limb[kLimbs];
  };
  // (f, g) after 30 steps are (u f + v g, q f + r g) / 2^30.
  struct Matrix {
    int32_t u, v, q, r;
  };

  static CUZK_DEVICE Number split(const uint32_t* words) {
    Number out;
    CUZK_UNROLL
    for (unsigned i = 0; i < kLimbs; i++) {
      const unsigned bit = 30 * i, word = bit / 32, shift = bit % 32;
      uint32_t value = word < N ? words[word] >> shift : 0;
      if (shift > 2 && word + 1 < N) value |= words[word + 1] << (32 - shift);
      out.limb[i] = static_cast<int32_t>(value & kMask);
    }
    return out;
  }
  static CUZK_DEVICE void join(const Number& number, uint32_t* words) {
    CUZK_UNROLL
    for (unsigned i = 0; i < N; i++) {
      const unsigned bit = 32 * i, limb = bit / 30, shift = bit % 30;
      uint32_t value = static_cast<uint32_t>(number.limb[limb]) >> shift;
      if (limb + 1 < kLimbs) value |= static_cast<uint32_t>(number.limb[limb + 1]) << (30 - shift);
      if (shift > 28 && limb + 2 < kLimbs) value |= static_cast<uint32_t>(number.limb[limb + 2]) << (60 - shift);
      words[i] = value;
    }
  }

  static CUZK_DEVICE unsigned trailing_zeros(uint32_t x) {  // x is not zero
#ifdef __CUDA_ARCH__
    return static_cast<unsigned>(__ffs(static_cast<int>(x)) - 1);
#else
    return static_cast<unsigned>(__builtin_ctz(x));
#endif
  }

  // 30 steps on the low words; eta is minus the paper's delta and stays within +-2000.
  static CUZK_DEVICE int32_t steps(int32_t eta, uint32_t f, uint32_t g, Matrix& out) {
    uint32_t u = 1, v = 0, q = 0, r = 1;
    int32_t left = 30;
    while (true) {
      const unsigned zeros = trailing_zeros(g | (~uint32_t{0} << left));
      g >>= zeros, u <<= zeros, v <<= zeros;
      eta -= static_cast<int32_t>(zeros), left -= static_cast<int32_t>(zeros);
      if (left == 0) break;
      if (eta < 0) {
        eta = -eta;
        uint32_t t = f;
        f = g, g = 0 - t;
        t = u, u = q, q = 0 - t;
        t = v, v = r, r = 0 - t;
      }
      // Cancels up to 10 bits of g at once, but no more than until eta turns negative, by adding a multiple of f.
      int32_t bits = eta + 1 < left ? eta + 1 : left;
      bits = bits < 10 ? bits : 10;
      uint32_t inverse = (3 * f) ^ 2;  // of f mod 2^5
      inverse *= 2 - f * inverse;      // mod 2^10
      const uint32_t w = (0 - g * inverse) & ((1u << bits) - 1);
      g += f * w, q += u * w, r += v * w;
    }
    out = {static_cast<int32_t>(u), static_cast<int32_t>(v), static_cast<int32_t>(q), static_cast<int32_t>(r)};
    return eta;
  }

  // (f, g) = (u f + v g, q f + r g) / 2^30; the divisions are exact.
  static CUZK_DEVICE void apply(Number& f, Number& g, const Matrix& m) {
    int64_t cf = int64_t{m.u} * f.limb[0] + int64_t{m.v} * g.limb[0];
    int64_t cg = int64_t{m.q} * f.limb[0] + int64_t{m.r} * g.limb[0];
    cf >>= 30, cg >>= 30;
    CUZK_UNROLL
    for (unsigned i = 1; i < kLimbs; i++) {
      const int32_t fi = f.limb[i], gi = g.limb[i];
      cf += int64_t{m.u} * fi + int64_t{m.v} * gi;
      cg += int64_t{m.q} * fi + int64_t{m.r} * gi;
      f.limb[i - 1] = static_cast<int32_t>(cf) & kMask, cf >>= 30;
      g.limb[i - 1] = static_cast<int32_t>(cg) & kMask, cg >>= 30;
    }
    f.limb[kLimbs - 1] = static_cast<int32_t>(cf);
    g.limb[kLimbs - 1] = static_cast<int32_t>(cg);
  }
  // The same mod p: a multiple of p makes the divisions exact. Values stay in (-2p, p).
  static CUZK_DEVICE void apply_mod(Number& d, Number& e, const Matrix& m, const Number& p, uint32_t p_inverse) {
    const int32_t d_sign = d.limb[kLimbs - 1] >> 31, e_sign = e.limb[kLimbs - 1] >> 31;
    int32_t md = (m.u & d_sign) + (m.v & e_sign), me = (m.q & d_sign) + (m.r & e_sign);
    int64_t cd = int64_t{m.u} * d.limb[0] + int64_t{m.v} * e.limb[0];
    int64_t ce = int64_t{m.q} * d.limb[0] + int64_t{m.r} * e.limb[0];
    md -= static_cast<int32_t>((p_inverse * static_cast<uint32_t>(cd) + static_cast<uint32_t>(md)) & kMask);
    me -= static_cast<int32_t>((p_inverse * static_cast<uint32_t>(ce) + static_cast<uint32_t>(me)) & kMask);
    cd += int64_t{p.limb[0]} * md, ce += int64_t{p.limb[0]} * me;
    cd >>= 30, ce >>= 30;
    CUZK_UNROLL
    for (unsigned i = 1; i < kLimbs; i++) {
      const int32_t di = d.limb[i], ei = e.limb[i];
      cd += int64_t{m.u} * di + int64_t{m.v} * ei + int64_t{p.limb[i]} * md;
      ce += int64_t{m.q} * di + int64_t{m.r} * ei + int64_t{p.limb[i]} * me;
      d.limb[i - 1] = static_cast<int32_t>(cd) & kMask, cd >>= 30;
      e.limb[i - 1] = static_cast<int32_t>(ce) & kMask, ce >>= 30;
    }
    d.limb[kLimbs - 1] = static_cast<int32_t>(cd);
    e.limb[kLimbs - 1] = static_cast<int32_t>(ce);
  }

  static CUZK_DEVICE bool is_zero(const Number& x) {
    int32_t any = 0;
    CUZK_UNROLL
    for (unsigned i = 0; i < kLimbs; i++) any |= x.limb[i];
    return any == 0;
  }
  // x = (negate ? -x : x) + (add ? p : 0), with limbs in [0, 2^30) but the top one.
  static CUZK_DEVICE void adjust(Number& x, bool negate, bool add, const Number& p) {
    int32_t carry = 0;
    CUZK_UNROLL
    for (unsigned i = 0; i < kLimbs; i++) {
      carry += (negate ? -x.limb[i] : x.limb[i]) + (add ? p.limb[i] : 0);
      x.limb[i] = i + 1 < kLimbs ? carry & kMask : carry;
      carry >>= 30;
    }
  }

  // value^-1 mod p, zero for zero; value < p.
  static CUZK_DEVICE void invert(const uint32_t* value, const uint32_t* modulus, uint32_t* out) {
    const Number p = split(modulus);
    uint32_t p_inverse = (3 * modulus[0]) ^ 2;  // mod 2^5, 2^10, 2^20, 2^40
    for (int i = 0; i < 3; i++) p_inverse *= 2 - modulus[0] * p_inverse;
    Number f = p, g = split(value), d{}, e{};
    e.limb[0] = 1;
    int32_t eta = -1;
    while (!is_zero(g)) {
      Matrix m;
      eta = steps(eta, static_cast<uint32_t>(f.limb[0]), static_cast<uint32_t>(g.limb[0]), m);
      apply_mod(d, e, m, p, p_inverse);
      apply(f, g, m);
    }
    // f is now +1 or -1 (or +-p for value 0, where d is 0), and d f = value^-1.
    const bool negative = f.limb[kLimbs - 1] < 0;
    adjust(d, false, d.limb[kLimbs - 1] < 0, p);  // (-p, p)
    adjust(d, negative, false, p);
    adjust(d, false, d.limb[kLimbs - 1] < 0, p);  // [0, p)
    join(d, out);
  }
};

}  // namespace cuzk::device
