// Bulk kernels from the scalar arithmetic of field/montgomery.h: runs everywhere, and is what the others are tested
// against.

#include <algorithm>
#include <vector>

#include "field/kernels/implementations.h"

namespace cuzk {
namespace portable {
namespace {

template <class F>
F multiply(const F& x, const F& y) {
  return x * y;
}
template <class F>
F square_of(const F& x) {
  return x.square();
}

constexpr bool kOctets = false;  // with them a transform of 2^18 takes 7 % longer

#include "field/kernels/scalar_vector.inl"
// builds on it:
#include "field/kernels/generic.inl"

}  // namespace
}  // namespace portable

constexpr Kernels kPortableKernels = portable::table("portable");

}  // namespace cuzk
