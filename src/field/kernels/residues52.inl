// What residues.inl asks for, over the lanes of field/kernels/radix52.inl, which includes this text.
//
// A residue modulo p lies in [0, 2.5p) in limbs below 2^52, and two Montgomery forms meet: values are x 2^384 as in
// memory, while a product divides by 2^416. Points need no conversion all the same. Of products of denominators d the
// g-th is (d_1 ... d_g) 2^(416 - 32g) where each d is in the form of memory, and so with kInverseScale every inverse
// comes out as d^-1 2^432: a slope then is in the form 2^400, its square in 2^384 again, and the slope times 2^16
// gives y in 2^384.

// 2^48, as an inverse in the form of memory is v^-1 2^768, and 2^(384 + 432) is wanted.
constexpr Fp kInverseScale = Fp::from_u64(uint64_t{1} << 48);

struct Loose {
  static constexpr size_t kLanes = 8, L = 8;
  static constexpr const uint64_t (&kP)[L] = Vector<Fp>::kModulus.limb;

  Lanes limb[L];

  // The same value, which is not negative, in limbs below 2^52.
  CUZK_INLINE Loose carried() const {
    const Lanes mask = broadcast(kRadixMask);
    Loose out = *this;
    unrolled<L - 1>([&](auto i) CUZK_INLINE {
      out.limb[i + 1] = add(out.limb[i + 1], shift_right_signed(out.limb[i], kRadixBits));
      out.limb[i] = bit_and(out.limb[i], mask);
    });
    return out;
  }
  // Good for a factor alone.
  CUZK_INLINE Loose sum(const Loose& o) const {
    Loose out;
    unrolled<L>([&](auto i) CUZK_INLINE { out.limb[i] = add(limb[i], o.limb[i]); });
    return out.carried();
  }
  // Plus 3p, so below 5.5p; good for a factor alone.
  CUZK_INLINE Loose difference(const Loose& o) const {
    Loose out;
    unrolled<L>([&](auto i) CUZK_INLINE { out.limb[i] = add(subtract(limb[i], o.limb[i]), broadcast(3 * kP[i])); });
    return out.carried();
  }
  CUZK_INLINE Loose product_difference(const Loose& o) const { return difference(o); }
  CUZK_INLINE Loose limbwise_difference(const Loose& o) const {
    Loose out;
    unrolled<L>([&](auto i) CUZK_INLINE { out.limb[i] = subtract(limb[i], o.limb[i]); });
    return out;
  }
  // Times 2^16.
  CUZK_INLINE Loose for_y() const {
    constexpr unsigned kBits = 16;
    const Lanes mask = broadcast(kRadixMask);
    Loose out;
    out.limb[0] = bit_and(shift_left(limb[0], kBits), mask);
    unrolled<L - 1>([&](auto i) CUZK_INLINE {
      out.limb[i + 1] = or_and(shift_left(limb[i + 1], kBits), shift_right(limb[i], kRadixBits - kBits), mask);
    });
    return out;
  }
  // The value in units of 2^364, rounded down, one too many or too few where limbs carry.
  CUZK_INLINE Lanes top() const { return add(limb[L - 1], shift_right_signed(limb[L - 2], kRadixBits)); }
  // Adds kTimes p where the value is below about kTenths p/10, and tells where.
  template <uint64_t kTimes, int64_t kTenths>
  CUZK_INLINE Mask add_p_below(Lanes top) {
    constexpr int64_t kBound = static_cast<int64_t>(kP[L - 1]) * kTenths / 10;
    const Mask low = is_negative(subtract(top, broadcast(static_cast<uint64_t>(kBound))));
    unrolled<L>([&](auto i) CUZK_INLINE { limb[i] = add_where(low, limb[i], broadcast(kTimes * kP[i])); });
    return low;
  }
  // The residue with the value of limbs of any size and sign: from -1.5p up to 2.1p, which becomes 0.3p to 2.5p;
  CUZK_INLINE Loose settled() const {
    Loose out = *this;
    out.add_p_below<2, 4>(top());
    return out.carried();
  }
  // or from -5p up to 1.1p, which becomes -1.9p to 2.3p with the first step and 0.1p to 2.3p with the other.
  CUZK_INLINE Loose settled_far_below() const {
    Loose out = *this;
    const Lanes before = top();
    const Mask low = out.add_p_below<4, -18>(before);
    out.add_p_below<2, 2>(add_where(low, before, broadcast(4 * kP[L - 1])));
    return out.carried();
  }

