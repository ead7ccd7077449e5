#pragma once
// The tables of field/kernels.h. One that the processor cannot run may be named, but not called.

#include "field/kernels.h"

namespace cuzk {

extern const Kernels kPortableKernels;
// The vector code of kIfmaKernels over lanes in plain C++. Only test programs link it (cuzk_field_testing); in others
// it lies at null.
extern const Kernels kEmulatedIfmaKernels __attribute__((weak));

#if defined(__x86_64__)
extern const Kernels kIfmaKernels;  // needs AVX-512 F and IFMA
extern const Kernels kAdxKernels;   // needs BMI2 and ADX
#endif

// What sums of points call for single elements, F = Fp or Fp2; in kernels.cpp, so that none of it is compiled for a
// processor's features.
enum class Addition { kPlain, kDoubling, kKnown };
// Canonical form of words below 10p.
template <class F>
void make_canonical(F& value);
template <class F>
void negate(F& value);
// Looks at first + second. kPlain: the slope is that of the chord. kDoubling: it is slope[0] / slope[1]. kKnown: the sum
// is in first, and slope[1] = 1.
template <class F>
Addition classify_addition(F (&first)[2], F (&second)[2], F (&slope)[2]);
// products[i] <- scale / products[i]; none is zero.
template <class F>
void invert_products(F* products, size_t count, const Fp& scale);

}  // namespace cuzk
