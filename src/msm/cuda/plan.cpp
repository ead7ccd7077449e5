#include "msm/cuda/workspace.h"

namespace cuzk::msm {
namespace {

constexpr unsigned kScalarBits = 255;
constexpr unsigned kMinWindowBits = 4, kMaxWindowBits = 26;

// In multiplications of the base field: a batched addition with its share of an inversion, and what a bucket costs
// beyond its points (two more additions, for its row and its column).
constexpr double kAddition = 6.4, kBucket = 2 * kAddition;
// What an entry costs to extract and sort, and what a group of windows costs in launches and half-empty trees, in the
// same unit; from 22 G multiplications a second on an H200 (bench/records).
constexpr double kEntry = 0.5, kGroup = 3e7;

}  // namespace

DevicePlan device_plan_with(const Shape& shape, unsigned window_bits, unsigned windows_at_once) {
  DevicePlan plan{.shape = shape, .window_bits = window_bits};
  plan.windows = (kScalarBits + window_bits - 1) / window_bits;
  plan.windows_at_once = std::min(windows_at_once, plan.windows);
  const double points = static_cast<double>(shape.points),
               buckets = static_cast<double>(uint64_t{1} << (window_bits - 1));
  const unsigned groups = (plan.windows + plan.windows_at_once - 1) / plan.windows_at_once;
  const double field = shape.g2 ? 3 : 1;
  plan.multiplications =
      plan.windows * (points * (kAddition * field + kEntry) + buckets * kBucket * field) + groups * kGroup;
  gpu::DeviceCarver counter;
  if (shape.g2) {
    DeviceWorkspace<Fp2>(counter, plan);
  } else {
    DeviceWorkspace<Fp>(counter, plan);
  }
  plan.workspace_bytes = counter.bytes();
  return plan;
}

Result<DevicePlan> device_plan(const Shape& shape, uint64_t limit_bytes) {
  DevicePlan best{};
  uint64_t least = UINT64_MAX;
  for (unsigned bits = kMinWindowBits; bits <= kMaxWindowBits; bits++) {
    for (unsigned at_once = 1; at_once <= (kScalarBits + bits - 1) / bits; at_once++) {
      // Entries of a group are counted in 31 bits.
      if (at_once * std::max<uint64_t>(shape.points, uint64_t{1} << (bits - 1)) >= uint64_t{1} << 31) break;
      const DevicePlan candidate = device_plan_with(shape, bits, at_once);
      least = std::min(least, candidate.workspace_bytes);
      if (candidate.workspace_bytes > limit_bytes) break;
      if (best.windows == 0 || candidate.multiplications < best.multiplications) best = candidate;
    }
  }
  if (best.windows == 0)
    return fail(Code::kTooLarge, "a sum of {} points needs {} bytes of device memory, {} are allowed", shape.points,
                least, limit_bytes);
  return best;
}

}  // namespace cuzk::msm
