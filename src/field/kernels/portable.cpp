// Bulk kernels from the scalar arithmetic of field/montgomery.h: runs everywhere, and is what the others are tested
// against.

#include <algorithm>
#include <utility>
#include <vector>

#include "field/kernels/implementations.h"

namespace cuzk {
namespace portable {
namespace {

template <class F>
F multiply(const F& x, const F& y) {
  return x * y;
}
template <class F>
F square_of(const F& x) {
  return x.square();
}

#define CUZK_INLINE __attribute__((always_inline))

#include "field/kernels/unrolled.inl"

// The sum of the products of one column, then of the next: three additions a product, where rows take four.
struct Column {
  uint64_t low = 0, middle = 0, high = 0;

  CUZK_INLINE void add(uint64_t value, uint64_t next = 0) {
    uint64_t carry = 0;
    low = limbs::add_carry(low, value, carry);
    middle = limbs::add_carry(middle, next, carry);
    high = limbs::add_carry(high, 0, carry);
  }
  CUZK_INLINE void multiply_add(uint64_t a, uint64_t b) {
    const uint128_t product = static_cast<uint128_t>(a) * b;
    add(static_cast<uint64_t>(product), static_cast<uint64_t>(product >> 64));
  }
  CUZK_INLINE uint64_t next() {
    const uint64_t out = low;
    low = middle, middle = high, high = 0;
    return out;
  }
};
// body(j, k) for j + k = kSum, both below 6 and k at least kFrom.
template <size_t kSum, size_t kFrom, class Body>
CUZK_INLINE inline void for_column(Body body) {
  constexpr size_t kFirst = kSum < 6 ? 0 : kSum - 5, kEnd = std::min<size_t>(6, kSum + 1 - kFrom);
  unrolled<kEnd - kFirst>([&](auto j) CUZK_INLINE { body(kFirst + j, kSum - kFirst - j); });
}

// Called, not inlined: a product in Fp2 takes three.
__attribute__((noinline)) void multiply_wide(uint64_t (&out)[12], const uint64_t (&a)[6], const uint64_t (&b)[6]) {
  Column column;
  unrolled<11>([&](auto i) CUZK_INLINE {
    for_column<i, 0>([&](size_t j, size_t k) CUZK_INLINE { column.multiply_add(a[j], b[k]); });
    out[i] = column.next();
  });
  out[11] = column.low;
}
// The columns of the two alternate, as each multiple of p waits for the one before: 67 ns for the two in place of 94
// one after the other, on a Xeon (bench/records/2026-12-01-cpu.md).
CUZK_INLINE inline void reduce_wide(const uint64_t (&t0)[12], const uint64_t (&t1)[12], uint64_t (&out0)[6],
                                    uint64_t (&out1)[6]) {
  const uint64_t* const t[2] = {t0, t1};
  uint64_t* const out[2] = {out0, out1};
  uint64_t m[2][6];
  Column columns[2];
  unrolled<12>([&](auto i) CUZK_INLINE {
    unrolled<2>([&](auto k) CUZK_INLINE {
      Column& column = columns[k];
      column.add(t[k][i]);
      for_column<i, 1>([&](size_t j, size_t l) CUZK_INLINE { column.multiply_add(m[k][j], Fp::kModulus[l]); });
      if constexpr (i < 6) {
        m[k][i] = column.low * Fp::kInv;
        column.multiply_add(m[k][i], Fp::kModulus[0]);
        column.next();
      } else {
        out[k][i - 6] = column.next();
      }
    });
  });
}

constexpr bool kOctets = false;  // with them a transform of 2^18 takes 7 % longer

#include "field/kernels/scalar_vector.inl"
// builds on it:
#include "field/kernels/generic.inl"

}  // namespace
}  // namespace portable

constexpr Kernels kPortableKernels = portable::table("portable");

}  // namespace cuzk
