#pragma once
// Multi-scalar multiplication: the sum of scalars[i] * bases[i], in G1 (F = Fp) and G2 (F = Fp2).
//
// Pippenger's bucket method with signed digits: plan, then run in the workspace whose size the plan states.

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

// How one shape is computed; a pure function of shape and threads.
struct Plan {
  Shape shape;
  size_t threads;
  unsigned window_bits;
  unsigned windows;
  uint64_t workspace_bytes;
};
Plan plan(const Shape& shape, size_t threads);

// Any scalars, any points, infinity, equal and negated ones included. kInvalidInput where the spans do not have the
// plan's lengths, kResourceExhausted where the workspace is smaller than the plan says.
template <class F>
Result<Xyzz<F>> run(const Plan& plan, std::span<const Affine<F>> bases, std::span<const Fr> scalars,
                    std::span<std::byte> workspace, exec::Pool& pool);

// Workspace of sum_selected, whatever the number of points.
template <class F>
uint64_t sum_workspace_bytes(size_t threads);

// The sum of bases[i] over the i whose bit i % 64 of bitmap[i / 64] is set; bits past the end must be zero.
// Errors as for run.
template <class F>
Result<Xyzz<F>> sum_selected(std::span<const Affine<F>> bases, std::span<const uint64_t> bitmap,
                             std::span<std::byte> workspace, exec::Pool& pool);

}  // namespace cuzk::msm
