// Linked in place of the .cu files where there is no CUDA compiler.
#include "msm/cuda/msm.h"

namespace cuzk::msm {
namespace {

tl::unexpected<Error> absent() { return fail(Code::kUnavailable, "this build has no CUDA"); }

}  // namespace

Status prepare(const DevicePlan&, gpu::DeviceSpan<device::Fr>, Order, const gpu::Stream&) { return absent(); }
template <class F>
Result<Xyzz<F>> sum(const DevicePlan&, gpu::DeviceSpan<const device::TwinOf<Affine<F>>>,
                    gpu::DeviceSpan<const device::Fr>, gpu::DeviceSpan<const uint32_t>, gpu::DeviceSpan<std::byte>,
                    const gpu::Stream&) {
  return absent();
}
template <class F>
uint64_t listed_bytes(uint64_t) {
  return 0;
}
template <class F>
Result<Xyzz<F>> sum_listed(gpu::DeviceSpan<const device::TwinOf<Affine<F>>>, gpu::DeviceSpan<const uint32_t>,
                           gpu::DeviceSpan<std::byte>, const gpu::Stream&) {
  return absent();
}

#define CUZK_INSTANTIATE(F)                                                                            \
  template Result<Xyzz<F>> sum<F>(const DevicePlan&, gpu::DeviceSpan<const device::TwinOf<Affine<F>>>, \
                                  gpu::DeviceSpan<const device::Fr>, gpu::DeviceSpan<const uint32_t>,  \
                                  gpu::DeviceSpan<std::byte>, const gpu::Stream&);                     \
  template uint64_t listed_bytes<F>(uint64_t);                                                         \
  template Result<Xyzz<F>> sum_listed<F>(gpu::DeviceSpan<const device::TwinOf<Affine<F>>>,             \
                                         gpu::DeviceSpan<const uint32_t>, gpu::DeviceSpan<std::byte>,  \
                                         const gpu::Stream&);
CUZK_INSTANTIATE(Fp)
CUZK_INSTANTIATE(Fp2)

}  // namespace cuzk::msm
