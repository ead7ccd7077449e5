#pragma once
// For .cu files: errors of CUDA as values, the current device, kernel launches.

#include <cuda_runtime_api.h>

#include "base/result.h"
#include "gpu/stream.h"

namespace cuzk::gpu {

inline Status to_status(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return {};
  cudaGetLastError();  // a failed call must not be reported again by the next one
  Code code = Code::kUnavailable;
  if (error == cudaErrorMemoryAllocation) code = Code::kResourceExhausted;
  if (error == cudaErrorInvalidValue || error == cudaErrorInvalidConfiguration ||
      error == cudaErrorInvalidDeviceFunction || error == cudaErrorLaunchOutOfResources)
    code = Code::kInternal;
  return fail(code, "CUDA: {} ({}): {}", cudaGetErrorString(error), cudaGetErrorName(error), what);
}

#define CUZK_CUDA(call) CUZK_TRY(::cuzk::gpu::to_status((call), #call))

// Makes a device the current one of this thread while it lives.
class Current {
 public:
  explicit Current(int ordinal) {
    cudaGetDevice(&before_);
    if (before_ != ordinal) cudaSetDevice(ordinal);
  }
  ~Current() { cudaSetDevice(before_); }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  int before_ = 0;
};

inline unsigned blocks_for(uint64_t threads, unsigned block) {
  return static_cast<unsigned>((threads + block - 1) / block);
}

// kernel<<<grid, block, shared, stream>>>(arguments...); nothing where the grid is empty.
template <class... Parameters, class... Arguments>
Status launch(const Stream& stream, void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared_bytes,
              Arguments&&... arguments) {
  if (grid.x == 0 || grid.y == 0) return {};
  Current current(stream.ordinal());
  kernel<<<grid, block, shared_bytes, stream.get()>>>(std::forward<Arguments>(arguments)...);
  return to_status(cudaGetLastError(), "kernel launch");
}

}  // namespace cuzk::gpu
