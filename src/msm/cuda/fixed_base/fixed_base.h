#pragma once
// Many multiples of one point on a device, for setup: tables of signed windows (msm/digits.h), results by batched
// affine addition. The device's msm/fixed_base.h.

#include "curve/cuda/types.h"
#include "gpu/device.h"
#include "gpu/stream.h"

namespace cuzk::msm {

struct FixedBasePlan {
  unsigned window_bits = 0;  // in [4, 20]
  unsigned blocks = 0;       // that run at a time, each with memory of its own
  uint64_t bytes = 0;        // of device memory: tables and workspace
};
// The window width that makes `count` multiplications cheapest, the making of the tables included.
FixedBasePlan plan_fixed_base(uint64_t count, bool g2, const gpu::DeviceInfo& device);
// The same with a width in [4, 20].
FixedBasePlan plan_fixed_base_windows(unsigned window_bits, bool g2, const gpu::DeviceInfo& device);

// Instantiated for Fp and Fp2. It borrows plan.bytes of device memory; one call of mul runs at a time.
template <class F>
class DeviceFixedBase {
 public:
  using Point = device::TwinOf<Affine<F>>;

  // Any base, infinity included.
  static Result<DeviceFixedBase> make(const FixedBasePlan& plan, const Xyzz<F>& base, gpu::DeviceSpan<std::byte> memory,
                                      const gpu::Stream& stream);

  // out[i] = scalars[i] * base, for scalars in Montgomery form; both of one length.
  Status mul(gpu::DeviceSpan<const device::Fr> scalars, gpu::DeviceSpan<Point> out, const gpu::Stream& stream) const;

 private:
  FixedBasePlan plan_;
  gpu::DeviceSpan<std::byte> memory_;
};

}  // namespace cuzk::msm
