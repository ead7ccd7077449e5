#include "groth16/cuda/quotient/quotient.h"

namespace cuzk::groth16 {

using ntt::Points;

Status quotient(const ntt::DeviceDomain& domain, gpu::DeviceSpan<device::Fr> a, gpu::DeviceSpan<device::Fr> b,
                gpu::DeviceSpan<device::Fr> scratch, const gpu::Stream& stream) {
  const Fr half = Fr::from_u64(2).inverse();
  const auto c = scratch;
  CUZK_TRY(domain.interpolate(Points::kSubgroup, c, stream,
                              {.source = a.as_const(), .factor = b.as_const(), .scale = half}));
  for (const auto& values : {a, b}) {
    CUZK_TRY(domain.interpolate(Points::kSubgroup, values, stream));
    CUZK_TRY(domain.evaluate(Points::kCoset, values, stream));
  }
  return domain.interpolate(Points::kCoset, a, stream,
                            {.factor = b.as_const(), .minuend = c.as_const(), .scale = half});
}

}  // namespace cuzk::groth16
