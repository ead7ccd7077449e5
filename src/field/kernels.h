#pragma once
// Arithmetic over arrays of field elements, in the best form that this processor can run.
//
// Outputs may be the very arrays that are inputs (no other overlap). Single-threaded: callers split work themselves.
// One scalar operation stays inline (field/montgomery.h); only loops come here.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "field/tower.h"

namespace cuzk {

// In place of an index of a point.
inline constexpr uint32_t kNoPoint = ~uint32_t{0};

// Sums of points side by side, which only this implementation reads: blocks of `width` lanes, each with one sum, an
// affine point in a form of its own. Sums are complete: equal and opposite points and infinity, which is all zero
// bytes, are settled lane by lane. The work is that of affine addition with a shared inversion (Montgomery's trick), 5
// multiplications and a square each, and of one inversion a call, so calls should have some hundreds of lanes.
//
// Sums and scratch are aligned to 64 bytes. A point is two consecutive elements x and y, both zero for infinity; no
// equation of the curve is used, but y^2 - x^3 must be equal for points that meet.
template <class F>
struct PointSums {
  size_t width;
  size_t block_bytes, scratch_bytes;  // of a block of sums, and what an addition to it needs

  // Adds to the sum of lane i point choice[i] & (2^31 - 1), negated where the top bit is set, or nothing for kNoPoint.
  // On the way prefetches the points of `next`, the choice of the next call.
  void (*add_points)(void* sums, void* scratch, size_t blocks, const F* points, const uint32_t* choice,
                     const uint32_t* next);
  // Adds to block i of sums the block at operands[i], lane by lane. An operand may be a later block of sums.
  void (*add_sums)(void* sums, void* scratch, size_t blocks, const void* const* operands);
  void (*set)(void* sums, size_t lane, const F* point);
  void (*get)(const void* sums, size_t lane, F* point);
  void (*copy)(void* to, size_t to_lane, const void* from, size_t from_lane);
};

struct Kernels {
  std::string_view name;

  template <class F>
  using Binary = void (*)(F* out, const F* a, const F* b, size_t count);
  template <class F>
  using Unary = void (*)(F* out, const F* a, size_t count);
  // Over count pairs (lo[i], hi[i]), each with its own twiddle w[i].
  using Butterfly = void (*)(Fr* lo, Fr* hi, const Fr* w, size_t count);

  Binary<Fr> fr_mul, fr_add, fr_sub;
  Butterfly fr_butterfly_dit;  // (lo, hi) <- (lo + w hi, lo - w hi)
  Butterfly fr_butterfly_dif;  // (lo, hi) <- (lo + hi, (lo - hi) w)

  Binary<Fp> fp_mul, fp_add, fp_sub;
  Unary<Fp> fp_sqr;
  PointSums<Fp> fp_sums;
  Binary<Fp2> fp2_mul, fp2_add, fp2_sub;
  Unary<Fp2> fp2_sqr;
  PointSums<Fp2> fp2_sums;
};

// Environment variable that forces an implementation by name.
inline constexpr const char* kKernelsVariable = "CUZK_KERNELS";

// The implementations that this processor can run, best first; "portable" is always the last.
std::span<const Kernels* const> kernels_available();
// The implementation with this name, or the best one where the name is empty. kUsage where there is none or the
// processor cannot run it.
Result<const Kernels*> select_kernels(std::string_view name);
// select_kernels with the value of CUZK_KERNELS. Programs report this error at start.
Result<const Kernels*> select_kernels_from_environment();
// The choice of select_kernels_from_environment(), made once; the best one where that is an error.
const Kernels& kernels();

template <class F>
const PointSums<F>& point_sums();
template <>
inline const PointSums<Fp>& point_sums() {
  return kernels().fp_sums;
}
template <>
inline const PointSums<Fp2>& point_sums() {
  return kernels().fp2_sums;
}

}  // namespace cuzk
