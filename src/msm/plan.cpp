#include "msm/plan.h"

#include <cmath>

namespace cuzk::msm {
namespace {

// In additions of the same group, which take 48 to 58 ns in G1 and 115 to 137 ns in G2 with the ifma kernels on a Xeon
// (Sapphire Rapids): rounded from sweeps over window, lanes and chains there. For the other kernels they are estimates.
struct Costs {
  double call;           // of the kernels, beside its additions: most of it an inversion
  double xyzz_addition;  // of single points
  double sort_entry;
  double bucket;  // to begin and to end a sum
  size_t lanes;   // at most, so that a thread's lanes fit into a second-level cache of 1 MiB
};
constexpr Costs kG1Costs{120, 13, 0.15, 1, 1024};
constexpr Costs kG2Costs{60, 15, 0.06, 0.5, 512};

constexpr size_t kWidth = 16;             // a multiple of that of all kernels
constexpr unsigned kMinWindowBits = 5;    // as many buckets
constexpr size_t kSliceEntries = 64;      // a lane sums at least about so many,
constexpr size_t kMaxSliceEntries = 512;  // and at most
constexpr size_t kBatchEntries = size_t{1} << 18;

void choose_lanes(Plan& plan, const Costs& costs) {
  const size_t entries = plan.windows_at_once * plan.shape.points;
  const size_t lanes = entries / (plan.threads * kSliceEntries) / kWidth * kWidth;
  plan.lanes = std::clamp(lanes, 2 * kWidth, costs.lanes);
  plan.tasks = plan.threads * std::max<size_t>(1, entries / (plan.threads * plan.lanes * kMaxSliceEntries));
}

// All windows, with the cheapest number of chains.
void estimate(Plan& plan, const Costs& costs) {
  const auto threads = static_cast<double>(plan.threads), windows = static_cast<double>(plan.windows_at_once);
  const double entries = windows * static_cast<double>(plan.shape.points);
  const double buckets = windows * static_cast<double>(plan.buckets()), slices = static_cast<double>(plan.slices());
  const double steps = std::ceil(entries / slices) * static_cast<double>(plan.tasks);
  const double sums =
      (entries * (1 + costs.sort_entry) + std::min(entries, buckets) * costs.bucket + steps * costs.call) / threads +
      2 * slices * (1 + costs.bucket) + 16 * costs.call;
  plan.additions = 0;
  for (size_t chains = kWidth; chains <= plan.buckets(); chains *= 2) {
    const double all = windows * static_cast<double>(chains);
    const double calls = std::max(threads, std::ceil(2 * all / static_cast<double>(plan.lanes)));
    const double rows = static_cast<double>(plan.buckets() / chains);
    const double weights = (2 * buckets + rows * calls * costs.call + 3 * all * costs.xyzz_addition) / threads;
    const double additions = static_cast<double>(plan.windows) / windows * (sums + weights);
    if (plan.additions == 0 || additions < plan.additions) plan.additions = additions, plan.chains = chains;
  }
}

Plan plan_for(const Shape& shape, size_t threads, const Costs& costs) {
  Plan best{};
  for (unsigned bits = kMinWindowBits; bits <= Digits::kMaxWindowBits; bits++) {
    Plan one{.shape = shape, .threads = std::max<size_t>(1, threads), .window_bits = bits};
    one.windows = Digits(bits).windows();
    one.windows_at_once =
        static_cast<unsigned>(std::clamp<size_t>(kBatchEntries / std::max<size_t>(1, shape.points), 1, one.windows));
    choose_lanes(one, costs);
    estimate(one, costs);
    if (best.windows == 0 || one.additions < best.additions) best = one;
  }
  best.workspace_bytes = workspace_bytes(best);
  return best;
}

template <class F>
uint64_t carved_bytes(const Plan& plan) {
  mem::Carver counter;
  Workspace<F>(counter, plan);
  return counter.bytes();
}

}  // namespace

uint64_t workspace_bytes(const Plan& plan) { return plan.shape.g2 ? carved_bytes<Fp2>(plan) : carved_bytes<Fp>(plan); }

Plan plan(const Shape& shape, size_t threads) {
  return shape.g2 ? plan_for(shape, threads, kG2Costs) : plan_for(shape, threads, kG1Costs);
}

}  // namespace cuzk::msm
