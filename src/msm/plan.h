#pragma once
// The arrays of a run, carved from its workspace.

#include <vector>

#include "msm/digits.h"
#include "msm/msm.h"
#include "msm/sums.h"

namespace cuzk::msm {

// Sums of the parts of buckets that lie in several slices, by bucket.
template <class F>
struct Partials {
  Partials(mem::Carver& memory, size_t count)
      : buckets(memory.take<uint32_t>(count)), sums(memory.take<Affine<F>>(count)) {}

  std::span<uint32_t> buckets;
  std::span<Affine<F>> sums;
};

// Where a lane is in its slice of the entries.
struct Cursor {
  uint32_t position, run_begin, run_end, end, bucket;
  uint32_t partials;  // of this slice so far
};

// One thread's part.
template <class F>
struct Worker {
  Worker(mem::Carver& memory, const Plan& plan)
      : sums(memory, plan.lanes), cursors(memory.take<Cursor>(sums.lanes())) {}

  Sums<F> sums;
  std::span<Cursor> cursors;
};

template <class F>
struct Workspace {
  Workspace(mem::Carver& memory, const Plan& plan)
      : buckets(memory, plan.windows_at_once * plan.buckets()),
        partials{Partials<F>(memory, 2 * plan.slices()), Partials<F>(memory, 2 * plan.slices())} {
    const size_t points = plan.shape.points, bucket_count = plan.windows_at_once * plan.buckets();
    for (auto& limb : scalars) limb = memory.take<uint64_t>(points);
    entries = memory.take<uint32_t>(plan.windows_at_once * points);
    starts = memory.take<uint32_t>(bucket_count + 1);
    counts = memory.take<uint32_t>(plan.threads * bucket_count);
    chains = memory.take<Affine<F>>(plan.windows * 2 * plan.chains);
    sums = memory.take<Xyzz<F>>(plan.windows);
    for (size_t i = 0; i < plan.threads; i++) workers.emplace_back(memory, plan);
  }

  std::array<std::span<uint64_t>, 4> scalars;  // prepared, limb by limb
  // Of the windows in progress, window by window and bucket by bucket:
  Lanes<F> buckets;
  std::span<uint32_t> entries;  // index of a base, top bit set where it is subtracted
  std::span<uint32_t> starts;   // first entry of each bucket, and the end
  std::span<uint32_t> counts;   // by thread: entries of each bucket, then where its next one goes
  Partials<F> partials[2];
  std::span<Affine<F>> chains;  // by window: sums of the chains, then their weighted sums
  std::span<Xyzz<F>> sums;      // by window
  std::vector<Worker<F>> workers;
};

}  // namespace cuzk::msm
