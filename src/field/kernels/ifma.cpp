// Bulk kernels for processors with AVX-512 IFMA (Intel Ice Lake server 2021, AMD Zen 4 2022, and later): the lanes of
// field/kernels/radix52.inl.

#include "field/kernels/implementations.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <utility>
#include <vector>

// Everything from here to the end of the region is compiled for AVX-512 and has internal linkage, so none of it can be
// taken for the shared copy of a header's function.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512ifma"))), apply_to = function)
#else
#pragma GCC diagnostic ignored "-Wuninitialized"  // gcc PR 105593: its own avx512fintrin.h sets both off
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC push_options
#pragma GCC target("avx512f,avx512ifma")
#endif

namespace cuzk {
namespace ifma {
namespace {

using Lanes = __m512i;
using Mask = __mmask8;

#define CUZK_INLINE __attribute__((always_inline))

CUZK_INLINE inline Lanes broadcast(uint64_t value) { return _mm512_set1_epi64(static_cast<long long>(value)); }
CUZK_INLINE inline Lanes madd_low(Lanes sum, Lanes a, Lanes b) { return _mm512_madd52lo_epu64(sum, a, b); }
CUZK_INLINE inline Lanes madd_high(Lanes sum, Lanes a, Lanes b) { return _mm512_madd52hi_epu64(sum, a, b); }
CUZK_INLINE inline Lanes zeros() { return _mm512_setzero_si512(); }
CUZK_INLINE inline Lanes add(Lanes a, Lanes b) { return _mm512_add_epi64(a, b); }
CUZK_INLINE inline Lanes subtract(Lanes a, Lanes b) { return _mm512_sub_epi64(a, b); }
CUZK_INLINE inline Lanes bit_and(Lanes a, Lanes b) { return _mm512_and_si512(a, b); }
CUZK_INLINE inline Lanes bit_or(Lanes a, Lanes b) { return _mm512_or_si512(a, b); }
CUZK_INLINE inline Lanes or_and(Lanes a, Lanes b, Lanes c) { return _mm512_ternarylogic_epi64(a, b, c, 0xa8); }
CUZK_INLINE inline Lanes shift_left(Lanes a, unsigned bits) { return _mm512_slli_epi64(a, bits); }
CUZK_INLINE inline Lanes shift_right(Lanes a, unsigned bits) { return _mm512_srli_epi64(a, bits); }
CUZK_INLINE inline Lanes shift_right_signed(Lanes a, unsigned bits) { return _mm512_srai_epi64(a, bits); }
CUZK_INLINE inline Mask is_negative(Lanes a) { return _mm512_cmplt_epi64_mask(a, zeros()); }
CUZK_INLINE inline bool all_negative(Lanes a) { return is_negative(a) == 0xff; }
CUZK_INLINE inline Lanes select(Mask mask, Lanes set, Lanes clear) { return _mm512_mask_mov_epi64(clear, mask, set); }

CUZK_INLINE inline Lanes add_where(Mask mask, Lanes a, Lanes b) { return _mm512_mask_add_epi64(a, mask, a, b); }
CUZK_INLINE inline Mask is_zero(Lanes a) { return _mm512_testn_epi64_mask(a, a); }
CUZK_INLINE inline Mask mask_of(uint8_t bits) { return bits; }
CUZK_INLINE inline uint8_t bits_of(Mask mask) { return mask; }

// Keeps the compiler from knowing what is there.
template <class T>
CUZK_INLINE inline const T* in_memory(const T* constants) {
  asm("" : "+r"(constants));
  return constants;
}

template <size_t N, class Body>
CUZK_INLINE inline void unrolled(Body body);  // of radix52.inl

// Four limbs of eight elements, limb by limb, from rows of two elements each.
CUZK_INLINE inline void transpose4(const Lanes* rows, Lanes* out) {
  const Lanes low01 = _mm512_unpacklo_epi64(rows[0], rows[1]), high01 = _mm512_unpackhi_epi64(rows[0], rows[1]);
  const Lanes low23 = _mm512_unpacklo_epi64(rows[2], rows[3]), high23 = _mm512_unpackhi_epi64(rows[2], rows[3]);
  out[0] = _mm512_shuffle_i64x2(low01, low23, 0x88);
  out[1] = _mm512_shuffle_i64x2(high01, high23, 0x88);
  out[2] = _mm512_shuffle_i64x2(low01, low23, 0xdd);
  out[3] = _mm512_shuffle_i64x2(high01, high23, 0xdd);
}

// Four limbs of eight elements `pitch` limbs apart, limb by limb. The elements come in the order 0 2 1 3 4 6 5 7, which
// spares permutations; store4 undoes it.
CUZK_INLINE inline void load4(const uint64_t* from, size_t pitch, Lanes* out) {
  Lanes rows[4];
  unrolled<4>([&](auto k) CUZK_INLINE {
    const auto half = [&](size_t element) CUZK_INLINE {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + element * pitch));
    };
    rows[k] = pitch == 4 ? _mm512_loadu_si512(from + 8 * k)
                         : _mm512_inserti64x4(_mm512_castsi256_si512(half(2 * k)), half(2 * k + 1), 1);
  });
  transpose4(rows, out);
}
CUZK_INLINE inline void store4(uint64_t* to, size_t pitch, const Lanes* in) {
  const Lanes first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), last = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  const Lanes low01 = _mm512_permutex2var_epi64(in[0], first, in[2]);
  const Lanes low23 = _mm512_permutex2var_epi64(in[0], last, in[2]);
  const Lanes high01 = _mm512_permutex2var_epi64(in[1], first, in[3]);
  const Lanes high23 = _mm512_permutex2var_epi64(in[1], last, in[3]);
  const Lanes rows[4] = {_mm512_unpacklo_epi64(low01, high01), _mm512_unpackhi_epi64(low01, high01),
                         _mm512_unpacklo_epi64(low23, high23), _mm512_unpackhi_epi64(low23, high23)};
  unrolled<4>([&](auto k) CUZK_INLINE {
    if (pitch == 4) {
      _mm512_storeu_si512(to + 8 * k, rows[k]);
    } else {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 2 * k * pitch), _mm512_castsi512_si256(rows[k]));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + (2 * k + 1) * pitch), _mm512_extracti64x4_epi64(rows[k], 1));
    }
  });
}
// The same for two limbs.
CUZK_INLINE inline void load2(const uint64_t* from, size_t pitch, Lanes* out) {
  const auto row = [&](size_t first) CUZK_INLINE {  // elements first, first + 1, first + 4, first + 5
    const auto quarter = [&](size_t element) CUZK_INLINE {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + element * pitch));
    };
    Lanes lanes = _mm512_castsi128_si512(quarter(first));
    lanes = _mm512_inserti32x4(lanes, quarter(first + 1), 1);
    lanes = _mm512_inserti32x4(lanes, quarter(first + 4), 2);
    return _mm512_inserti32x4(lanes, quarter(first + 5), 3);
  };
  const Lanes even = row(0), odd = row(2);
  out[0] = _mm512_unpacklo_epi64(even, odd);
  out[1] = _mm512_unpackhi_epi64(even, odd);
}
CUZK_INLINE inline void store2(uint64_t* to, size_t pitch, const Lanes* in) {
  const auto row = [&](size_t first, Lanes lanes) CUZK_INLINE {
    const auto quarter = [&](size_t element, __m128i value)
                             CUZK_INLINE { _mm_storeu_si128(reinterpret_cast<__m128i*>(to + element * pitch), value); };
    quarter(first, _mm512_castsi512_si128(lanes));
    quarter(first + 1, _mm512_extracti32x4_epi32(lanes, 1));
    quarter(first + 4, _mm512_extracti32x4_epi32(lanes, 2));
    quarter(first + 5, _mm512_extracti32x4_epi32(lanes, 3));
  };
  row(0, _mm512_unpacklo_epi64(in[0], in[1]));
  row(2, _mm512_unpackhi_epi64(in[0], in[1]));
}

