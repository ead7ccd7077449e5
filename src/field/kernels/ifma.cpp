// Bulk kernels for processors with AVX-512 IFMA (Intel Ice Lake server 2021, AMD Zen 4 2022, and later): eight elements at a
// time, one in each lane, in limbs of 52 bits.
//
// Source: Gueron, Krasnov 2016, "Accelerating big integer arithmetic using Intel IFMA extensions", for products with lazy
// carries in radix 2^52.

#include "field/kernels/implementations.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <utility>

// Everything from here to the end of the region is compiled for AVX-512 and has internal linkage, so none of it can be taken
// for the shared copy of a header's function.
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
constexpr unsigned kRadixBits = 52;
constexpr uint64_t kRadixMask = (uint64_t{1} << kRadixBits) - 1;

#define CUZK_INLINE __attribute__((always_inline))

// body(0), ..., body(N - 1) with the index known to the compiler, so that arrays of lanes become registers.
template <size_t N, class Body>
CUZK_INLINE inline void unrolled(Body body) {
  [&]<size_t... I>(std::index_sequence<I...>) CUZK_INLINE { (body(std::integral_constant<size_t, I>{}), ...); }
  (std::make_index_sequence<N>{});
}

CUZK_INLINE inline Lanes broadcast(uint64_t value) { return _mm512_set1_epi64(static_cast<long long>(value)); }
CUZK_INLINE inline Lanes madd_low(Lanes sum, Lanes a, Lanes b) { return _mm512_madd52lo_epu64(sum, a, b); }
CUZK_INLINE inline Lanes madd_high(Lanes sum, Lanes a, Lanes b) { return _mm512_madd52hi_epu64(sum, a, b); }
// (a | b) & mask in one instruction.
CUZK_INLINE inline Lanes or_and(Lanes a, Lanes b, Lanes mask) { return _mm512_ternarylogic_epi64(a, b, mask, 0xa8); }

// Four limbs of eight elements `pitch` limbs apart, limb by limb. The elements come in the order 0 1 4 5 2 3 6 7, which
// spares permutations; store4 undoes it.
CUZK_INLINE inline void load4(const uint64_t* from, size_t pitch, Lanes* out) {
  Lanes rows[4];
  unrolled<4>([&](auto k) CUZK_INLINE {
    const auto half = [&](size_t element) CUZK_INLINE {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + element * pitch));
    };
    rows[k] = _mm512_inserti64x4(_mm512_castsi256_si512(half(k)), half(k + 4), 1);
  });
  const Lanes low01 = _mm512_unpacklo_epi64(rows[0], rows[1]), high01 = _mm512_unpackhi_epi64(rows[0], rows[1]);
  const Lanes low23 = _mm512_unpacklo_epi64(rows[2], rows[3]), high23 = _mm512_unpackhi_epi64(rows[2], rows[3]);
  out[0] = _mm512_shuffle_i64x2(low01, low23, 0x88);
  out[1] = _mm512_shuffle_i64x2(high01, high23, 0x88);
  out[2] = _mm512_shuffle_i64x2(low01, low23, 0xdd);
  out[3] = _mm512_shuffle_i64x2(high01, high23, 0xdd);
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
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + k * pitch), _mm512_castsi512_si256(rows[k]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + (k + 4) * pitch), _mm512_extracti64x4_epi64(rows[k], 1));
  });
}
// The same for two limbs.
CUZK_INLINE inline void load2(const uint64_t* from, size_t pitch, Lanes* out) {
  const auto row = [&](size_t first) CUZK_INLINE {  // elements first, first + 4, first + 2, first + 6
    const auto quarter = [&](size_t element) CUZK_INLINE {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + element * pitch));
    };
    Lanes lanes = _mm512_castsi128_si512(quarter(first));
    lanes = _mm512_inserti32x4(lanes, quarter(first + 4), 1);
    lanes = _mm512_inserti32x4(lanes, quarter(first + 2), 2);
    return _mm512_inserti32x4(lanes, quarter(first + 6), 3);
  };
  const Lanes even = row(0), odd = row(1);
  out[0] = _mm512_unpacklo_epi64(even, odd);
  out[1] = _mm512_unpackhi_epi64(even, odd);
}
CUZK_INLINE inline void store2(uint64_t* to, size_t pitch, const Lanes* in) {
  const auto row = [&](size_t first, Lanes lanes) CUZK_INLINE {
    const auto quarter = [&](size_t element, __m128i value)
                             CUZK_INLINE { _mm_storeu_si128(reinterpret_cast<__m128i*>(to + element * pitch), value); };
    quarter(first, _mm512_castsi512_si128(lanes));
    quarter(first + 4, _mm512_extracti32x4_epi32(lanes, 1));
    quarter(first + 2, _mm512_extracti32x4_epi32(lanes, 2));
    quarter(first + 6, _mm512_extracti32x4_epi32(lanes, 3));
  };
  row(0, _mm512_unpacklo_epi64(in[0], in[1]));
  row(1, _mm512_unpackhi_epi64(in[0], in[1]));
}

