#pragma once
// curve/encoding.h for many uncompressed points on a device.

#include "curve/cuda/types.h"
#include "gpu/stream.h"

namespace cuzk::device {

// Turns uncompressed bytes into points, in place: both forms have the same size. Every coordinate must be below p and
// no point infinity; with `full` all must also be on the curve and in the subgroup. `fault`, one number, becomes the
// lowest of itself and ordinal + i over all i at which points[i] fails. Instantiated for G1Affine and G2Affine.
template <class Point>
Status decode_points(gpu::DeviceSpan<Point> points, bool full, uint64_t ordinal, gpu::DeviceSpan<uint64_t> fault,
                     const gpu::Stream& stream);

// Writes the uncompressed bytes of points, none infinity, to pinned memory of the host. kInternal where it is too
// small.
template <class Point>
Status encode_points(gpu::DeviceSpan<const Point> points, std::span<std::byte> out, const gpu::Stream& stream);

}  // namespace cuzk::device
