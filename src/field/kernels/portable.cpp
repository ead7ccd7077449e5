// Bulk kernels from the scalar arithmetic of field/montgomery.h: runs everywhere, and is what the others are tested
// against.

#include <algorithm>

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

#include "field/kernels/scalar_vector.inl"
// builds on it:
#include "field/kernels/generic.inl"

}  // namespace
}  // namespace portable

constexpr Kernels kPortableKernels = portable::table("portable");

}  // namespace cuzk
