#pragma once
// The scratch arrays of a sum: those of one group of windows, and the buckets of all.

#include <algorithm>

#include "msm/cuda/msm.h"

namespace cuzk::msm {

// Bytes that CUB asks for at most to sort or scan so many entries: 0.16 an entry seen; msm.cu checks before each use.
inline uint64_t cub_bytes(uint64_t entries, uint64_t buckets) { return (entries + buckets) / 5 + (uint64_t{4} << 20); }

// Elements [begin, end) of an array.
struct Range {
  uint32_t begin, end;
};

template <class F>
struct DeviceWorkspace {
  static constexpr unsigned kLevels = 33;  // the size of a bucket halved 0 to 32 times

  gpu::DeviceSpan<uint32_t> keys[2], values[2];  // entries: bucket, and base with the sign in the top bit
  gpu::DeviceSpan<uint32_t> pairs;               // of one level: its first elements
  gpu::DeviceSpan<Range> ranges;                 // entries of each bucket: the first, and past the last
  gpu::DeviceSpan<uint32_t> offsets[2];          // first element of each bucket, of two levels
  gpu::DeviceSpan<Affine<F>> points[2];          // elements of odd and even levels
  gpu::DeviceSpan<Affine<F>> buckets;            // their sums
  gpu::DeviceSpan<uint32_t> totals;              // elements of each level
  gpu::DeviceSpan<Xyzz<F>> sums;                 // weighted rows and columns of each window
  gpu::DeviceSpan<std::byte> cub;

  DeviceWorkspace(gpu::DeviceCarver& memory, const DevicePlan& plan) {
    const uint64_t all_buckets = plan.buckets(0, plan.windows);
    const uint64_t bucket_count = std::max(plan.buckets(0, plan.windows_at_once),
                                           plan.buckets(plan.windows - plan.windows_at_once, plan.windows_at_once));
    const uint64_t entries = std::max<uint64_t>(uint64_t{plan.windows_at_once} * plan.shape.points, 1);
    for (auto& span : keys) span = memory.take<uint32_t>(entries);
    for (auto& span : values) span = memory.take<uint32_t>(entries);
    ranges = memory.take<Range>(bucket_count);
    for (auto& span : offsets) span = memory.take<uint32_t>(bucket_count + 1);
    // A level has half the elements before, rounded up in each bucket; rows and columns of buckets take as many as
    // there are.
    const uint64_t half = entries / 2 + std::min(entries, bucket_count) / 2 + 1,
                   quarter = half / 2 + std::min(half, bucket_count) / 2 + 1;
    pairs = memory.take<uint32_t>(half);
    points[0] = memory.take<Affine<F>>(std::max(half, all_buckets));
    points[1] = memory.take<Affine<F>>(quarter);
    buckets = memory.take<Affine<F>>(all_buckets);
    totals = memory.take<uint32_t>(kLevels);
    sums = memory.take<Xyzz<F>>(2 * plan.windows);
    cub = memory.take<std::byte>(cub_bytes(entries, bucket_count));
  }
};

}  // namespace cuzk::msm
