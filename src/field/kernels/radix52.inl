// Vectors of eight elements, one in each lane, in limbs of 52 bits, and their bulk operations. An implementation
// includes this text within its own target region and its own namespace, after it has defined there
//
//   CUZK_INLINE                     the attribute of the functions below, and of their lambdas
//   Lanes                           eight 64-bit words, on which work, lane by lane,
//     broadcast(word), zeros(), add(a, b), subtract(a, b), bit_and(a, b), bit_or(a, b), or_and(a, b, c) = (a | b) & c,
//     shift_left(a, bits), shift_right(a, bits), shift_right_signed(a, bits), bits from 0 to 63,
//     madd_low(sum, a, b), madd_high(sum, a, b)   sum + the low or high 52 bits of the product of a and b mod 2^52
//   Mask is_negative(a), bool all_negative(a), Lanes select(mask, where set, where clear)
//   in_memory(constants)            the address, of which the compiler does not know what is there
//   add_where(mask, a, b) = a, or a + b where the mask is set; Mask is_zero(a), mask_of(bits); uint8_t bits_of(mask)
//   gather6(addresses, out)         six words each of the elements at eight addresses, word by word and in order
//   gather4(addresses, out)         four words each of the elements at eight addresses, as load4 orders them
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

constexpr bool kOctets = true;
constexpr unsigned kRadixBits = 52;
constexpr uint64_t kRadixMask = (uint64_t{1} << kRadixBits) - 1;

#include "field/kernels/unrolled.inl"

template <size_t kCount>
struct Constant {
  uint64_t limb[kCount];
};
template <size_t kCount, size_t N>
constexpr Constant<kCount> split(const std::array<uint64_t, N>& words) {
  Constant<kCount> out{};
  for (size_t i = 0; i < kCount; i++) {
    const size_t word = kRadixBits * i / 64, shift = kRadixBits * i % 64;
    const uint64_t next = word + 1 < N && shift > 0 ? words[word + 1] << (64 - shift) : 0;
    out.limb[i] = (words[word] >> shift | next) & kRadixMask;
  }
  return out;
}