// Eight elements, canonical, in L limbs of 52 bits.
template <class F>
struct Vector {
  static constexpr size_t kWidth = 8;
  static constexpr size_t N = F::kLimbs;                               // limbs of 64 bits in memory
  static constexpr size_t L = (64 * N + kRadixBits - 1) / kRadixBits;  // 5 for Fr, 8 for Fp
  static constexpr unsigned kSpareBits = kRadixBits * L - 64 * N;
  static constexpr uint64_t kInverse = F::kInv & kRadixMask;  // -p^-1 mod 2^52
  struct Modulus {
    uint64_t limb[L];
  };
  static constexpr Modulus kModulus = [] {
    Modulus out{};
    for (size_t bit = 0; bit < 64 * N; bit++) {
      out.limb[bit / kRadixBits] |= (F::kModulus[bit / 64] >> (bit % 64) & 1) << (bit % kRadixBits);
    }
    return out;
  }();

  Lanes limb[L];

  CUZK_INLINE static Vector load(const F* from, size_t count, size_t stride) {
    if (count < kWidth) {
      F padded[kWidth];
      for (size_t i = 0; i < count; i++) padded[i] = from[i * stride];
      return load(padded, kWidth, 1);
    }
    const uint64_t* limbs = reinterpret_cast<const uint64_t*>(from);
    Lanes words[N];
    load4(limbs, N * stride, words);
    if constexpr (N == 6) load2(limbs + 4, N * stride, words + 4);
    const Lanes mask = broadcast(kRadixMask);
    Vector out;
    unrolled<L>([&](auto i) CUZK_INLINE {  // bits 52 i to 52 i + 51
      constexpr size_t kWord = kRadixBits * i / 64, kShift = kRadixBits * i % 64;
      const Lanes low = _mm512_srli_epi64(words[kWord], kShift);
      if constexpr (kShift + kRadixBits <= 64 || kWord + 1 == N) {
        out.limb[i] = _mm512_and_si512(low, mask);
      } else {
        out.limb[i] = or_and(low, _mm512_slli_epi64(words[kWord + 1], 64 - kShift), mask);
      }
    });
    return out;
  }
  CUZK_INLINE void store(F* to, size_t count, size_t stride) const {
    if (count < kWidth) {
      F padded[kWidth];
      store(padded, kWidth, 1);
      for (size_t i = 0; i < count; i++) to[i * stride] = padded[i];
      return;
    }
    Lanes words[N];
    unrolled<N>([&](auto i) CUZK_INLINE {  // bits 64 i to 64 i + 63, from two or three limbs
      constexpr size_t kLimb = 64 * i / kRadixBits, kShift = 64 * i % kRadixBits;
      words[i] = _mm512_or_si512(_mm512_srli_epi64(limb[kLimb], kShift),
                                 _mm512_slli_epi64(limb[kLimb + 1], kRadixBits - kShift));
      if constexpr (2 * kRadixBits - kShift < 64 && kLimb + 2 < L) {
        words[i] = _mm512_or_si512(words[i], _mm512_slli_epi64(limb[kLimb + 2], 2 * kRadixBits - kShift));
      }
    });
    uint64_t* limbs = reinterpret_cast<uint64_t*>(to);
    store4(limbs, N * stride, words);
    if constexpr (N == 6) store2(limbs + 4, N * stride, words + 4);
  }

