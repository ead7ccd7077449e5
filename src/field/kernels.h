#pragma once
// Arithmetic over arrays of field elements, in the best form that this processor can run.
//
// Outputs may be the very arrays that are inputs (no other overlap). Single-threaded: callers split work themselves.
// One scalar operation stays inline (field/montgomery.h); only loops come here.

#include <cstddef>
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

  Fr* origin;
  size_t row_stride, column_stride;
  size_t columns;  // at most kColumns
  unsigned log2_rows;
  const uint64_t* factors;  // the roots of unity, as Kernels::fr_factors makes them
  const uint64_t* powers;   // as Kernels::fr_powers makes them; null where all are one
  uint64_t* scratch;        // kMaxScratchWords words
  // Reading ahead: the origin of the tile that comes after this one, of the same shape, or null; room for its
  // kColumns << log2_rows elements; and whether those of this tile are there.
  const Fr* next;
  Fr* ahead;
  bool is_ahead;
};

struct Kernels {
  std::string_view name;

  template <class F>
  using Binary = void (*)(F* out, const F* a, const F* b, size_t count);
  template <class F>
  using Unary = void (*)(F* out, const F* a, size_t count);
  // The last step of affine additions (x1, y1) <- (x1, y1) + (x2, y2), given the numerator and the inverted denominator
  // of each slope: slope = numerator inverse, x3 = slope^2 - x1 - x2, y3 = slope (x1 - x3) - y1.
  template <class F>
  using FinishAdditions = void (*)(F* x1, F* y1, const F* x2, const F* numerator, const F* inverse, size_t count);

  Binary<Fr> fr_mul, fr_add, fr_sub;
  void (*fr_scaled_difference)(Fr* out, const Fr* a, const Fr* b, const Fr& scale, size_t count);  // (a - b) scale

  // Tiles of a transform keep their rows, and the factors of these, in a form of each implementation's own: arrays of
  // words, those of rows aligned to 64 bytes, with so many words a row and a factor.
  size_t fr_row_words, fr_factor_words;
  void (*fr_factors)(uint64_t* out, const Fr* values, size_t count);
  // Row r has scale * bases[c]^reverse(r) in column c, where reverse turns the bits of a row's number around.
  void (*fr_powers)(uint64_t* out, unsigned log2_rows, const Fr* bases, const Fr& scale);
  // Rows times powers, then each column from coefficients in reversed order to values at w^r in natural order, w of
  // order 2^log2_rows. Factor h - 1 + i is w^(i 2^log2_rows / 2h), for i < h and each power of two h < 2^log2_rows.
  void (*fr_evaluate)(const FrTile&);
  // Each column from natural to reversed order, then rows times powers. Factor i is w^reverse(2 i).
  void (*fr_interpolate)(const FrTile&);

  Binary<Fp> fp_mul, fp_add, fp_sub;
  Unary<Fp> fp_sqr;
  FinishAdditions<Fp> fp_finish_additions;
  Binary<Fp2> fp2_mul, fp2_add, fp2_sub;
  Unary<Fp2> fp2_sqr;
  FinishAdditions<Fp2> fp2_finish_additions;
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

// The operations of the table for F = Fp or Fp2 under one name, for text that serves both groups.
template <class F>
struct FieldKernels;
template <>
struct FieldKernels<Fp> {
  static void mul(Fp* out, const Fp* a, const Fp* b, size_t count) { kernels().fp_mul(out, a, b, count); }
  static void sqr(Fp* out, const Fp* a, size_t count) { kernels().fp_sqr(out, a, count); }
  static void add(Fp* out, const Fp* a, const Fp* b, size_t count) { kernels().fp_add(out, a, b, count); }
  static void sub(Fp* out, const Fp* a, const Fp* b, size_t count) { kernels().fp_sub(out, a, b, count); }
  static void finish_additions(Fp* x1, Fp* y1, const Fp* x2, const Fp* numerator, const Fp* inverse, size_t count) {
    kernels().fp_finish_additions(x1, y1, x2, numerator, inverse, count);
  }
};
template <>
struct FieldKernels<Fp2> {
  static void mul(Fp2* out, const Fp2* a, const Fp2* b, size_t count) { kernels().fp2_mul(out, a, b, count); }
  static void sqr(Fp2* out, const Fp2* a, size_t count) { kernels().fp2_sqr(out, a, count); }
  static void add(Fp2* out, const Fp2* a, const Fp2* b, size_t count) { kernels().fp2_add(out, a, b, count); }
  static void sub(Fp2* out, const Fp2* a, const Fp2* b, size_t count) { kernels().fp2_sub(out, a, b, count); }
  static void finish_additions(Fp2* x1, Fp2* y1, const Fp2* x2, const Fp2* numerator, const Fp2* inverse,
                               size_t count) {
    kernels().fp2_finish_additions(x1, y1, x2, numerator, inverse, count);
  }
};

}  // namespace cuzk
