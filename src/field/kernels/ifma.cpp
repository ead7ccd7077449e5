// Bulk kernels for processors with AVX-512 IFMA (Intel Ice Lake server 2021, AMD Zen 4 2022, and later): eight elements
// at a time, one in each lane, in limbs of 52 bits.
//
// Source: Gueron, Krasnov 2016, "Accelerating big integer arithmetic using Intel IFMA extensions", for products with
// lazy carries in radix 2^52.

#include "field/kernels/implementations.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <utility>

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
  template <size_t kCount>
  struct Constant {
    uint64_t limb[kCount];
  };
  static constexpr Constant<L> kModulus = [] {
    Constant<L> out{};
    for (size_t bit = 0; bit < 64 * N; bit++) {
      out.limb[bit / kRadixBits] |= (F::kModulus[bit / 64] >> (bit % 64) & 1) << (bit % kRadixBits);
    }
    return out;
  }();
  static constexpr Constant<2 * L> kSquare = [] {  // p^2 2^kSpareBits
    Constant<2 * L> out{};
    for (size_t i = 0; i < L; i++) {
      uint128_t carry = 0;
      for (size_t j = 0; j <= L; j++) {
        uint128_t high = (j < L ? kModulus.limb[j] : uint128_t{0}) << kSpareBits,
                  low = j > 0 ? kModulus.limb[j - 1] : 0;
        uint128_t scaled = (high | low >> (kRadixBits - kSpareBits)) & kRadixMask;
        if (i + j < 2 * L) {
          carry += out.limb[i + j] + kModulus.limb[i] * scaled;
          out.limb[i + j] = static_cast<uint64_t>(carry) & kRadixMask;
          carry >>= kRadixBits;
        }
      }
      for (size_t k = i + L + 1; k < 2 * L; k++) {
        carry += out.limb[k];
        out.limb[k] = static_cast<uint64_t>(carry) & kRadixMask;
        carry >>= kRadixBits;
      }
    }
    return out;
  }();

  Lanes limb[L];

  CUZK_INLINE static Vector load(const F* from, size_t count, size_t stride = 1) {
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
  CUZK_INLINE void store(F* to, size_t count, size_t stride = 1) const {
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

  CUZK_INLINE Vector operator+(const Vector& o) const { return reduced(limbwise_sum(o)); }
  CUZK_INLINE Vector operator-(const Vector& o) const { return reduced(limbwise_difference(o)); }
  CUZK_INLINE Vector operator*(const Vector& o) const { return product(o).reduce(); }
  CUZK_INLINE Vector square() const {
    const Vector a = scaled<kSpareBits / 2>();
    Wide t = Wide::zero();
    unrolled<L - 1>([&](auto i) CUZK_INLINE {
      unrolled<L - 1 - i>([&](auto j)
                              CUZK_INLINE { t.template accumulate<2 * i + 1 + j>(a.limb[i], a.limb[i + 1 + j]); });
    });
    unrolled<2 * L>([&](auto i) CUZK_INLINE { t.limb[i] = _mm512_add_epi64(t.limb[i], t.limb[i]); });
    unrolled<L>([&](auto i) CUZK_INLINE { t.template accumulate<2 * i>(a.limb[i], a.limb[i]); });
    return t.reduce();
  }

  CUZK_INLINE Vector sum(const Vector& o) const { return limbwise_sum(o).carried(); }
  CUZK_INLINE Vector difference(const Vector& o) const { return limbwise_difference(o).carried(); }

  // A product times 2^kSpareBits, in limbs that carry nothing yet. They are signed: with the terms of the reduction a
  // limb has at most 6 L < 2^6 terms below 2^52.
  struct Wide {
    Lanes limb[2 * L];

    CUZK_INLINE static Wide zero() {
      Wide out;
      unrolled<2 * L>([&](auto i) CUZK_INLINE { out.limb[i] = _mm512_setzero_si512(); });
      return out;
    }
    // += a b 2^(52 k)
    template <size_t k>
    CUZK_INLINE void accumulate(Lanes a, Lanes b) {
      limb[k] = madd_low(limb[k], a, b);
      limb[k + 1] = madd_high(limb[k + 1], a, b);
    }
    // The difference plus p^2 2^kSpareBits, which keeps the value from below zero.
    CUZK_INLINE Wide operator-(const Wide& o) const {
      Wide out;
      unrolled<2 * L>([&](auto i) CUZK_INLINE {
        out.limb[i] = _mm512_add_epi64(_mm512_sub_epi64(limb[i], o.limb[i]), broadcast(kSquare.limb[i]));
      });
      return out;
    }
    // The value times 2^(-52 L), canonical, for a value up to 6 p^2 2^kSpareBits: below p + 6 p^2/2^(64 N) < 2p before
    // the last step. Round i adds m p 2^(52 i), which makes limb i a multiple of 2^52: its low part need not be
    // computed, as the carry is one more than limb i's own exactly where its low part is not zero.
    CUZK_INLINE Vector reduce() const {
      const Lanes mask = broadcast(kRadixMask), inverse = broadcast(kInverse);
      Wide t = *this;
      unrolled<L>([&](auto i) CUZK_INLINE {
        const Lanes m = madd_low(_mm512_setzero_si512(), t.limb[i], inverse);
        const Lanes carry = _mm512_srai_epi64(_mm512_add_epi64(t.limb[i], mask), kRadixBits);
        t.limb[i + 1] = madd_high(_mm512_add_epi64(t.limb[i + 1], carry), m, broadcast(kModulus.limb[0]));
        unrolled<L - 1>([&](auto j)
                            CUZK_INLINE { t.template accumulate<i + j + 1>(m, broadcast(kModulus.limb[j + 1])); });
      });
      Vector out;
      unrolled<L>([&](auto i) CUZK_INLINE { out.limb[i] = t.limb[L + i]; });
      return reduced(out);
    }
  };
  // Montgomery multiplication here divides by 2^(52 L) in place of 2^(64 N); a factor times 2^kSpareBits makes up for
  // it. Below 2p before, it is below 2^(52 L) after.
  CUZK_INLINE Wide product(const Vector& o) const {
    const Vector b = o.template scaled<kSpareBits>();
    Wide t = Wide::zero();
    unrolled<L>([&](auto i) CUZK_INLINE {
      unrolled<L>([&](auto j) CUZK_INLINE { t.template accumulate<i + j>(limb[i], b.limb[j]); });
    });
    return t;
  }

 private:
  CUZK_INLINE Vector limbwise_sum(const Vector& o) const {
    Vector out;
    unrolled<L>([&](auto i) CUZK_INLINE { out.limb[i] = _mm512_add_epi64(limb[i], o.limb[i]); });
    return out;
  }
  CUZK_INLINE Vector limbwise_difference(const Vector& o) const {  // plus p
    Vector out;
    unrolled<L>([&](auto i) CUZK_INLINE {
      out.limb[i] = _mm512_add_epi64(_mm512_sub_epi64(limb[i], o.limb[i]), broadcast(kModulus.limb[i]));
    });
    return out;
  }
  // The same value in limbs below 2^52.
  CUZK_INLINE Vector carried() const {
    const Lanes mask = broadcast(kRadixMask);
    Vector out = *this;
    unrolled<L - 1>([&](auto i) CUZK_INLINE {
      out.limb[i + 1] = _mm512_add_epi64(out.limb[i + 1], _mm512_srai_epi64(out.limb[i], kRadixBits));
      out.limb[i] = _mm512_and_si512(out.limb[i], mask);
    });
    return out;
  }
  // The value times 2^kBits, in limbs below 2^52 as before.
  template <unsigned kBits>
  CUZK_INLINE Vector scaled() const {
    const Lanes mask = broadcast(kRadixMask);
    Vector out;
    out.limb[0] = _mm512_and_si512(_mm512_slli_epi64(limb[0], kBits), mask);
    unrolled<L - 1>([&](auto i) CUZK_INLINE {
      out.limb[i + 1] =
          or_and(_mm512_slli_epi64(limb[i + 1], kBits), _mm512_srli_epi64(limb[i], kRadixBits - kBits), mask);
    });
    return out;
  }
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