  // The canonical form of limbs that may be of any size and sign, for a value in [0, 2p).
  CUZK_INLINE static Vector reduced(Vector value) {
    const Lanes mask = broadcast(kRadixMask);
    Vector less;  // value - p
    Lanes carry = _mm512_setzero_si512(), borrow = carry;
    unrolled<L>([&](auto i) CUZK_INLINE {
      const Lanes p = broadcast(kModulus.limb[i]);
      const Lanes sum = _mm512_add_epi64(value.limb[i], carry);
      const Lanes difference = _mm512_add_epi64(_mm512_sub_epi64(value.limb[i], p), borrow);
      carry = _mm512_srai_epi64(sum, kRadixBits);
      borrow = _mm512_srai_epi64(difference, kRadixBits);
      value.limb[i] = _mm512_and_si512(sum, mask);
      less.limb[i] = _mm512_and_si512(difference, mask);
    });
    const __mmask8 below = is_negative(borrow);
    unrolled<L>([&](auto i) CUZK_INLINE { less.limb[i] = _mm512_mask_mov_epi64(less.limb[i], below, value.limb[i]); });
    return less;
  }
  CUZK_INLINE static __mmask8 is_negative(Lanes value) {
    return _mm512_cmplt_epi64_mask(value, _mm512_setzero_si512());
  }

  CUZK_INLINE Vector operator+(const Vector& o) const {
    Vector out;
    unrolled<L>([&](auto i) CUZK_INLINE { out.limb[i] = _mm512_add_epi64(limb[i], o.limb[i]); });
    return reduced(out);
  }
  CUZK_INLINE Vector operator-(const Vector& o) const {
    Vector out;
    unrolled<L>([&](auto i) CUZK_INLINE {
      out.limb[i] = _mm512_add_epi64(_mm512_sub_epi64(limb[i], o.limb[i]), broadcast(kModulus.limb[i]));
    });
    return reduced(out);
  }
  // Montgomery multiplication with 2^(52 L) in place of 2^(64 N): the second factor is taken times 2^kSpareBits to make up
  // for it. For factors below 2p, that leaves it below 2^(52 L), and the result below p + 4 p^2/2^(64 N) < 2p. A limb of t
  // takes at most 4 L terms below 2^52.
  CUZK_INLINE Vector operator*(const Vector& o) const {
    const Lanes mask = broadcast(kRadixMask), zero = _mm512_setzero_si512(), inverse = broadcast(kInverse);
    Lanes b[L], t[L];
    b[0] = _mm512_and_si512(_mm512_slli_epi64(o.limb[0], kSpareBits), mask);
    unrolled<L - 1>([&](auto i) CUZK_INLINE {
      b[i + 1] = or_and(_mm512_slli_epi64(o.limb[i + 1], kSpareBits),
                        _mm512_srli_epi64(o.limb[i], kRadixBits - kSpareBits), mask);
    });
    unrolled<L>([&](auto j) CUZK_INLINE { t[j] = zero; });
    unrolled<L>([&](auto i) CUZK_INLINE {
      unrolled<L>([&](auto j) CUZK_INLINE { t[j] = madd_low(t[j], limb[i], b[j]); });
      const Lanes m = madd_low(zero, t[0], inverse);
      unrolled<L>([&](auto j) CUZK_INLINE { t[j] = madd_low(t[j], m, broadcast(kModulus.limb[j])); });
      const Lanes carry = _mm512_srli_epi64(t[0], kRadixBits);
      unrolled<L - 1>([&](auto j) CUZK_INLINE { t[j] = t[j + 1]; });
      t[L - 1] = zero;
      t[0] = _mm512_add_epi64(t[0], carry);
      unrolled<L>([&](auto j) CUZK_INLINE { t[j] = madd_high(t[j], limb[i], b[j]); });
      unrolled<L>([&](auto j) CUZK_INLINE { t[j] = madd_high(t[j], m, broadcast(kModulus.limb[j])); });
    });
    Vector out;
    unrolled<L>([&](auto j) CUZK_INLINE { out.limb[j] = t[j]; });
    return reduced(out);
  }
  CUZK_INLINE Vector square() const { return *this * *this; }
};

#include "field/kernels/generic.inl"

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
