#include "msm/plan.h"

#include <cmath>

namespace cuzk::msm {
namespace {

// In batched additions of the same group; estimates for the adx kernels on a Xeon with AVX-512 (Sapphire Rapids).
struct Costs {
  double inversion, xyzz_addition, sort_entry;
  size_t segment;  // with the scratch of its additions it fits in a 2 MiB second-level cache
};
constexpr Costs kG1Costs{16, 1.9, 0.1, 4096};
constexpr Costs kG2Costs{8, 1.9, 0.04, 2048};

constexpr size_t kWindowAtOncePoints = size_t{1} << 13;  // from here on all threads share a window

struct Estimate {
  double additions;
  size_t chains;
};

// One window of `points` entries: sort, sum the buckets, weight them.
Estimate window_cost(double points, unsigned window_bits, double segment, double lanes, const Costs& costs) {
  const double buckets = std::exp2(window_bits - 1);
  const double rounds = 1 + std::max(1.0, std::log2(std::min(points, segment) / std::min(buckets, points)) + 1);
  const double sums = points * (1 + costs.sort_entry) + std::ceil(points / segment) * rounds * costs.inversion;
  Estimate best{0, 0};
  for (double chains = 1; chains <= buckets; chains *= 2) {
    const double groups = std::max(lanes, std::ceil(2 * chains / (segment / 2)));
    const double weights = 2 * buckets + buckets / chains * groups * costs.inversion + 3 * chains * costs.xyzz_addition;
    if (best.chains == 0 || sums + weights < best.additions) best = {sums + weights, static_cast<size_t>(chains)};
  }
  return best;
}

Plan plan_for(const Shape& shape, size_t threads, const Costs& costs) {
  Plan best{.shape = shape, .threads = std::max<size_t>(1, threads), .segment = costs.segment};
  const bool share = shape.points >= kWindowAtOncePoints;
  for (unsigned bits = 1; bits <= Digits::kMaxWindowBits; bits++) {
    const unsigned windows = Digits(bits).windows();
    const auto lanes = static_cast<double>(share ? best.threads : 1);
    const Estimate window =
        window_cost(static_cast<double>(shape.points), bits, static_cast<double>(costs.segment), lanes, costs);
    const double additions = windows * window.additions;
    if (best.windows != 0 && additions >= best.additions) continue;
    best.window_bits = bits;
    best.windows = windows;
    best.windows_at_once = share ? 1 : std::min<size_t>(best.threads, windows);
    best.chains = window.chains;
    best.additions = additions;
  }
  best.workspace_bytes = workspace_bytes(best);
  return best;
}

template <class F>
uint64_t carved_bytes(const Plan& plan) {
  Carver counter;
  Workspace<F>(counter, plan);
  return counter.bytes();
}

}  // namespace

uint64_t workspace_bytes(const Plan& plan) { return plan.shape.g2 ? carved_bytes<Fp2>(plan) : carved_bytes<Fp>(plan); }

Plan plan(const Shape& shape, size_t threads) {
  return shape.g2 ? plan_for(shape, threads, kG2Costs) : plan_for(shape, threads, kG1Costs);
}

}  // namespace cuzk::msm
