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

// Transforms of a few columns side by side, in place, for src/ntt. Element (r, c) of the tile is
// origin[r * row_stride + c * column_stride], for r < 2^log2_rows and c < columns.
struct FrTile {
  static constexpr size_t kColumns = 8;
  static constexpr unsigned kMaxLog2Rows = 10;
  static constexpr size_t kMaxRowWords = 40;
  // Words of powers, and of scratch, which has gaps between blocks of 2^5 rows.
  static constexpr size_t kMaxWords = kMaxRowWords << kMaxLog2Rows, kMaxScratchWords = kMaxWords + (kMaxWords >> 5);
  // Factors of a transform of so many rows: of three levels at once, and of single levels.
  static constexpr size_t kOctetFactors = 3 + 7 * 32;
  static constexpr size_t factors_of(unsigned log2_rows) { return kOctetFactors + (size_t{1} << log2_rows); }

  Fr* origin;
  size_t row_stride, column_stride;
  size_t columns;  // at most kColumns
  unsigned log2_rows;
  const uint64_t* factors;  // as Kernels::fr_factors makes them
  const uint64_t* powers;   // as Kernels::fr_powers makes them; null where all are one
  uint64_t* scratch;        // kMaxScratchWords words
  const Fr* next;           // the origin of the tile that comes after this one, of the same shape, or null
};

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

// The permutation of Poseidon in its optimised form (src/hash/poseidon.h, which makes all of this), for kernels.
struct FrPoseidon {
  static constexpr unsigned kMaxWidth = 12, kFullRounds = 8;

  unsigned width, partial_rounds;
  const Fr* first_constants;  // added to the preimage
  const Fr* constants;        // added after each S-box, in order of use: width times in full rounds, else once
  // Factors, Kernels::fr_factor_words each, as Kernels::fr_factors_of makes them. Entry i times factor i * width + j
  // goes to entry j.
  const uint64_t *mds, *pre_sparse;
  const uint64_t* sparse;  // 2 width - 1 a partial round: of entry 0 in order of entries, then of the others by entry 0

  // A variable for each S-box's input, square, fourth power and output, and the digest; the first S-boxes take their
  // inputs from the preimage, and that of the tag is known.
  static constexpr size_t variables(unsigned width, unsigned partial_rounds) {
    return 3 * (width - 1) + 4 * ((kFullRounds - 1) * width + partial_rounds) + 1;
  }
};

struct Kernels {
  std::string_view name;

  template <class F>
  using Binary = void (*)(F* out, const F* a, const F* b, size_t count);
  template <class F>
  using Unary = void (*)(F* out, const F* a, size_t count);

  Binary<Fr> fr_mul, fr_add, fr_sub;
  void (*fr_scaled_difference)(Fr* out, const Fr* a, const Fr* b, const Fr& scale, size_t count);  // (a - b) scale
  // Eight sums side by side: out[i] is the sum over k < count of *a[8 k + i] * *b[8 k + i].
  void (*fr_sums_of_products)(Fr* out, const Fr* const* a, const Fr* const* b, size_t count);

  // Tiles of a transform keep their rows, and the factors of these, in a form of each implementation's own: arrays of
  // words, those of rows aligned to 64 bytes, with so many words a row and a factor.
  size_t fr_row_words, fr_factor_words;
  // The FrTile::factors_of(log2_rows) factors of fr_evaluate, or of fr_interpolate, for a root of unity of order
  // 2^log2_rows. They serve fewer rows as well, then for the power of the root that has their order.
  void (*fr_factors)(uint64_t* out, unsigned log2_rows, const Fr& root, bool evaluate);
  // Row r has scale * bases[c]^reverse(r) in column c, where reverse turns the bits of a row's number around.
  void (*fr_powers)(uint64_t* out, unsigned log2_rows, const Fr* bases, const Fr& scale);
  // Rows times powers, then each column from coefficients in reversed order to values at w^r in natural order.
  void (*fr_evaluate)(const FrTile&);
  // Each column from natural to reversed order, then rows times powers: the sums over r of row(r) w^(r reverse(q)) for
  // the root w that the factors are made for.
  void (*fr_interpolate)(const FrTile&);

  // Any factors, one by one.
  void (*fr_factors_of)(uint64_t* out, const Fr* values, size_t count);
  // Hashes `count` preimages of width - 1 elements each; `tag` is the first entry after its first S-box. The circuit's
  // variables go to variables[i] in its order, or are not kept where `variables` is null.
  void (*fr_poseidon)(const FrPoseidon&, const Fr& tag, const Fr* const* preimages, Fr* const* variables, Fr* digests,
                      size_t count);

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
