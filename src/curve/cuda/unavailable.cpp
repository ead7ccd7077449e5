// Linked in place of encoding.cu where there is no CUDA compiler.
#include "curve/cuda/encoding.h"

namespace cuzk::device {
namespace {

tl::unexpected<Error> absent() { return fail(Code::kUnavailable, "this build has no CUDA"); }

}  // namespace

template <class Point>
Status decode_points(gpu::DeviceSpan<Point>, bool, uint64_t, gpu::DeviceSpan<uint64_t>, const gpu::Stream&) {
  return absent();
}
template <class Point>
Status encode_points(gpu::DeviceSpan<const Point>, std::span<std::byte>, const gpu::Stream&) {
  return absent();
}

template Status decode_points(gpu::DeviceSpan<G1Affine>, bool, uint64_t, gpu::DeviceSpan<uint64_t>, const gpu::Stream&);
template Status decode_points(gpu::DeviceSpan<G2Affine>, bool, uint64_t, gpu::DeviceSpan<uint64_t>, const gpu::Stream&);
template Status encode_points(gpu::DeviceSpan<const G1Affine>, std::span<std::byte>, const gpu::Stream&);
template Status encode_points(gpu::DeviceSpan<const G2Affine>, std::span<std::byte>, const gpu::Stream&);

}  // namespace cuzk::device
