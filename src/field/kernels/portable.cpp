// Bulk kernels from the scalar arithmetic of field/montgomery.h: runs everywhere, and is what the others are tested
// against.

#include "field/kernels/implementations.h"

namespace cuzk {
namespace portable {
namespace {

template <class F>
struct Vector {
  static constexpr size_t kWidth = 1;
  F value;

  static Vector load(const F* from, size_t, size_t = 1) { return {*from}; }
  void store(F* to, size_t, size_t = 1) const { *to = value; }
  Vector operator+(const Vector& o) const { return {value + o.value}; }
  Vector operator-(const Vector& o) const { return {value - o.value}; }
  Vector operator*(const Vector& o) const { return {value * o.value}; }
  Vector square() const { return {value.square()}; }

  // One element is not worth lazy reductions.
  using Wide = Vector;
  Vector sum(const Vector& o) const { return *this + o; }
  Vector difference(const Vector& o) const { return *this - o; }
  Wide product(const Vector& o) const { return *this * o; }
  Vector reduce() const { return *this; }
};

#include "field/kernels/generic.inl"

}  // namespace
}  // namespace portable

constexpr Kernels kPortableKernels = portable::table("portable");

}  // namespace cuzk
