#pragma once
// The types of field elements and points in device memory, for host code that carries them about (gpu::DeviceSpan).
// Same bytes as the host's: field/cuda/montgomery.cuh, curve/cuda/point.cuh.

#include "curve/bls12_381.h"

namespace cuzk::device {

template <class Host>
struct Element;
using Fr = Element<cuzk::Fr>;
using Fp = Element<cuzk::Fp>;
using Fp2 = Quadratic<Fp>;
using G1Affine = Affine<Fp>;
using G2Affine = Affine<Fp2>;

// The device's name of a type of the host.
template <class T>
struct Twin;
template <>
struct Twin<cuzk::Fp> {
  using Type = Fp;
};
template <class F>
struct Twin<Quadratic<F>> {
  using Type = Quadratic<typename Twin<F>::Type>;
};
template <class F>
struct Twin<Affine<F>> {
  using Type = Affine<typename Twin<F>::Type>;
};
template <class T>
using TwinOf = typename Twin<T>::Type;

}  // namespace cuzk::device
