// Vectors of eight elements, one in each lane, in limbs of 52 bits, and their bulk operations. An implementation
// includes this text within its own target region and its own namespace, after it has defined there
//
//   CUZK_INLINE                     the attribute of the functions below, and of their lambdas
//   Lanes                           eight 64-bit words, on which work, lane by lane,
//     broadcast(word), zeros(), add(a, b), subtract(a, b), bit_and(a, b), bit_or(a, b), or_and(a, b, c) = (a | b) & c,
//     shift_left(a, bits), shift_right(a, bits), shift_right_signed(a, bits), bits from 0 to 63,
//     madd_low(sum, a, b), madd_high(sum, a, b)   sum + the low or high 52 bits of the product of a and b mod 2^52
//   Mask is_negative(a), Lanes select(mask, where set, where clear)
//   add_where(mask, a, b) = a, or a + b where the mask is set; Mask is_zero(a), mask_of(bits); uint8_t bits_of(mask)
//   gather6(addresses, out)         six words each of the elements at eight addresses, word by word and in order
//   load4(from, pitch, out)         four words each of eight elements `pitch` words apart, word by word; the elements
//   may
//                                   be in any order, the same in all of these
//   store4(to, pitch, in)           the reverse
//   load2, store2                   the same for two words
//
// No include guard: it is meant to be included more than once.
//
// Source: Gueron, Krasnov 2016, "Accelerating big integer arithmetic using Intel IFMA extensions", for products with
// lazy carries in radix 2^52.

constexpr unsigned kRadixBits = 52;
constexpr uint64_t kRadixMask = (uint64_t{1} << kRadixBits) - 1;

// body(0), ..., body(N - 1) with the index known to the compiler, so that arrays of lanes become registers.
template <size_t N, class Body>
CUZK_INLINE inline void unrolled(Body body) {
  [&]<size_t... I>(std::index_sequence<I...>) CUZK_INLINE { (body(std::integral_constant<size_t, I>{}), ...); }
  (std::make_index_sequence<N>{});
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
      const Lanes low = shift_right(words[kWord], kShift);
      if constexpr (kShift + kRadixBits <= 64 || kWord + 1 == N) {
        out.limb[i] = bit_and(low, mask);
      } else {
        out.limb[i] = or_and(low, shift_left(words[kWord + 1], 64 - kShift), mask);
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
      words[i] = bit_or(shift_right(limb[kLimb], kShift), shift_left(limb[kLimb + 1], kRadixBits - kShift));
      if constexpr (2 * kRadixBits - kShift < 64 && kLimb + 2 < L) {
        words[i] = bit_or(words[i], shift_left(limb[kLimb + 2], 2 * kRadixBits - kShift));
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
    Lanes carry = zeros(), borrow = carry;
    unrolled<L>([&](auto i) CUZK_INLINE {
      const Lanes p = broadcast(kModulus.limb[i]);
      const Lanes sum = add(value.limb[i], carry);
      const Lanes difference = add(subtract(value.limb[i], p), borrow);
      carry = shift_right_signed(sum, kRadixBits);
      borrow = shift_right_signed(difference, kRadixBits);
      value.limb[i] = bit_and(sum, mask);
      less.limb[i] = bit_and(difference, mask);
    });
    const Mask below = is_negative(borrow);
    unrolled<L>([&](auto i) CUZK_INLINE { less.limb[i] = select(below, value.limb[i], less.limb[i]); });
    return less;
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
    unrolled<2 * L>([&](auto i) CUZK_INLINE { t.limb[i] = add(t.limb[i], t.limb[i]); });
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
      unrolled<2 * L>([&](auto i) CUZK_INLINE { out.limb[i] = zeros(); });
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
      unrolled<2 * L>([&](auto i)
                          CUZK_INLINE { out.limb[i] = add(subtract(limb[i], o.limb[i]), broadcast(kSquare.limb[i])); });
      return out;
    }
    // The value times 2^(-52 L), canonical, for a value up to 6 p^2 2^kSpareBits: below p + 6 p^2/2^(64 N) < 2p before
    // the last step. Round i adds m p 2^(52 i), which makes limb i a multiple of 2^52: its low part need not be
    // computed, as the carry is one more than limb i's own exactly where its low part is not zero.
    CUZK_INLINE Vector reduce() const {
      const Lanes mask = broadcast(kRadixMask), inverse = broadcast(kInverse);
      Wide t = *this;
      unrolled<L>([&](auto i) CUZK_INLINE {
        const Lanes m = madd_low(zeros(), t.limb[i], inverse);
        const Lanes carry = shift_right_signed(add(t.limb[i], mask), kRadixBits);
        t.limb[i + 1] = madd_high(add(t.limb[i + 1], carry), m, broadcast(kModulus.limb[0]));
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
    unrolled<L>([&](auto i) CUZK_INLINE { out.limb[i] = add(limb[i], o.limb[i]); });
    return out;
  }
  CUZK_INLINE Vector limbwise_difference(const Vector& o) const {  // plus p
    Vector out;
    unrolled<L>([&](auto i)
                    CUZK_INLINE { out.limb[i] = add(subtract(limb[i], o.limb[i]), broadcast(kModulus.limb[i])); });
    return out;
  }
  // The same value in limbs below 2^52.
  CUZK_INLINE Vector carried() const {
    const Lanes mask = broadcast(kRadixMask);
    Vector out = *this;
    unrolled<L - 1>([&](auto i) CUZK_INLINE {
      out.limb[i + 1] = add(out.limb[i + 1], shift_right_signed(out.limb[i], kRadixBits));
      out.limb[i] = bit_and(out.limb[i], mask);
    });
    return out;
  }
  // The value times 2^kBits, in limbs below 2^52 as before.
  template <unsigned kBits>
  CUZK_INLINE Vector scaled() const {
    const Lanes mask = broadcast(kRadixMask);
    Vector out;
    out.limb[0] = bit_and(shift_left(limb[0], kBits), mask);
    unrolled<L - 1>([&](auto i) CUZK_INLINE {
      out.limb[i + 1] = or_and(shift_left(limb[i + 1], kBits), shift_right(limb[i], kRadixBits - kBits), mask);
    });
    return out;
  }
};

#include "field/kernels/residues52.inl"
// which the bulk operations build on:
#include "field/kernels/generic.inl"
