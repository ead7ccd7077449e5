#include "msm/cuda/workspace.h"

namespace cuzk::msm {
namespace {

// A scalar or its negative is at most r/2 < 2^254.
constexpr unsigned kScalarBits = 254;
constexpr unsigned kMinWindowBits = 4, kMaxWindowBits = 26;

// In multiplications of the base field, of which an H200 makes 24 G a second; fitted to sums of 2^27 points with
// windows of 22 and 24 bits and 1 to 6 of them at once, within 1 % (bench/records): a batched addition, what an entry
// costs to extract, sort and pair, what a bucket costs beyond its points (two more additions, for its row and its
// column, and half-empty levels), and what a group of windows costs in launches that leave the device half idle.
constexpr double kAddition = 7.4, kEntry = 1.0, kBucket = 25, kGroup = 4.5e7;

// The top window may be one bit wider than the others.
unsigned windows_of(unsigned window_bits) { return (kScalarBits - 1 + window_bits - 1) / window_bits; }

}  // namespace

DevicePlan device_plan_with(const Shape& shape, unsigned window_bits, unsigned windows_at_once) {
  DevicePlan plan{.shape = shape, .window_bits = window_bits};
  plan.windows = windows_of(window_bits);
  plan.top_bits = kScalarBits - (plan.windows - 1) * window_bits;
  plan.windows_at_once = std::min(windows_at_once, plan.windows);
  const double buckets = static_cast<double>(plan.buckets(0, plan.windows)), field = shape.g2 ? 3 : 1;
  const unsigned groups = (plan.windows + plan.windows_at_once - 1) / plan.windows_at_once;
  plan.multiplications =
      static_cast<double>(plan.windows) * static_cast<double>(shape.points) * (kAddition * field + kEntry) +
      buckets * kBucket * field + groups * kGroup;
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
    for (unsigned at_once = 1; at_once <= windows_of(bits); at_once++) {
      // Entries of a group are counted in 31 bits.
      if (at_once * shape.points >= uint64_t{1} << 31 || uint64_t{at_once} << bits >= uint64_t{1} << 31) break;
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
