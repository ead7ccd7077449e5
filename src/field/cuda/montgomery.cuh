#pragma once
// Fr and Fp on the device: the host's values, bytes and names, in 32-bit limbs.
//
// An element has the same 32 or 48 bytes as cuzk::Fr or cuzk::Fp, so arrays travel without conversion. Host code may
// call everything here too; it then goes through the host type, which is how formulas over these types are tested
// where there is no device.
//
// The product keeps two rows of partial sums, one for even and one for odd limbs of the multiplicand, so that every
// 32x32 -> 64 bit product lands on an aligned pair of registers and ptxas makes one IMAD.WIDE of each mad.lo / mad.hi
// pair (the arrangement of NVIDIA's CGBN and of sppark). 2 N^2 wide products and N low ones for N limbs.

#include <bit>
#include <cstdint>
#include <type_traits>

#include "field/cuda/inverse.cuh"
#include "field/tower.h"

namespace cuzk::device {

#ifdef __CUDACC__
// One instruction each. The carry flag passes from one to the next; they are volatile so that their order stays.
namespace ptx {

__device__ __forceinline__ uint32_t add_cc(uint32_t a, uint32_t b) {
  uint32_t r;
  asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
__device__ __forceinline__ uint32_t addc_cc(uint32_t a, uint32_t b) {
  uint32_t r;
  asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
__device__ __forceinline__ uint32_t addc(uint32_t a, uint32_t b) {
  uint32_t r;
  asm volatile("addc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
__device__ __forceinline__ uint32_t sub_cc(uint32_t a, uint32_t b) {
  uint32_t r;
  asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
__device__ __forceinline__ uint32_t subc_cc(uint32_t a, uint32_t b) {
  uint32_t r;
  asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
__device__ __forceinline__ uint32_t subc(uint32_t a, uint32_t b) {
  uint32_t r;
  asm volatile("subc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
__device__ __forceinline__ uint32_t mul_lo(uint32_t a, uint32_t b) {
  uint32_t r;
  asm volatile("mul.lo.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
__device__ __forceinline__ uint32_t mul_hi(uint32_t a, uint32_t b) {
  uint32_t r;
  asm volatile("mul.hi.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
__device__ __forceinline__ uint32_t mad_lo_cc(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t r;
  asm volatile("mad.lo.cc.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
__device__ __forceinline__ uint32_t madc_lo_cc(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t r;
  asm volatile("madc.lo.cc.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
__device__ __forceinline__ uint32_t madc_hi_cc(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t r;
  asm volatile("madc.hi.cc.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
__device__ __forceinline__ uint32_t madc_hi(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t r;
  asm volatile("madc.hi.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}

// a += b where `condition` is not zero; elsewhere nothing happens, to the carry either.
__device__ __forceinline__ void add_cc_if(uint32_t& a, uint32_t b, uint32_t condition) {
  asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p add.cc.u32 %0, %0, %1;}" : "+r"(a) : "r"(b), "r"(condition));
}
__device__ __forceinline__ void addc_cc_if(uint32_t& a, uint32_t b, uint32_t condition) {
  asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p addc.cc.u32 %0, %0, %1;}" : "+r"(a) : "r"(b), "r"(condition));
}

}  // namespace ptx

// Rows of products a[0] b, a[2] b, ... on pairs of limbs.
namespace rows {

template <unsigned N>
__device__ __forceinline__ void set(uint32_t* sum, const uint32_t* a, uint32_t b) {
#pragma unroll
  for (unsigned j = 0; j < N; j += 2) {
    sum[j] = ptx::mul_lo(a[j], b);
    sum[j + 1] = ptx::mul_hi(a[j], b);
  }
}
// sum += a b; leaves the carry in the flag.
template <unsigned N>
__device__ __forceinline__ void add(uint32_t* sum, const uint32_t* a, uint32_t b) {
  sum[0] = ptx::mad_lo_cc(a[0], b, sum[0]);
  sum[1] = ptx::madc_hi_cc(a[0], b, sum[1]);
#pragma unroll
  for (unsigned j = 2; j < N; j += 2) {
    sum[j] = ptx::madc_lo_cc(a[j], b, sum[j]);
    sum[j + 1] = ptx::madc_hi_cc(a[j], b, sum[j + 1]);
  }
}
// sum = sum / 2^64 + a b + carry.
template <unsigned N>
__device__ __forceinline__ void shift_add(uint32_t* sum, const uint32_t* a, uint32_t b) {
#pragma unroll
  for (unsigned j = 0; j + 2 < N; j += 2) {
    sum[j] = ptx::madc_lo_cc(a[j], b, sum[j + 2]);
    sum[j + 1] = ptx::madc_hi_cc(a[j], b, sum[j + 3]);
  }
  sum[N - 2] = ptx::madc_lo_cc(a[N - 2], b, 0);
  sum[N - 1] = ptx::madc_hi(a[N - 2], b, 0);
}

}  // namespace rows

namespace fr {
template <class Fr>
__device__ __forceinline__ Fr mul(const Fr& a, const Fr& b);  // field/cuda/fr.cuh
}  // namespace fr
#endif

// Host is cuzk::Fr or cuzk::Fp; values are Montgomery residues in [0, p), as there.
template <class Host>
struct alignas(16) Element {
  static constexpr unsigned kLimbs = 2 * Host::kLimbs;
  uint32_t limbs[kLimbs];

  // The modulus, and -p^-1 mod 2^32. Device code copies the former to a local constant, whose limbs then are
  // immediates.
  static constexpr Element modulus() { return from_host(Host::from_raw(Host::kModulus)); }
  static constexpr uint32_t negated_inverse() {
    uint32_t inverse = 1, p = static_cast<uint32_t>(Host::kModulus[0]);
    for (int i = 0; i < 5; i++) inverse *= 2 - p * inverse;
    return 0 - inverse;
  }
  static constexpr Element from_host(const Host& value) {
    Element out{};
    for (unsigned i = 0; i < kLimbs; i++) out.limbs[i] = static_cast<uint32_t>(value.raw()[i / 2] >> (32 * (i % 2)));
    return out;
  }
  CUZK_DEVICE Host to_host() const {
    typename Host::Limbs raw{};
    for (unsigned i = 0; i < kLimbs; i++) raw[i / 2] |= static_cast<uint64_t>(limbs[i]) << (32 * (i % 2));
    return Host::from_raw(raw);
  }

  static CUZK_DEVICE Element zero() { return {}; }
  static CUZK_DEVICE Element one() {
    constexpr Element value = from_host(Host::one());
    return value;
  }
  constexpr CUZK_DEVICE bool is_zero() const {
    uint32_t any = 0;
    for (unsigned i = 0; i < kLimbs; i++) any |= limbs[i];
    return any == 0;
  }
  constexpr CUZK_DEVICE bool operator==(const Element& o) const {
    uint32_t any = 0;
    for (unsigned i = 0; i < kLimbs; i++) any |= limbs[i] ^ o.limbs[i];
    return any == 0;
  }

#ifdef __CUDA_ARCH__
  __device__ __forceinline__ Element operator+(const Element& o) const {
    Element out;
    out.limbs[0] = ptx::add_cc(limbs[0], o.limbs[0]);
#pragma unroll
    for (unsigned i = 1; i + 1 < kLimbs; i++) out.limbs[i] = ptx::addc_cc(limbs[i], o.limbs[i]);
    out.limbs[kLimbs - 1] = ptx::addc(limbs[kLimbs - 1], o.limbs[kLimbs - 1]);
    out.subtract_modulus();
    return out;
  }
  __device__ __forceinline__ Element operator-(const Element& o) const {
    Element out;
    out.limbs[0] = ptx::sub_cc(limbs[0], o.limbs[0]);
#pragma unroll
    for (unsigned i = 1; i < kLimbs; i++) out.limbs[i] = ptx::subc_cc(limbs[i], o.limbs[i]);
    constexpr Element p = modulus();
    const uint32_t mask = ptx::subc(0, 0);
    out.limbs[0] = ptx::add_cc(out.limbs[0], p.limbs[0] & mask);
#pragma unroll
    for (unsigned i = 1; i + 1 < kLimbs; i++) out.limbs[i] = ptx::addc_cc(out.limbs[i], p.limbs[i] & mask);
    out.limbs[kLimbs - 1] = ptx::addc(out.limbs[kLimbs - 1], p.limbs[kLimbs - 1] & mask);
    return out;
  }
  __device__ __forceinline__ Element operator*(const Element& o) const {
    if constexpr (std::is_same_v<Host, cuzk::Fr>) return fr::mul(*this, o);
    return multiply(o);
  }
#else
  Element operator+(const Element& o) const { return from_host(to_host() + o.to_host()); }
  Element operator-(const Element& o) const { return from_host(to_host() - o.to_host()); }
  Element operator*(const Element& o) const { return from_host(to_host() * o.to_host()); }
#endif
  CUZK_DEVICE Element operator-() const { return zero() - *this; }
  CUZK_DEVICE Element dbl() const { return *this + *this; }
  CUZK_DEVICE Element square() const { return *this * *this; }
  // The multiplicative inverse, zero for zero. Batches share one (Montgomery's trick).
  CUZK_DEVICE_CALLED Element inverse() const {
    constexpr Element p = modulus(), r3 = from_host(Host::from_raw(Host::kR2) * Host::from_raw(Host::kR2));
    Element out;
    DivisionSteps<kLimbs>::invert(limbs, p.limbs, out.limbs);  // a^-1 R^-1
    return out * r3;
  }
  CUZK_DEVICE Element& operator+=(const Element& o) { return *this = *this + o; }
  CUZK_DEVICE Element& operator-=(const Element& o) { return *this = *this - o; }
  CUZK_DEVICE Element& operator*=(const Element& o) { return *this = *this * o; }

#ifdef __CUDACC__
  // The product for any modulus.
  __device__ __forceinline__ Element multiply(const Element& o) const {
    uint32_t even[kLimbs], odd[kLimbs];
    step<true>(even, odd, o.limbs[0]);
    step<false>(odd, even, o.limbs[1]);
#pragma unroll
    for (unsigned i = 2; i < kLimbs; i += 2) {
      step<false>(even, odd, o.limbs[i]);
      step<false>(odd, even, o.limbs[i + 1]);
    }
    Element out;
    out.limbs[0] = ptx::add_cc(even[0], odd[1]);
#pragma unroll
    for (unsigned i = 1; i + 1 < kLimbs; i++) out.limbs[i] = ptx::addc_cc(even[i], odd[i + 1]);
    out.limbs[kLimbs - 1] = ptx::addc(even[kLimbs - 1], 0);
    out.subtract_modulus();
    return out;
  }
  // The value is below 2p; subtracts p where it is at least p.
  __device__ __forceinline__ void subtract_modulus() {
    constexpr Element p = modulus();
    uint32_t difference[kLimbs];
    difference[0] = ptx::sub_cc(limbs[0], p.limbs[0]);
#pragma unroll
    for (unsigned i = 1; i < kLimbs; i++) difference[i] = ptx::subc_cc(limbs[i], p.limbs[i]);
    const uint32_t borrow = ptx::subc(0, 0);
#pragma unroll
    for (unsigned i = 0; i < kLimbs; i++) limbs[i] = borrow ? limbs[i] : difference[i];
  }

 private:
  // (sum + this * b + m p) / 2^32, with m such that the division is exact. The sum is even + 2^32 odd; after the step
  // the two have changed places, so that nothing moves.
  template <bool kFirst>
  __device__ __forceinline__ void step(uint32_t* even, uint32_t* odd, uint32_t b) const {
    if constexpr (kFirst) {
      rows::set<kLimbs>(odd, limbs + 1, b);
      rows::set<kLimbs>(even, limbs, b);
    } else {
      even[0] = ptx::add_cc(even[0], odd[1]);
      rows::shift_add<kLimbs>(odd, limbs + 1, b);
      rows::add<kLimbs>(even, limbs, b);
      odd[kLimbs - 1] = ptx::addc(odd[kLimbs - 1], 0);
    }
    constexpr uint32_t kFactor = negated_inverse();
    const uint32_t m = ptx::mul_lo(even[0], kFactor);
    constexpr Element p = modulus();
    rows::add<kLimbs>(odd, p.limbs + 1, m);
    rows::add<kLimbs>(even, p.limbs, m);
    odd[kLimbs - 1] = ptx::addc(odd[kLimbs - 1], 0);
  }
#endif
};

using Fr = Element<cuzk::Fr>;
using Fp = Element<cuzk::Fp>;
using Fp2 = Quadratic<Fp>;

}  // namespace cuzk::device

#ifdef __CUDACC__
namespace cuzk {

// Products in Fp2 are called, not inlined: kernels over G2 compile in a tenth of the time (a minute of ptxas each
// otherwise), and G2 is a tenth of a proof.
template <>
__host__ __device__ __noinline__ inline device::Fp2 device::Fp2::operator*(const device::Fp2& o) const {
  const device::Fp a = c0 * o.c0, b = c1 * o.c1;
  return {a - b, (c0 + c1) * (o.c0 + o.c1) - a - b};
}
template <>
__host__ __device__ __noinline__ inline device::Fp2 device::Fp2::square() const {
  const device::Fp product = c0 * c1;
  return {(c0 + c1) * (c0 - c1), product + product};
}

}  // namespace cuzk
#endif

#include "field/cuda/fr.cuh"
