#pragma once
// One inversion shared by a block of threads (Montgomery's trick).

#include "curve/cuda/point.cuh"

namespace cuzk::device {

// The inverse of each thread's value, none of which may be zero; every one of the kThreads (a power of two) threads of
// the block takes part. Products of pairs go up a heap in shared memory, inverses come down: 3 log2(kThreads) products
// deep, of which half the levels occupy one warp, and an inversion by one thread. `heap` holds 2 kThreads elements.
template <unsigned kThreads, class F>
__device__ F block_inverse(const F& value, F* heap) {
  const unsigned thread = threadIdx.x;
  store(heap + kThreads + thread, value);
  for (unsigned width = kThreads / 2; width > 0; width /= 2) {
    __syncthreads();
    const unsigned node = width + thread;
    if (thread < width) store(heap + node, load(heap + 2 * node) * load(heap + 2 * node + 1));
  }
  if (thread == 0) store(heap + 1, load(heap + 1).inverse());
  for (unsigned width = 1; width < kThreads; width *= 2) {
    __syncthreads();
    const unsigned node = width + thread;
    if (thread < width) {
      const F inverse = load(heap + node), left = load(heap + 2 * node), right = load(heap + 2 * node + 1);
      store(heap + 2 * node, inverse * right);
      store(heap + 2 * node + 1, inverse * left);
    }
  }
  __syncthreads();
  return load(heap + kThreads + thread);
}

}  // namespace cuzk::device
