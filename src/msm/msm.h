#pragma once
// Multi-scalar multiplication: the sum of scalars[i] * bases[i], in G1 (F = Fp) and G2 (F = Fp2).
//
// Pippenger's bucket method with signed digits. A window's points are sorted by bucket and cut into slices of one
// length; many slices are summed side by side, and the buckets are weighted by running sums, all by batched affine
// additions (PointSums of field/kernels.h). Equal scalars, equal or opposite points and infinity cost little more than
// others.

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "curve/bls12_381.h"
#include "exec/pool.h"

namespace cuzk::msm {

struct Shape {
  size_t points;  // below 2^31
  bool g2;
};

// How one shape is computed: a pure function of shape and threads.
struct Plan {
  Shape shape;
  size_t threads;            // that share the work
  unsigned window_bits;      // of a signed digit, 5 to 22
  unsigned windows;          // digits of a scalar
  unsigned windows_at_once;  // whose buckets are in memory together: small sums take several
  size_t lanes;              // sums that a thread's additions advance together; a multiple of 16, 32 or more
  size_t tasks;              // into which the points of the windows in progress are cut; each a slice a lane
  size_t chains;             // running sums that weight a window's buckets; a power of two, 16 to 2^(window_bits - 1)
  double additions;        // estimated, in batched additions of one thread
  uint64_t workspace_bytes;

  size_t buckets() const { return size_t{1} << (window_bits - 1); }  // of a window
  size_t slices() const { return tasks * lanes; }
};
Plan plan(const Shape& shape, size_t threads);
// The workspace of a plan, at any address.
uint64_t workspace_bytes(const Plan& plan);

// Any scalars and any points. kInvalidInput where the spans do not have the plan's lengths, kResourceExhausted where
// the workspace is smaller than workspace_bytes(plan). Instantiated for Fp and Fp2.
template <class F>
Result<Xyzz<F>> run(const Plan& plan, std::span<const Affine<F>> bases, std::span<const Fr> scalars,
                    std::span<std::byte> workspace, exec::Pool& pool);

// Workspace of sum_selected, whatever the number of points.
template <class F>
uint64_t sum_workspace_bytes(size_t threads);

// The sum of bases[i] over the i whose bit i % 64 of bitmap[i / 64] is set. The bitmap has one bit a base, rounded up
// to whole words whose spare bits are zero. Errors as for run; uses as many threads as the workspace allows.
template <class F>
Result<Xyzz<F>> sum_selected(std::span<const Affine<F>> bases, std::span<const uint64_t> bitmap,
                             std::span<std::byte> workspace, exec::Pool& pool);

}  // namespace cuzk::msm
