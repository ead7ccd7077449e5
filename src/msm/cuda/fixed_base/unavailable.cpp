// Linked in place of fixed_base.cu where there is no CUDA compiler.
#include "msm/cuda/fixed_base/fixed_base.h"

namespace cuzk::msm {
namespace {

tl::unexpected<Error> absent() { return fail(Code::kUnavailable, "this build has no CUDA"); }

}  // namespace

FixedBasePlan plan_fixed_base(uint64_t, bool, const gpu::DeviceInfo&) { return {}; }
FixedBasePlan plan_fixed_base_windows(unsigned, bool, const gpu::DeviceInfo&) { return {}; }

template <class F>
Result<DeviceFixedBase<F>> DeviceFixedBase<F>::make(const FixedBasePlan&, const Xyzz<F>&, gpu::DeviceSpan<std::byte>,
                                                    const gpu::Stream&) {
  return absent();
}
template <class F>
Status DeviceFixedBase<F>::mul(gpu::DeviceSpan<const device::Fr>, gpu::DeviceSpan<Point>, const gpu::Stream&) const {
  return absent();
}

template class DeviceFixedBase<Fp>;
template class DeviceFixedBase<Fp2>;

}  // namespace cuzk::msm
