// Linked in place of ntt.cu where there is no CUDA compiler.
#include "ntt/cuda/ntt.h"

namespace cuzk::ntt {
namespace {

tl::unexpected<Error> absent() { return fail(Code::kUnavailable, "this build has no CUDA"); }

}  // namespace

uint64_t DeviceDomain::bytes(unsigned) { return 0; }
Result<DeviceDomain> DeviceDomain::make(unsigned, gpu::DeviceSpan<std::byte>, const gpu::Stream&) { return absent(); }
Status DeviceDomain::evaluate(Points, gpu::DeviceSpan<device::Fr>, const gpu::Stream&) const { return absent(); }
Status DeviceDomain::interpolate(Points, gpu::DeviceSpan<device::Fr>, const gpu::Stream&, const Around&) const {
  return absent();
}

}  // namespace cuzk::ntt
