#pragma once
// Multi-scalar multiplication and sums of listed points on a device, in G1 (F = Fp) and G2 (F = Fp2).
//
// Pippenger's buckets with signed digits, as on the processor (msm/msm.h): entries (bucket, base, sign) are sorted by
// bucket (CUB's radix sort), every bucket is summed as a tree of batched affine additions (batch_add.cuh), and a
// window's 2^p buckets are weighted through the sums of their rows and columns, seen as a matrix: sum of b S_b =
// 2^q sum of i R_i + sum of j C_j. Work does not depend on how the scalars fall: a bucket that holds everything is one
// deep tree. Errors are those of gpu/stream.h, kInternal where spans do not fit the plan.

#include "curve/cuda/types.h"
#include "gpu/stream.h"
#include "msm/msm.h"

namespace cuzk::msm {

// A pure function of the shape and of the workspace it may use.
struct DevicePlan {
  Shape shape;
  unsigned window_bits;      // c, of all windows but the top one
  unsigned top_bits;         // what is left of 254 bits, 1 to c + 1; a top digit has no sign
  unsigned windows;          // ceil(253 / c)
  unsigned windows_at_once;  // share the trees
  double multiplications;    // in the base field, estimated
  uint64_t workspace_bytes;

  // Buckets of one window, a power of two, and of the `group` windows from `first` on.
  uint64_t buckets(unsigned window) const { return uint64_t{1} << (window + 1 < windows ? window_bits - 1 : top_bits); }
  uint64_t buckets(unsigned first, unsigned group) const {
    return (group - 1) * buckets(0) + buckets(first + group - 1);
  }
};
// The cheapest plan that needs at most `limit_bytes`; kTooLarge where even the smallest needs more.
Result<DevicePlan> device_plan(const Shape& shape, uint64_t limit_bytes = UINT64_MAX);
// The same with this window width and windows at once, for tuning. 2 <= window_bits <= 26.
DevicePlan device_plan_with(const Shape& shape, unsigned window_bits, unsigned windows_at_once);

enum class Order { kNatural, kBitReversed };  // scalar i belongs to base i, or to base reverse(i); then a power of two

// Brings scalars to the form that sum() reads, in place: canonical digits with a bias, in natural order.
Status prepare(const DevicePlan& plan, gpu::DeviceSpan<device::Fr> scalars, Order order, const gpu::Stream& stream);

// The sum of scalars[i] * bases[positions[i]], or bases[i] without positions, over prepared scalars. Scalars whose
// position lies beyond the bases are left out. At most plan.shape.points scalars. Waits for the result.
template <class F>
Result<Xyzz<F>> sum(const DevicePlan& plan, gpu::DeviceSpan<const device::TwinOf<Affine<F>>> bases,
                    gpu::DeviceSpan<const device::Fr> scalars, gpu::DeviceSpan<const uint32_t> positions,
                    gpu::DeviceSpan<std::byte> workspace, const gpu::Stream& stream);

// prepare() and sum(); the scalars are overwritten.
template <class F>
Result<Xyzz<F>> run(const DevicePlan& plan, gpu::DeviceSpan<const device::TwinOf<Affine<F>>> bases,
                    gpu::DeviceSpan<device::Fr> scalars, Order order, gpu::DeviceSpan<std::byte> workspace,
                    const gpu::Stream& stream) {
  CUZK_TRY(prepare(plan, scalars, order, stream));
  return sum<F>(plan, bases, scalars.as_const(), {}, workspace, stream);
}

// The sum of bases[positions[i]]. Any workspace of at least listed_bytes(1024) does; with listed_bytes(positions.size)
// all are summed at once, with less in pieces. Waits for the result.
template <class F>
uint64_t listed_bytes(uint64_t points);
template <class F>
Result<Xyzz<F>> sum_listed(gpu::DeviceSpan<const device::TwinOf<Affine<F>>> bases,
                           gpu::DeviceSpan<const uint32_t> positions, gpu::DeviceSpan<std::byte> workspace,
                           const gpu::Stream& stream);

}  // namespace cuzk::msm
