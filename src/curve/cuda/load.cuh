#pragma once
// Points in device memory, moved 16 bytes at a time.

#include "curve/point.h"
#include "field/cuda/montgomery.cuh"
#include "field/tower.h"

namespace cuzk::device {

using Fp2 = Quadratic<Fp>;

// Any of the types above, whose size is a multiple of 16 bytes and aligned so.
template <class T>
__device__ __forceinline__ T load(const T* from) {
  T out;
  const uint4* words = reinterpret_cast<const uint4*>(from);
  uint4* to = reinterpret_cast<uint4*>(&out);
#pragma unroll
  for (unsigned i = 0; i < sizeof(T) / 16; i++) to[i] = words[i];
  return out;
}
template <class T>
__device__ __forceinline__ void store(T* to, const T& value) {
  const uint4* words = reinterpret_cast<const uint4*>(&value);
#pragma unroll
  for (unsigned i = 0; i < sizeof(T) / 16; i++) reinterpret_cast<uint4*>(to)[i] = words[i];
}

}  // namespace cuzk::device

namespace cuzk::msm::device {

using cuzk::device::load;
using cuzk::device::store;

}  // namespace cuzk::msm::device
