#pragma once
// Batched affine additions.

#include <algorithm>

#include "curve/point.h"
#include "field/kernels.h"
#include "msm/workspace.h"

namespace cuzk::msm {

// The lowest limb, zero for zero.
inline uint64_t low_limb(const Fp& x) { return x.raw()[0]; }
inline uint64_t low_limb(const Fp2& x) { return x.c0.raw()[0]; }

// Points need not be aligned to cache lines, so the last byte may lie in one line more.
template <class F>
void prefetch(const Affine<F>& point) {
  const char* const bytes = reinterpret_cast<const char*>(&point);
  for (size_t offset = 0; offset < sizeof(point); offset += 64) __builtin_prefetch(bytes + offset);
  __builtin_prefetch(bytes + sizeof(point) - 1);
}

// Many independent affine additions with one inversion (Montgomery's trick): 5 multiplications and a square each.
// Complete: infinity, equal and opposite points included.
template <class F>
class BatchAdd {
 public:
  // Holds up to `capacity` additions in about 8 * capacity field elements.
  BatchAdd(Carver& memory, size_t capacity)
      : x1(memory.take<F>(capacity)),
        y1(memory.take<F>(capacity)),
        x2(memory.take<F>(capacity)),
        y2(memory.take<F>(capacity)),
        denominator_(memory.take<F>(2 * capacity + kTreeSlack)),
        numerator_(memory.take<F>(capacity)),
        scratch_(memory.take<F>((capacity + 1) / 2)),
        settled_(memory.take<uint32_t>(capacity)) {}

  size_t capacity() const { return x1.size(); }

  void set_first(size_t i, const Affine<F>& p) { x1[i] = p.x, y1[i] = p.y; }
  void set_second(size_t i, const Affine<F>& p) { x2[i] = p.x, y2[i] = p.y; }
  Affine<F> first(size_t i) const { return {x1[i], y1[i]}; }

  // first[i] += second[i] for i < count; second is left undefined.
  void run(size_t count) {
    if (count == 0) return;
    F *const denominator = denominator_.data(), *const numerator = numerator_.data();
    FieldKernels<F>::sub(denominator, x2.data(), x1.data(), count);
    FieldKernels<F>::sub(numerator, y2.data(), y1.data(), count);
    size_t settled = 0;
    for (size_t i = 0; i < count; i++) {
      // Infinity has a zero x. One limb of each tells all but a few apart; settle() looks closer.
      if (low_limb(denominator[i]) == 0 || low_limb(x1[i]) == 0 || low_limb(x2[i]) == 0) settled += settle(i, settled);
    }
    invert(count);
    FieldKernels<F>::finish_additions(x1.data(), y1.data(), x2.data(), numerator, denominator, count);
    for (size_t k = 0; k < settled; k++) {
      const size_t i = settled_[k];
      x1[i] = x2[i], y1[i] = y2[i];
    }
  }

  std::span<F> x1, y1, x2, y2;

 private:
  static constexpr size_t kTreeSlack = 64;  // levels of the product tree, each rounded up

  // Handles a pair that the slope formula does not fit; true where its sum is already known and lies in second[i].
  bool settle(size_t i, size_t settled) {
    const bool first_infinite = x1[i].is_zero() && y1[i].is_zero(),
               second_infinite = x2[i].is_zero() && y2[i].is_zero();
    if (!first_infinite && !second_infinite) {
      if (!denominator_[i].is_zero()) return false;
      if (numerator_[i].is_zero() && !y1[i].is_zero()) {
        const F square = x1[i].square();
        numerator_[i] = square + square + square;
        denominator_[i] = y1[i] + y1[i];
        return false;
      }
      x2[i] = y2[i] = F::zero();
    } else if (second_infinite) {
      x2[i] = x1[i], y2[i] = y1[i];
    }
    denominator_[i] = F::one();
    settled_[settled] = static_cast<uint32_t>(i);
    return true;
  }

  // denominator[i] <- 1 / denominator[i] by a tree of products of halves, so that every level is one bulk operation.
  void invert(size_t count) {
    F* level = denominator_.data();
    size_t sizes[40], depth = 0;
    for (size_t n = count; n > 1; n = (n + 1) / 2) {
      const size_t half = (n + 1) / 2;
      FieldKernels<F>::mul(level + n, level, level + half, n - half);
      if (n % 2 != 0) level[n + half - 1] = level[half - 1];
      sizes[depth++] = n;
      level += n;
    }
    *level = level->inverse();
    while (depth > 0) {
      const size_t n = sizes[--depth], half = (n + 1) / 2;
      const F* inverse = level;
      level -= n;
      FieldKernels<F>::mul(scratch_.data(), inverse, level, n - half);
      FieldKernels<F>::mul(level, inverse, level + half, n - half);
      std::copy_n(scratch_.data(), n - half, level + half);
      if (n % 2 != 0) level[half - 1] = inverse[half - 1];
    }
  }

  std::span<F> denominator_, numerator_, scratch_;
  std::span<uint32_t> settled_;
};

}  // namespace cuzk::msm
