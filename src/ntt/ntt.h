#pragma once
// Number-theoretic transforms over Fr: values of a polynomial on the 2^k-th roots of unity, or on their coset 7*w^i,
// from its coefficients, and back.
//
// The transform is cut into passes of at most 2^10 rows (Bailey 1990, "FFTs in external or hierarchical memory"). A
// pass takes a tile of rows x 8 columns, transforms the columns in cache, multiplies by the twiddles between passes,
// and puts the tile back (Kernels::fr_evaluate, fr_interpolate). The coset shift and the factor 1/n are part of those
// twiddles. From coefficients to values the passes run from reversed to natural order, from values to coefficients the
// other way, so a quotient needs no permutation.

#include <array>
#include <span>
#include <vector>

#include "exec/pool.h"
#include "field/kernels.h"

namespace cuzk::ntt {

// Which points the values belong to: w^i, or 7*w^i.
enum class Points { kSubgroup, kCoset };

// The twiddles of one size. Immutable, so that one domain serves any number of transforms at once.
class Domain {
 public:
  static constexpr unsigned kMaxLog2Size = kFrTwoAdicity;
  // Each thread of a transform uses this much of its stack.
  static constexpr size_t kStackBytes = (FrTile::kMaxWords + FrTile::kMaxScratchWords) * sizeof(uint64_t);

  // log2_size in [0, 32].
  Domain(unsigned log2_size, exec::Pool& pool);

  unsigned log2_size() const { return log2_size_; }
  size_t size() const { return size_t{1} << log2_size_; }
  // w, a primitive root of unity of order size().
  const Fr& root() const { return root_; }
  // Memory held by the tables, with IFMA: 0.6 MB at 2^20, 4.4 MB at 2^32.
  size_t bytes() const;

  // Coefficients in bit-reversed order to values in natural order; `data` has size() elements.
  void evaluate(Points points, std::span<Fr> data, exec::Pool& pool) const;
  // Values in natural order to coefficients in bit-reversed order.
  void interpolate(Points points, std::span<Fr> data, exec::Pool& pool) const;

 private:
  // Blocks of rows * columns elements, each one row-major matrix whose columns are transformed.
  struct Pass {
    size_t rows, columns;
  };
  enum Direction { kEvaluate, kInterpolate };

  // w^exponent, or w^-exponent when interpolating; exponent <= size().
  Fr root_power(Direction direction, size_t exponent) const;
  void run(Direction direction, Points points, std::span<Fr> data, exec::Pool& pool) const;
  void run_pass(const Pass& pass, Direction direction, Points points, std::span<Fr> data, exec::Pool& pool) const;

  unsigned log2_size_;
  Fr root_;
  std::vector<Fr> low_powers_, high_powers_;      // w^i and w^(i * 2^half)
  std::vector<Pass> passes_;                      // from natural to reversed order
  std::array<std::vector<uint64_t>, 2> factors_;  // of the kernels, by direction
};

// data[i] <-> data[reverse of the bits of i]; the size is a power of two.
void bit_reverse(std::span<Fr> data, exec::Pool& pool);

// Coefficients to values, natural order to natural order, and back.
void forward(const Domain& domain, std::span<Fr> data, exec::Pool& pool);
void inverse(const Domain& domain, std::span<Fr> data, exec::Pool& pool);
void coset_forward(const Domain& domain, std::span<Fr> data, exec::Pool& pool);
void coset_inverse(const Domain& domain, std::span<Fr> data, exec::Pool& pool);

// The same without the permutation: coefficients are in bit-reversed order, values in natural order.
inline void forward_from_reversed(const Domain& domain, std::span<Fr> data, exec::Pool& pool) {
  domain.evaluate(Points::kSubgroup, data, pool);
}
inline void inverse_to_reversed(const Domain& domain, std::span<Fr> data, exec::Pool& pool) {
  domain.interpolate(Points::kSubgroup, data, pool);
}
inline void coset_forward_from_reversed(const Domain& domain, std::span<Fr> data, exec::Pool& pool) {
  domain.evaluate(Points::kCoset, data, pool);
}
inline void coset_inverse_to_reversed(const Domain& domain, std::span<Fr> data, exec::Pool& pool) {
  domain.interpolate(Points::kCoset, data, pool);
}

}  // namespace cuzk::ntt