// As load4, of elements at eight addresses.
CUZK_INLINE inline void gather4(const uint64_t* const* from, Lanes* out) {
  Lanes rows[4];
  unrolled<4>([&](auto k) CUZK_INLINE {
    const auto half = [&](size_t element)
                          CUZK_INLINE { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from[element])); };
    rows[k] = _mm512_inserti64x4(_mm512_castsi256_si512(half(2 * k)), half(2 * k + 1), 1);
  });
  transpose4(rows, out);
}
// Six words of the elements at eight addresses, word by word and in order.
CUZK_INLINE inline void gather6(const uint64_t* const* from, Lanes* out) {
  Lanes rows[4];
  unrolled<4>([&](auto k) CUZK_INLINE {  // elements that the permutations below bring to lanes 0 4, 1 5, 2 6, 3 7
    constexpr size_t kFirst[] = {0, 1, 4, 5}, kSecond[] = {2, 3, 6, 7};
    const auto half = [&](size_t element)
                          CUZK_INLINE { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from[element])); };
    rows[k] = _mm512_inserti64x4(_mm512_castsi256_si512(half(kFirst[k])), half(kSecond[k]), 1);
  });
  transpose4(rows, out);
  const auto row = [&](size_t first) CUZK_INLINE {  // every second element
    const auto quarter = [&](size_t element) CUZK_INLINE {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from[element] + 4));
    };
    Lanes lanes = _mm512_castsi128_si512(quarter(first));
    lanes = _mm512_inserti32x4(lanes, quarter(first + 2), 1);
    lanes = _mm512_inserti32x4(lanes, quarter(first + 4), 2);
    return _mm512_inserti32x4(lanes, quarter(first + 6), 3);
  };
  const Lanes even = row(0), odd = row(1);
  out[4] = _mm512_unpacklo_epi64(even, odd);
  out[5] = _mm512_unpackhi_epi64(even, odd);
}

#include "field/kernels/radix52.inl"

}  // namespace
}  // namespace ifma

constexpr Kernels kIfmaKernels = ifma::table("ifma");

}  // namespace cuzk

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
