#pragma once
// The arrays of a run, carved from its workspace.

#include <vector>

#include "msm/batch_add.h"
#include "msm/digits.h"
#include "msm/msm.h"

namespace cuzk::msm {

// Sums of buckets that a segment shares with its neighbours.
template <class F>
struct Partial {
  uint32_t bucket;
  Affine<F> sum;
};

// One thread's scratch.
template <class F>
struct Lane {
  Lane(Carver& memory, size_t segment)
      : add(memory, (segment + 1) / 2),
        points(memory.take<Affine<F>>(segment)),
        run_buckets(memory.take<uint32_t>(segment)),
        run_lengths(memory.take<uint32_t>(segment)),
        targets_(memory.take<uint32_t>(segment)) {}

  // Sums consecutive runs of points, load(position) by position, as trees: afterwards points[k] is the sum of run k.
  // The runs' lengths are in run_lengths and add up to at most a segment.
  template <class Load>
  void sum_runs(size_t runs, Load load) {
    uint32_t longest = sum_pairs(runs, load);
    while (longest > 1) longest = sum_pairs(runs, [this](size_t position) { return points[position]; });
  }

  BatchAdd<F> add;
  std::span<Affine<F>> points;
  std::span<uint32_t> run_buckets, run_lengths;

 private:
  // Halves every run and gives the length of the longest one left. A sum never lands after a point still to be read.
  template <class Load>
  uint32_t sum_pairs(size_t runs, Load load) {
    size_t from = 0, pairs = 0;
    uint32_t to = 0, longest = 0;
    for (size_t r = 0; r < runs; r++) {
      const uint32_t length = run_lengths[r];
      for (uint32_t i = 0; i + 1 < length; i += 2, from += 2) {
        add.set_first(pairs, load(from));
        add.set_second(pairs, load(from + 1));
        targets_[pairs++] = to++;
      }
      if (length % 2 != 0) points[to++] = load(from++);
      run_lengths[r] = (length + 1) / 2;
      longest = std::max(longest, run_lengths[r]);
    }
    add.run(pairs);
    for (size_t k = 0; k < pairs; k++) points[targets_[k]] = add.first(k);
    return longest;
  }

  std::span<uint32_t> targets_;
};

// What one window in progress needs.
template <class F>
struct WindowSpace {
  WindowSpace(Carver& memory, const Plan& plan) {
    const size_t lane_count = plan.threads / plan.windows_at_once, points = plan.shape.points;
    const size_t bucket_count = size_t{1} << (plan.window_bits - 1);
    const size_t segments = (points + plan.segment - 1) / plan.segment;
    entries = memory.take<uint32_t>(points);
    starts = memory.take<uint32_t>(bucket_count + 1);
    counts = memory.take<uint32_t>(lane_count * bucket_count);
    buckets = memory.take<Affine<F>>(bucket_count);
    partials = memory.take<Partial<F>>(2 * segments);
    for (size_t i = 0; i < lane_count; i++) lanes.emplace_back(memory, plan.segment);
  }

  std::span<uint32_t> entries;  // index of a base, top bit set where it is subtracted; sorted by bucket
  std::span<uint32_t> starts;   // first entry of each bucket, and the end
  std::span<uint32_t> counts;   // by lane: entries of each bucket, then where its next one goes
  std::span<Affine<F>> buckets;
  std::span<Partial<F>> partials;
  std::vector<Lane<F>> lanes;
};

template <class F>
struct Workspace {
  Workspace(Carver& memory, const Plan& plan) {
    scalars = memory.take<Digits::Prepared>(plan.shape.points);
    chains = memory.take<Affine<F>>(plan.windows * 2 * plan.chains);
    sums = memory.take<Xyzz<F>>(plan.windows);
    for (size_t i = 0; i < plan.windows_at_once; i++) windows.emplace_back(memory, plan);
  }

  std::span<Digits::Prepared> scalars;
  std::span<Affine<F>> chains;  // by window: sums of the chains, then their weighted sums
  std::span<Xyzz<F>> sums;      // by window
  std::vector<WindowSpace<F>> windows;
};

}  // namespace cuzk::msm
