// Bulk kernels for processors with BMI2 and ADX (Intel Broadwell 2014, AMD Zen 2017 and later): two carry chains at
// once, adcx through CF for the low halves of the products and adox through OF for the high halves.
//
// Only the multiplications need those instructions, and they are assembly text: no compiler flag, no target region.

#include <algorithm>
#include <utility>
#include <vector>

#include "field/kernels/implementations.h"

#if defined(__x86_64__)

namespace cuzk {
namespace adx {
namespace {

// Laid out by hand: the formatter takes assembly text for nested expressions.
// clang-format off

// t[j], t[j+1] += source * rdx; the carries wait in CF and OF.
#define CUZK_STEP(source, lo_sum, hi_sum) \
  "mulx " source ", %[lo], %[hi]\n\tadcx %[lo], %[" lo_sum "]\n\tadox %[hi], %[" hi_sum "]\n\t"
#define CUZK_A(j) #j "*8(%[a])"
#define CUZK_P(j) "%[p" #j "]"
// Clears the zero register, CF and OF.
#define CUZK_CLEAR "xorl %k[zero], %k[zero]\n\t"

// One round of interleaved Montgomery multiplication: t += a*b[i]; t += m*p with m such that the low limb becomes 0.
// The next round takes the limbs one place higher, and that zero as its top limb. As p < 2^(64N-1), t < 2p*2^64
// throughout and the last carry of each row stays within the top limb.
#define CUZK_ROW4(S, t0, t1, t2, t3, t4) \
  CUZK_STEP(S(0), t0, t1) CUZK_STEP(S(1), t1, t2) CUZK_STEP(S(2), t2, t3) CUZK_STEP(S(3), t3, t4) \
  "adcx %[zero], %[" t4 "]\n\t"
#define CUZK_ROW6(S, t0, t1, t2, t3, t4, t5, t6) \
  CUZK_STEP(S(0), t0, t1) CUZK_STEP(S(1), t1, t2) CUZK_STEP(S(2), t2, t3) CUZK_STEP(S(3), t3, t4) \
  CUZK_STEP(S(4), t4, t5) CUZK_STEP(S(5), t5, t6) "adcx %[zero], %[" t6 "]\n\t"
#define CUZK_ROUND(i, ROW, t0, ...)                                                    \
  "movq " #i "*8(%[b]), %%rdx\n\t" CUZK_CLEAR ROW(CUZK_A, t0, __VA_ARGS__)             \
  "movq %[inv], %%rdx\n\timulq %[" t0 "], %%rdx\n\t" CUZK_CLEAR ROW(CUZK_P, t0, __VA_ARGS__)

// out - p where that is not negative, else out: the difference is made in other registers first.
#define CUZK_SUBTRACT(op, j, from, to) "movq %[" from "], %" to "\n\t" op " %[p" #j "], %" to "\n\t"
#define CUZK_KEEP(to, from) "cmovncq %" from ", %[" to "]\n\t"

template <class F>
F multiply(const F& x, const F& y);

template <>
inline Fr multiply(const Fr& x, const Fr& y) {
  static constexpr Fr::Limbs p = Fr::kModulus;
  const uint64_t *a = x.raw().data(), *b = y.raw().data();
  uint64_t t0 = 0, t1 = 0, t2 = 0, t3 = 0, t4 = 0, lo, hi, zero;
  asm(CUZK_ROUND(0, CUZK_ROW4, "t0", "t1", "t2", "t3", "t4")
      CUZK_ROUND(1, CUZK_ROW4, "t1", "t2", "t3", "t4", "t0")
      CUZK_ROUND(2, CUZK_ROW4, "t2", "t3", "t4", "t0", "t1")
      CUZK_ROUND(3, CUZK_ROW4, "t3", "t4", "t0", "t1", "t2")
      CUZK_SUBTRACT("subq", 0, "t4", "[lo]") CUZK_SUBTRACT("sbbq", 1, "t0", "[hi]")
      CUZK_SUBTRACT("sbbq", 2, "t1", "[zero]") CUZK_SUBTRACT("sbbq", 3, "t2", "%rdx")
      CUZK_KEEP("t4", "[lo]") CUZK_KEEP("t0", "[hi]") CUZK_KEEP("t1", "[zero]") CUZK_KEEP("t2", "%rdx")
      : [t0] "+r"(t0), [t1] "+r"(t1), [t2] "+r"(t2), [t3] "+r"(t3), [t4] "+r"(t4), [lo] "=&r"(lo), [hi] "=&r"(hi),
        [zero] "=&r"(zero)
      : [a] "r"(a), [b] "r"(b), [inv] "i"(Fr::kInv), [p0] "m"(p[0]), [p1] "m"(p[1]), [p2] "m"(p[2]), [p3] "m"(p[3]),
        "m"(x), "m"(y)
      : "rdx", "cc");
  return Fr::from_raw({t4, t0, t1, t2});
}

template <>
inline Fp multiply(const Fp& x, const Fp& y) {
  static constexpr Fp::Limbs p = Fp::kModulus;
  const uint64_t *a = x.raw().data(), *b = y.raw().data();
  uint64_t t0 = 0, t1 = 0, t2 = 0, t3 = 0, t4 = 0, t5 = 0, t6 = 0, lo, hi, zero;
  asm(CUZK_ROUND(0, CUZK_ROW6, "t0", "t1", "t2", "t3", "t4", "t5", "t6")
      CUZK_ROUND(1, CUZK_ROW6, "t1", "t2", "t3", "t4", "t5", "t6", "t0")
      CUZK_ROUND(2, CUZK_ROW6, "t2", "t3", "t4", "t5", "t6", "t0", "t1")
      CUZK_ROUND(3, CUZK_ROW6, "t3", "t4", "t5", "t6", "t0", "t1", "t2")
      CUZK_ROUND(4, CUZK_ROW6, "t4", "t5", "t6", "t0", "t1", "t2", "t3")
      CUZK_ROUND(5, CUZK_ROW6, "t5", "t6", "t0", "t1", "t2", "t3", "t4")
      CUZK_SUBTRACT("subq", 0, "t6", "[lo]") CUZK_SUBTRACT("sbbq", 1, "t0", "[hi]")
      CUZK_SUBTRACT("sbbq", 2, "t1", "[zero]") CUZK_SUBTRACT("sbbq", 3, "t2", "%rdx")
      CUZK_SUBTRACT("sbbq", 4, "t3", "[t5]") CUZK_SUBTRACT("sbbq", 5, "t4", "[a]")
      CUZK_KEEP("t6", "[lo]") CUZK_KEEP("t0", "[hi]") CUZK_KEEP("t1", "[zero]") CUZK_KEEP("t2", "%rdx")
      CUZK_KEEP("t3", "[t5]") CUZK_KEEP("t4", "[a]")
      : [t0] "+r"(t0), [t1] "+r"(t1), [t2] "+r"(t2), [t3] "+r"(t3), [t4] "+r"(t4), [t5] "+r"(t5), [t6] "+r"(t6),
        [lo] "=&r"(lo), [hi] "=&r"(hi), [zero] "=&r"(zero), [a] "+r"(a)
      : [b] "r"(b), [inv] "i"(Fp::kInv), [p0] "m"(p[0]), [p1] "m"(p[1]), [p2] "m"(p[2]), [p3] "m"(p[3]),
        [p4] "m"(p[4]), [p5] "m"(p[5]), "m"(x), "m"(y)
      : "rdx", "cc");
  return Fp::from_raw({t6, t0, t1, t2, t3, t4});
}

// A row of a product, whose lowest limb is then done.
#define CUZK_PRODUCT_ROW(i, t0, ...)                                                   \
  "movq " #i "*8(%[b]), %%rdx\n\t" CUZK_CLEAR CUZK_ROW6(CUZK_A, t0, __VA_ARGS__)       \
  "movq %[" t0 "], " #i "*8(%[out])\n\tmovq %[zero], %[" t0 "]\n\t"
// A multiple of p, as in CUZK_ROUND.
#define CUZK_REDUCTION_ROW(t0, ...)                                                    \
  "movq %[inv], %%rdx\n\timulq %[" t0 "], %%rdx\n\t" CUZK_CLEAR CUZK_ROW6(CUZK_P, t0, __VA_ARGS__)

inline void multiply_wide(uint64_t (&out)[12], const uint64_t (&a)[6], const uint64_t (&b)[6]) {
  uint64_t t0 = 0, t1 = 0, t2 = 0, t3 = 0, t4 = 0, t5 = 0, t6 = 0, lo, hi, zero;
  asm(CUZK_PRODUCT_ROW(0, "t0", "t1", "t2", "t3", "t4", "t5", "t6")
      CUZK_PRODUCT_ROW(1, "t1", "t2", "t3", "t4", "t5", "t6", "t0")
      CUZK_PRODUCT_ROW(2, "t2", "t3", "t4", "t5", "t6", "t0", "t1")
      CUZK_PRODUCT_ROW(3, "t3", "t4", "t5", "t6", "t0", "t1", "t2")
      CUZK_PRODUCT_ROW(4, "t4", "t5", "t6", "t0", "t1", "t2", "t3")
      CUZK_PRODUCT_ROW(5, "t5", "t6", "t0", "t1", "t2", "t3", "t4")
      : [t0] "+r"(t0), [t1] "+r"(t1), [t2] "+r"(t2), [t3] "+r"(t3), [t4] "+r"(t4), [t5] "+r"(t5), [t6] "+r"(t6),
        [lo] "=&r"(lo), [hi] "=&r"(hi), [zero] "=&r"(zero), "=m"(out)
      : [out] "r"(out), [a] "r"(a), [b] "r"(b), "m"(a), "m"(b)
      : "rdx", "cc");
  out[6] = t6, out[7] = t0, out[8] = t1, out[9] = t2, out[10] = t3, out[11] = t4;
}

inline void reduce_wide(const uint64_t (&t)[12], uint64_t (&out)[6]) {
  static constexpr Fp::Limbs p = Fp::kModulus;
  uint64_t t0 = t[0], t1 = t[1], t2 = t[2], t3 = t[3], t4 = t[4], t5 = t[5], t6 = 0, lo, hi, zero;
  asm(CUZK_REDUCTION_ROW("t0", "t1", "t2", "t3", "t4", "t5", "t6")
      CUZK_REDUCTION_ROW("t1", "t2", "t3", "t4", "t5", "t6", "t0")
      CUZK_REDUCTION_ROW("t2", "t3", "t4", "t5", "t6", "t0", "t1")
      CUZK_REDUCTION_ROW("t3", "t4", "t5", "t6", "t0", "t1", "t2")
      CUZK_REDUCTION_ROW("t4", "t5", "t6", "t0", "t1", "t2", "t3")
      CUZK_REDUCTION_ROW("t5", "t6", "t0", "t1", "t2", "t3", "t4")
      "addq 6*8(%[t]), %[t6]\n\tadcq 7*8(%[t]), %[t0]\n\tadcq 8*8(%[t]), %[t1]\n\t"
      "adcq 9*8(%[t]), %[t2]\n\tadcq 10*8(%[t]), %[t3]\n\tadcq 11*8(%[t]), %[t4]\n\t"
      : [t0] "+r"(t0), [t1] "+r"(t1), [t2] "+r"(t2), [t3] "+r"(t3), [t4] "+r"(t4), [t5] "+r"(t5), [t6] "+r"(t6),
        [lo] "=&r"(lo), [hi] "=&r"(hi), [zero] "=&r"(zero)
      : [t] "r"(t), [inv] "i"(Fp::kInv), [p0] "m"(p[0]), [p1] "m"(p[1]), [p2] "m"(p[2]), [p3] "m"(p[3]),
        [p4] "m"(p[4]), [p5] "m"(p[5]), "m"(t)
      : "rdx", "cc");
  out[0] = t6, out[1] = t0, out[2] = t1, out[3] = t2, out[4] = t3, out[5] = t4;
}

// clang-format on

inline void reduce_wide(const uint64_t (&t0)[12], const uint64_t (&t1)[12], uint64_t (&out0)[6], uint64_t (&out1)[6]) {
  reduce_wide(t0, out0);
  reduce_wide(t1, out1);
}

template <class F>
F square_of(const F& x) {
  return multiply(x, x);
}

#define CUZK_INLINE __attribute__((always_inline))

#include "field/kernels/unrolled.inl"

constexpr bool kOctets = true;  // with them a transform of 2^18 takes 2 % less

#include "field/kernels/scalar_vector.inl"
// builds on it:
#include "field/kernels/generic.inl"

}  // namespace
}  // namespace adx

constexpr Kernels kAdxKernels = adx::table("adx");

}  // namespace cuzk

#endif