  CUZK_INLINE Loose minus(const Loose& o) const {
    Loose out;
    unrolled<L>([&](auto i) CUZK_INLINE { out.limb[i] = add(subtract(limb[i], o.limb[i]), broadcast(kP[i])); });
    return out.settled();
  }
  CUZK_INLINE Loose minus(const Loose& o, const Loose& q) const {
    return limbwise_difference(o).limbwise_difference(q).settled_far_below();
  }
  // p - this where the bit is set.
  CUZK_INLINE Loose negated(unsigned bits) const {
    const Mask mask = mask_of(static_cast<uint8_t>(bits));
    Loose out;
    unrolled<L>([&](auto i) CUZK_INLINE { out.limb[i] = select(mask, subtract(broadcast(kP[i]), limb[i]), limb[i]); });
    return out;
  }
  CUZK_INLINE static Loose select_bits(unsigned bits, const Loose& set, const Loose& clear) {
    const Mask mask = mask_of(static_cast<uint8_t>(bits));
    Loose out;
    unrolled<L>([&](auto i) CUZK_INLINE { out.limb[i] = select(mask, set.limb[i], clear.limb[i]); });
    return out;
  }
  // A multiple k p with k < 6 times -p^-1 modulo 2^52 is 2^52 - k.
  CUZK_INLINE unsigned maybe_zero_difference() const {
    const Lanes k = madd_low(zeros(), limb[0], broadcast(Vector<Fp>::kInverse));
    return bits_of(is_negative(subtract(broadcast(kRadixMask - 6), k)));
  }
  CUZK_INLINE unsigned maybe_zero() const { return bits_of(is_zero(limb[1])); }

  CUZK_INLINE static Loose gather(const uint64_t* const* from) {
    Lanes words[6];
    gather6(from, words);
    const Lanes mask = broadcast(kRadixMask);
    Loose out;
    unrolled<L>([&](auto i) CUZK_INLINE {  // bits 52 i to 52 i + 51
      constexpr size_t kWord = kRadixBits * i / 64, kShift = kRadixBits * i % 64;
      const Lanes low = shift_right(words[kWord], kShift);
      if constexpr (kShift + kRadixBits <= 64 || kWord == 5) {
        out.limb[i] = bit_and(low, mask);
      } else {
        out.limb[i] = or_and(low, shift_left(words[kWord + 1], 64 - kShift), mask);
      }
    });
    return out;
  }
  // A lane's words are 8 apart. They are read and written as parts of vectors, which the compiler has to be told.
  using Word [[gnu::may_alias]] = uint64_t;
  Word* word(size_t lane) { return reinterpret_cast<Word*>(limb) + lane; }
  const Word* word(size_t lane) const { return reinterpret_cast<const Word*>(limb) + lane; }
  // The value of one lane in words of 64 bits, which hold up to 9p.
  void get(size_t lane, uint64_t* to) const {
    const Word* const from = word(lane);
    for (size_t i = 0; i < 6; i++) {
      const size_t l = 64 * i / kRadixBits, shift = 64 * i % kRadixBits;
      to[i] = from[8 * l] >> shift | from[8 * (l + 1)] << (kRadixBits - shift);
      if (2 * kRadixBits - shift < 64 && l + 2 < L) to[i] |= from[8 * (l + 2)] << (2 * kRadixBits - shift);
    }
  }
  void set(size_t lane, const uint64_t* from) {
    Word* const to = word(lane);
    for (size_t l = 0; l < L; l++) {
      const size_t i = kRadixBits * l / 64, shift = kRadixBits * l % 64;
      uint64_t value = from[i] >> shift;
      if (shift + kRadixBits > 64 && i + 1 < 6) value |= from[i + 1] << (64 - shift);
      to[8 * l] = value & kRadixMask;
    }
  }
  static void copy(Loose& to, size_t to_lane, const Loose& from, size_t lane) {
    for (size_t l = 0; l < L; l++) to.word(to_lane)[8 * l] = from.word(lane)[8 * l];
  }
};

