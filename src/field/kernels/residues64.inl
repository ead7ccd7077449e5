// What residues.inl asks for, in one lane of six words of 64 bits. The implementation has defined
//
//   CUZK_INLINE
//   multiply_wide(uint64_t (&out)[12], const uint64_t (&a)[6], const uint64_t (&b)[6])
//   reduce_wide(const uint64_t (&t0)[12], const uint64_t (&t1)[12], uint64_t (&out0)[6], uint64_t (&out1)[6])
//     two values below 2^768 - 2^384 p times 2^-384, up to p above the quotient
//
// Sums keep residues below p (1 + 2^-56); other values may have up to 2^384, that is 9.8p. A difference() is below
// 3p + 2^-55 p and so is every product of such: with u, v <= 3 the coordinates in Fp2 are u v / 9.8 + 2, with what
// raised() adds, and 2 u v / 9.8 + 1. Only the c0 of a square has up to 4.6p, and up to 7.6p in minus().

constexpr Fp kInverseScale = Fp::one();

struct Loose {
  static constexpr size_t kLanes = 1, N = Fp::kLimbs;

  static constexpr Loose multiple(uint64_t times) {
    Loose out{};
    uint64_t carry = 0;
    for (size_t i = 0; i < N; i++) out.word[i] = limbs::multiply_add(times, Fp::kModulus[i], 0, carry);
    return out;
  }
  static const Loose kMultiples[10];  // of p

  uint64_t word[N];

  CUZK_INLINE Loose sum(const Loose& o) const {
    Loose out;
    uint64_t carry = 0;
    unrolled<N>([&](auto i) CUZK_INLINE { out.word[i] = limbs::add_carry(word[i], o.word[i], carry); });
    return out;
  }
  CUZK_INLINE Loose less(const Loose& o) const {
    Loose out;
    uint64_t borrow = 0;
    unrolled<N>([&](auto i) CUZK_INLINE { out.word[i] = limbs::sub_borrow(word[i], o.word[i], borrow); });
    return out;
  }
  CUZK_INLINE Loose difference(const Loose& o) const { return less(o).sum(kMultiples[2]); }
  CUZK_INLINE Loose product_difference(const Loose& o) const { return less(o).sum(kMultiples[3]); }
  CUZK_INLINE Loose minus(const Loose& o) const { return less(o).sum(kMultiples[2]).settled(); }
  CUZK_INLINE Loose minus(const Loose& o, const Loose& q) const { return less(o).less(q).sum(kMultiples[3]).settled(); }
  CUZK_INLINE Loose for_y() const { return *this; }
  // The residue below p (1 + 2^-56). The quotient by p is estimated from the highest word, and at most 2^-56 too low
  // before it is rounded down.
  CUZK_INLINE Loose settled() const {
    constexpr unsigned kShift = 124;
    constexpr auto kReciprocal = static_cast<uint64_t>((uint128_t{1} << kShift) / (Fp::kModulus[N - 1] + 1));
    const auto quotient = static_cast<size_t>(static_cast<uint128_t>(word[N - 1]) * kReciprocal >> kShift);
    return less(kMultiples[quotient]);
  }
  // p - this, which is at most p, where the bit is set.
  CUZK_INLINE Loose negated(unsigned bits) const {
    const uint64_t mask = 0 - static_cast<uint64_t>(bits & 1);
    Loose out;
    uint64_t carry = bits & 1;
    unrolled<N>([&](auto i)
                    CUZK_INLINE { out.word[i] = limbs::add_carry(word[i] ^ mask, Fp::kModulus[i] & mask, carry); });
    return out;
  }
  CUZK_INLINE static Loose select_bits(unsigned bits, const Loose& set, const Loose& clear) {
    return bits & 1 ? set : clear;
  }
  // A multiple k p with k < 4 times -p^-1 modulo 2^64 is 2^64 - k.
  CUZK_INLINE unsigned maybe_zero_difference() const { return 0 - word[0] * Fp::kInv < 4; }
  CUZK_INLINE unsigned maybe_zero() const { return word[0] == 0; }

  CUZK_INLINE static Loose gather(const uint64_t* const* from) {
    Loose out;
    out.set(0, *from);
    return out;
  }
  CUZK_INLINE void get(size_t, uint64_t* to) const { std::copy_n(word, N, to); }
  CUZK_INLINE void set(size_t, const uint64_t* from) { std::copy_n(from, N, word); }
  static void copy(Loose& to, size_t, const Loose& from, size_t) { to = from; }
};

constexpr Loose Loose::kMultiples[] = {multiple(0), multiple(1), multiple(2), multiple(3), multiple(4),
                                       multiple(5), multiple(6), multiple(7), multiple(8), multiple(9)};

struct LooseProduct {
  static constexpr size_t N = Loose::N;

  uint64_t word[2 * N];

  CUZK_INLINE static LooseProduct of(const Loose& a, const Loose& b) {
    LooseProduct out;
    multiply_wide(out.word, a.word, b.word);
    return out;
  }
  CUZK_INLINE static LooseProduct of_square(const Loose& a) { return of(a, a); }
  CUZK_INLINE LooseProduct minus(const LooseProduct& o) const {
    LooseProduct out;
    uint64_t borrow = 0;
    unrolled<2 * N>([&](auto i) CUZK_INLINE { out.word[i] = limbs::sub_borrow(word[i], o.word[i], borrow); });
    return out;
  }
  // Plus p 2^384, which is more than 9.8 p^2.
  CUZK_INLINE LooseProduct raised() const {
    LooseProduct out = *this;
    uint64_t carry = 0;
    unrolled<N>([&](auto i) CUZK_INLINE { out.word[N + i] = limbs::add_carry(word[N + i], Fp::kModulus[i], carry); });
    return out;
  }
};

CUZK_INLINE inline void reduce(const LooseProduct (&t)[2], Loose (&out)[2]) {
  reduce_wide(t[0].word, t[1].word, out[0].word, out[1].word);
}
