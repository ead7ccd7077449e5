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

}  // namespace cuzk