// Eight elements, canonical, in L limbs of 52 bits.
template <class F>
struct Vector {
  static constexpr size_t kWidth = 8;
  static constexpr size_t N = F::kLimbs;                               // limbs of 64 bits in memory
  static constexpr size_t L = (64 * N + kRadixBits - 1) / kRadixBits;  // 5 for Fr, 8 for Fp
  static constexpr unsigned kSpareBits = kRadixBits * L - 64 * N;
  static constexpr uint64_t kInverse = F::kInv & kRadixMask;  // -p^-1 mod 2^52
  static constexpr Constant<L> kModulus = split<L>(F::kModulus);
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
    return from_words(words);
  }
  CUZK_INLINE static Vector from_words(const Lanes* words) {
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
    // the last step.
    CUZK_INLINE Vector reduce() const { return reduced(divided()); }
    // The value times 2^(-52 L), plus at most p; its limbs carry nothing yet. Round i adds m p 2^(52 i), which makes
    // limb i a multiple of 2^52: its low part need not be computed, as the carry is one more than limb i's own exactly
    // where its low part is not zero.
    CUZK_INLINE Vector divided() const {
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
      return out;
    }
  };
  // Montgomery multiplication here divides by 2^(52 L) in place of 2^(64 N); a factor times 2^kSpareBits makes up for
  // it. Below 2p before, it is below 2^(52 L) after.
  CUZK_INLINE Wide product(const Vector& o) const { return plain_product(o.template scaled<kSpareBits>()); }
  CUZK_INLINE Wide plain_product(const Vector& o) const {
    Wide t = Wide::zero();
    unrolled<L>([&](auto i) CUZK_INLINE {
      unrolled<L>([&](auto j) CUZK_INLINE { t.template accumulate<i + j>(limb[i], o.limb[j]); });
    });
    return t;
  }

  // The sums of up to 32 products are reduced at once, which their quotient by 2^(52 L) = 35.3 p allows.
  CUZK_INLINE static Vector sum_of_products(const F* const* a, const F* const* b, size_t count) {
    static_assert(N == 4);
    constexpr size_t kAtOnce = 32;
    constexpr Constant<L> kScale = split<L>(limbs::power_of_two(kRadixBits * L + kSpareBits, F::kModulus));
    const auto gather = [](const F* const* from) CUZK_INLINE {
      Lanes words[N];
      gather4(reinterpret_cast<const uint64_t* const*>(from), words);
      return from_words(words);
    };
    Vector sum;
    unrolled<L>([&](auto i) CUZK_INLINE { sum.limb[i] = zeros(); });
    for (size_t begin = 0; begin < count; begin += kAtOnce) {
      Wide t = Wide::zero();
      for (size_t k = begin; k < std::min(count, begin + kAtOnce); k++) {
        const Vector x = gather(a + 8 * k), y = gather(b + 8 * k);
        unrolled<L>([&](auto i) CUZK_INLINE {
          unrolled<L>([&](auto j) CUZK_INLINE { t.template accumulate<i + j>(x.limb[i], y.limb[j]); });
        });
      }
      sum = sum + t.reduce();
    }
    Vector scale;
    unrolled<L>([&](auto i) CUZK_INLINE { scale.limb[i] = broadcast(kScale.limb[i]); });
    return sum.plain_product(scale).reduce();
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

// What transform.inl asks for. A product with a factor that many rows share costs 60 multiplications instead of 100:
// the factor w comes as w 2^(52 (i + 1)) mod p for each limb i of the row, so that the sum of the products of limbs is
// only one limb too long.
using FrVector = Vector<Fr>;
struct Factor {
  Constant<FrVector::L> shifted[FrVector::L];
};
constexpr std::array<Fr, FrVector::L> kShifts = [] {  // the elements with the representation 2^(52 (i + 1))
  std::array<Fr, FrVector::L> out;
  for (size_t i = 0; i < out.size(); i++)
    out[i] = Fr::from_raw(limbs::power_of_two(kRadixBits * (i + 1), Fr::kModulus));
  return out;
}();
inline Factor factor_of(const Fr& value) {
  Factor out;
  for (size_t i = 0; i < FrVector::L; i++) out.shifted[i] = split<FrVector::L>((value * kShifts[i]).raw());
  return out;
}

// Multiples of p in limbs that stay in memory: made from immediate operands they cost more than loads.
struct Multiples {
  static constexpr size_t L = FrVector::L;
  uint64_t one[L], minus_three[L], seventeen[L], minus_128[L], inverse;
};
constexpr Multiples kMultiples = [] {
  Multiples out{.inverse = FrVector::kInverse};
  for (size_t i = 0; i < Multiples::L; i++) {
    const uint64_t p = FrVector::kModulus.limb[i];
    out.one[i] = p, out.minus_three[i] = -3 * p, out.seventeen[i] = 17 * p, out.minus_128[i] = -128 * p;
  }
  return out;
}();

// Eight values in limbs of any size and sign: only a factor needs them in digits, and then from 0 to 2^(52 L) = 35.3p.
struct Row {
  static constexpr size_t L = FrVector::L;
  static constexpr const uint64_t (&kP)[L] = FrVector::kModulus.limb;
  FrVector value;

  CUZK_INLINE static Row filled(const Fr& element) {
    const Constant<L> limbs_of_it = split<L>(element.raw());
    Row out;
    unrolled<L>([&](auto i) CUZK_INLINE { out.value.limb[i] = broadcast(limbs_of_it.limb[i]); });
    return out;
  }
  CUZK_INLINE static Row load(const Fr* from, size_t stride, size_t columns) {
    return {FrVector::load(from, columns, stride)};
  }
  CUZK_INLINE void store(Fr* to, size_t stride, size_t columns) const { value.store(to, columns, stride); }
  // Canonical values of those that settled() takes. Apart from storing, as that makes shorter chains of instructions.
  CUZK_INLINE static void settle_all(Row* rows, size_t stride, size_t count) {
    Lanes below = broadcast(~uint64_t{0});
    for (size_t i = 0; i < count; i++) {
      Row& row = rows[i * stride];
      row.value = row.settled().value.carried();
      below = bit_and(below, subtract(row.value.limb[L - 1], broadcast(kP[L - 1])));
    }
    if (all_negative(below)) return;  // hardly ever p or more
    for (size_t i = 0; i < count; i++) rows[i * stride].value = FrVector::reduced(rows[i * stride].value);
  }
  // body(part), where part is the same limb of any row.
  template <class Body>
  CUZK_INLINE static void for_each_part(Body body) {
    unrolled<L>([&](auto i) CUZK_INLINE { body([&](auto& row) CUZK_INLINE -> auto& { return row.value.limb[i]; }); });
  }
  // Of values below 1.01p. Powers carry another factor 2^4, so the result is below 1.03p.
  CUZK_INLINE Row scaled(const Row& powers) const { return {digits().plain_product(powers.digits()).divided()}; }
  // From -128p to 150p: below 1.01p. Less (q - 128) p, where q is the quotient by p of 128p and the value's limbs from
  // 2^208 on, rounded down, or one less.
  CUZK_INLINE Row settled() const {
    constexpr unsigned kCut = 3, kShift = 43;
    constexpr auto kQuotient = static_cast<uint64_t>((uint128_t{1} << (kRadixBits + kShift + kCut)) / (kP[L - 1] + 1));
    const Lanes top = add(value.limb[L - 1], shift_right_signed(value.limb[L - 2], kRadixBits));  // give or take one
    const Lanes positive = add(shift_right_signed(top, kCut), broadcast(128 * kP[L - 1] / (1 << kCut) - 2));
    const Lanes q = shift_right(madd_high(zeros(), positive, broadcast(kQuotient)), kShift);
    Row out;
    const Multiples& p = *in_memory(&kMultiples);
    unrolled<L>([&](auto i) CUZK_INLINE {
      Lanes multiple = madd_low(broadcast(p.minus_128[i]), q, broadcast(p.one[i]));
      if constexpr (i > 0) multiple = madd_high(multiple, q, broadcast(p.one[i - 1]));
      if constexpr (i == L - 1) {
        multiple = add(multiple, shift_left(madd_high(zeros(), q, broadcast(p.one[i])), kRadixBits));
      }
      out.value.limb[i] = subtract(value.limb[i], multiple);
    });
    return out;
  }
  // Limbs whose low 52 bits are the digits of the value plus a multiple of p, which is all that a product looks at.
  template <class Multiple>
  CUZK_INLINE FrVector digits(Multiple multiple) const {
    FrVector out;
    out.limb[0] = multiple(std::integral_constant<size_t, 0>(), value.limb[0]);
    unrolled<L - 1>([&](auto i) CUZK_INLINE {
      const Lanes limb = multiple(std::integral_constant<size_t, i + 1>(), value.limb[i + 1]);
      out.limb[i + 1] = add(limb, shift_right_signed(out.limb[i], kRadixBits));
    });
    return out;
  }
  CUZK_INLINE FrVector digits() const {
    return digits([](auto, Lanes limb) CUZK_INLINE { return limb; });
  }

  CUZK_INLINE static void butterfly(Row& lo, Row& hi, const Factor* w) {
    const Row product = w ? hi.times(*w) : hi;
    unrolled<L>([&](auto i) CUZK_INLINE {
      const Lanes low = lo.value.limb[i];
      lo.value.limb[i] = add(low, product.value.limb[i]);
      hi.value.limb[i] = subtract(low, product.value.limb[i]);
    });
  }
  CUZK_INLINE Row times(const Factor& w) const {
    return times([&](auto i, auto j) CUZK_INLINE { return broadcast(w.shifted[i].limb[j]); });
  }
  // The product with a factor, whose limb j times 2^(52 (i + 1)) mod p is word(i, j): from -3p to 3p, of a value from
  // -17p to 18p.
  template <class Word>
  CUZK_INLINE Row times(Word word) const {
    const Multiples& p = *in_memory(&kMultiples);
    const FrVector a = digits([&](auto i, Lanes limb) CUZK_INLINE { return add(limb, broadcast(p.seventeen[i])); });
    Lanes t[L + 1];
    t[0] = zeros();
    unrolled<L>([&](auto i) CUZK_INLINE { t[i + 1] = broadcast(p.minus_three[i]); });
    const auto accumulate = [&](auto j, Lanes x, Lanes y) CUZK_INLINE {
      t[j] = madd_low(t[j], x, y);
      t[j + 1] = madd_high(t[j + 1], x, y);
    };
    unrolled<L>([&](auto i)
                    CUZK_INLINE { unrolled<L>([&](auto j) CUZK_INLINE { accumulate(j, a.limb[i], word(i, j)); }); });
    // One round of Wide::divided.
    const Lanes m = madd_low(zeros(), t[0], broadcast(p.inverse));
    const Lanes carry = shift_right(add(t[0], broadcast(kRadixMask)), kRadixBits);
    t[1] = madd_high(add(t[1], carry), m, broadcast(p.one[0]));
    unrolled<L - 1>(
        [&](auto j) CUZK_INLINE { accumulate(std::integral_constant<size_t, j + 1>(), m, broadcast(p.one[j + 1])); });
    Row out;
    unrolled<L>([&](auto i) CUZK_INLINE { out.value.limb[i] = t[i + 1]; });
    return out;
  }
};

struct RowFactor {
  FrVector values, shifted[FrVector::L];

  explicit RowFactor(const Fr* columns) : values(FrVector::load(columns, FrVector::kWidth)) { shift(); }
  void square() {
    values = values.square();
    shift();
  }
  static Row one(const Fr& scale) { return Row::filled(scale * Fr::from_u64(16)); }
  CUZK_INLINE Row times(const Row& row) const {
    return row.times([this](auto i, auto j) CUZK_INLINE { return shifted[i].limb[j]; }).settled();
  }

 private:
  void shift() {
    for (size_t i = 0; i < FrVector::L; i++) shifted[i] = values * Row::filled(kShifts[i]).value;
  }
};

// What poseidon.inl asks for: a sum of up to 12 products with factors, reduced once. Values come in digits, up to
// 2^(52 L) = 35.3p; the sum of n products is below (5n + 1)p, and its limbs have less than 2^7 terms below 2^52.
CUZK_INLINE inline FrVector filled(const Fr& value) { return Row::filled(value).value; }
struct Dot {
  static constexpr size_t L = FrVector::L;
  Lanes t[L + 1];

  CUZK_INLINE Dot() {
    unrolled<L + 1>([&](auto i) CUZK_INLINE { t[i] = zeros(); });
  }
  CUZK_INLINE void accumulate(const FrVector& value, const Factor& factor) {
    unrolled<L>([&](auto i) CUZK_INLINE {
      unrolled<L>([&](auto j) CUZK_INLINE { at<j>(value.limb[i], broadcast(factor.shifted[i].limb[j])); });
    });
  }
  CUZK_INLINE FrVector canonical() { return canonical(divided()); }
  // Digits of this and another value: 5.1p more, where this is one product of a canonical value.
  CUZK_INLINE FrVector plus(const FrVector& value) {
    FrVector sum = divided();
    unrolled<L>([&](auto i) CUZK_INLINE { sum.limb[i] = add(sum.limb[i], value.limb[i]); });
    return sum.carried();
  }
  CUZK_INLINE static FrVector canonical(const FrVector& value) { return FrVector::reduced(Row{value}.settled().value); }

 private:
  template <size_t k>
  CUZK_INLINE void at(Lanes a, Lanes b) {  // += a b 2^(52 k)
    t[k] = madd_low(t[k], a, b);
    t[k + 1] = madd_high(t[k + 1], a, b);
  }
  CUZK_INLINE FrVector divided() {  // one round of Wide::divided
    const Multiples& p = *in_memory(&kMultiples);
    const Lanes m = madd_low(zeros(), t[0], broadcast(p.inverse));
    t[1] = add(t[1], shift_right(add(t[0], broadcast(kRadixMask)), kRadixBits));
    t[1] = madd_high(t[1], m, broadcast(p.one[0]));
    unrolled<L - 1>([&](auto j) CUZK_INLINE { at<j + 1>(m, broadcast(p.one[j + 1])); });
    FrVector out;
    unrolled<L>([&](auto i) CUZK_INLINE { out.limb[i] = t[i + 1]; });
    return out;
  }
};

#include "field/kernels/residues52.inl"
// which the bulk operations build on:
#include "field/kernels/generic.inl"