// A product that carries nothing yet: limbs below 2^56, or their differences.
struct LooseProduct {
  static constexpr size_t L = Loose::L;
  Lanes limb[2 * L];

  CUZK_INLINE static LooseProduct zero() {
    LooseProduct out;
    unrolled<2 * L>([&](auto i) CUZK_INLINE { out.limb[i] = zeros(); });
    return out;
  }
  template <size_t k>
  CUZK_INLINE void accumulate(Lanes a, Lanes b) {
    limb[k] = madd_low(limb[k], a, b);
    limb[k + 1] = madd_high(limb[k + 1], a, b);
  }
  CUZK_INLINE static LooseProduct of(const Loose& a, const Loose& b) {
    LooseProduct t = zero();
    unrolled<L>([&](auto i) CUZK_INLINE {
      unrolled<L>([&](auto j) CUZK_INLINE { t.template accumulate<i + j>(a.limb[i], b.limb[j]); });
    });
    return t;
  }
  CUZK_INLINE static LooseProduct of_square(const Loose& a) {
    LooseProduct t = zero();
    unrolled<L - 1>([&](auto i) CUZK_INLINE {
      unrolled<L - 1 - i>([&](auto j)
                              CUZK_INLINE { t.template accumulate<2 * i + 1 + j>(a.limb[i], a.limb[i + 1 + j]); });
    });
    unrolled<2 * L>([&](auto i) CUZK_INLINE { t.limb[i] = add(t.limb[i], t.limb[i]); });
    unrolled<L>([&](auto i) CUZK_INLINE { t.template accumulate<2 * i>(a.limb[i], a.limb[i]); });
    return t;
  }
  CUZK_INLINE LooseProduct minus(const LooseProduct& o) const {
    LooseProduct out;
    unrolled<2 * L>([&](auto i) CUZK_INLINE { out.limb[i] = subtract(limb[i], o.limb[i]); });
    return out;
  }
  // Plus p 2^404, which is more than 2^23 p^2 and 2^-12 p once reduced. A difference falls below zero by 2^19 p^2 at
  // most, where one factor is for_y() and the other a difference().
  CUZK_INLINE LooseProduct raised() const {
    constexpr size_t kLimb = 404 / kRadixBits, kShift = 404 % kRadixBits;
    LooseProduct out = *this;
    unrolled<L + 1>([&](auto i) CUZK_INLINE {
      constexpr uint64_t kLow = i < L ? Loose::kP[i < L ? i : 0] << kShift & kRadixMask : 0;
      constexpr uint64_t kHigh = i > 0 ? Loose::kP[i > 0 ? i - 1 : 0] >> (kRadixBits - kShift) : 0;
      out.limb[kLimb + i] = add(out.limb[kLimb + i], broadcast(kLow | kHigh));
    });
    return out;
  }
};

// Two values times 2^-416, each from 0 up to 2^32 p^2 before and below p (1 + 2^-2) after. Their rounds alternate, as
// the next one of either waits for its last. Round i as in Vector::Wide.
CUZK_INLINE inline void reduce(LooseProduct (&t)[2], Loose (&out)[2]) {
  constexpr size_t L = Loose::L;
  const Lanes mask = broadcast(kRadixMask), inverse = broadcast(Vector<Fp>::kInverse);
  unrolled<L>([&](auto i) CUZK_INLINE {
    Lanes m[2];
    unrolled<2>([&](auto k) CUZK_INLINE {
      Lanes* const limb = t[k].limb;
      m[k] = madd_low(zeros(), limb[i], inverse);
      limb[i + 1] = add(limb[i + 1], shift_right_signed(add(limb[i], mask), kRadixBits));
    });
    unrolled<2>([&](auto k) CUZK_INLINE {
      Lanes* const limb = t[k].limb;
      limb[i + 1] = madd_high(limb[i + 1], m[k], broadcast(Loose::kP[0]));
      unrolled<L - 1>([&](auto j)
                          CUZK_INLINE { t[k].template accumulate<i + j + 1>(m[k], broadcast(Loose::kP[j + 1])); });
    });
  });
  unrolled<2>([&](auto k) CUZK_INLINE {
    Loose high;
    unrolled<L>([&](auto i) CUZK_INLINE { high.limb[i] = t[k].limb[L + i]; });
    out[k] = high.carried();
  });
}
