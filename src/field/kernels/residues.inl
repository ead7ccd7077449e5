// Residues of points.inl in two parts, from what an implementation defines before:
//
//   struct Loose                          residues modulo p, not always below it, in kLanes lanes
//     static Loose gather(const uint64_t* const* from);      canonical elements at kLanes addresses
//     void get(size_t lane, uint64_t* to), set(size_t lane, const uint64_t* from)   words below 10p
//     static void copy(Loose& to, size_t to_lane, const Loose& from, size_t lane)
//     sum(o), difference(o), product_difference(o)           good for factors alone; the last of products
//     minus(o), minus(o, q), negated(bits), for_y(), select_bits(bits, set, clear), maybe_zero(),
//     maybe_zero_difference()                                as in points.inl
//   struct LooseProduct                   static of(a, b), of_square(a), not yet reduced
//     minus(o)
//     raised()                            plus a multiple of p such that the difference of two is not negative
//   reduce(LooseProduct (&)[2], Loose (&)[2])
//
// Two at a time, as the steps of one reduction wait for each other.

// Products are called, not inlined: their operands are in memory in any case, and so the loops of points.inl stay in
// the cache of decoded instructions.
#define CUZK_CALLED __attribute__((noinline))

// What does not depend on how the two parts are multiplied.
template <class Derived>
struct TwoParts {
  Loose part[2];

  template <class Operation>
  CUZK_INLINE static Derived each(Operation operation) {
    Derived out;
    unrolled<2>([&](auto k) CUZK_INLINE { out.part[k] = operation(k); });
    return out;
  }
  CUZK_INLINE Derived difference(const Derived& o) const {
    return each([&](auto k) CUZK_INLINE { return part[k].difference(o.part[k]); });
  }
  CUZK_INLINE Derived minus(const Derived& o) const {
    return each([&](auto k) CUZK_INLINE { return part[k].minus(o.part[k]); });
  }
  CUZK_INLINE Derived minus(const Derived& o, const Derived& q) const {
    return each([&](auto k) CUZK_INLINE { return part[k].minus(o.part[k], q.part[k]); });
  }
  CUZK_INLINE Derived for_y() const {
    return each([&](auto k) CUZK_INLINE { return part[k].for_y(); });
  }
};

template <class F>
struct Residues;

// Half of the elements in each part.
template <>
struct Residues<Fp> : TwoParts<Residues<Fp>> {
  static constexpr size_t kHalf = Loose::kLanes, kWidth = 2 * kHalf;

  CUZK_INLINE static Residues gather(const Fp* const* from) {
    const uint64_t* words[kWidth];
    for (size_t i = 0; i < kWidth; i++) words[i] = reinterpret_cast<const uint64_t*>(from[i]);
    return each([&](auto k) CUZK_INLINE { return Loose::gather(words + kHalf * k); });
  }
  void get(size_t lane, Fp& to) const { part[lane / kHalf].get(lane % kHalf, reinterpret_cast<uint64_t*>(&to)); }
  void set(size_t lane, const Fp& from) {
    part[lane / kHalf].set(lane % kHalf, reinterpret_cast<const uint64_t*>(&from));
  }
  static void copy(Residues& to, size_t to_lane, const Residues& from, size_t lane) {
    Loose::copy(to.part[to_lane / kHalf], to_lane % kHalf, from.part[lane / kHalf], lane % kHalf);
  }
  CUZK_CALLED Residues operator*(const Residues& o) const {
    LooseProduct t[2];
    unrolled<2>([&](auto k) CUZK_INLINE { t[k] = LooseProduct::of(part[k], o.part[k]); });
    Residues out;
    reduce(t, out.part);
    return out;
  }
  CUZK_CALLED Residues square() const {
    LooseProduct t[2];
    unrolled<2>([&](auto k) CUZK_INLINE { t[k] = LooseProduct::of_square(part[k]); });
    Residues out;
    reduce(t, out.part);
    return out;
  }
  CUZK_INLINE Residues negated(unsigned bits) const {
    return each([&](auto k) CUZK_INLINE { return part[k].negated(bits >> kHalf * k); });
  }
  CUZK_INLINE static Residues select_bits(unsigned bits, const Residues& set, const Residues& clear) {
    return each([&](auto k) CUZK_INLINE { return Loose::select_bits(bits >> kHalf * k, set.part[k], clear.part[k]); });
  }
  CUZK_INLINE unsigned maybe_zero_difference() const {
    return part[0].maybe_zero_difference() | part[1].maybe_zero_difference() << kHalf;
  }
  CUZK_INLINE unsigned maybe_zero() const { return part[0].maybe_zero() | part[1].maybe_zero() << kHalf; }
};

// A coordinate in each part.
template <>
struct Residues<Fp2> : TwoParts<Residues<Fp2>> {
  static constexpr size_t kWidth = Loose::kLanes;

  CUZK_INLINE static Residues gather(const Fp2* const* from) {
    const uint64_t* words[2][kWidth];
    for (size_t i = 0; i < kWidth; i++) {
      words[0][i] = reinterpret_cast<const uint64_t*>(from[i]);
      words[1][i] = words[0][i] + 6;
    }
    return each([&](auto k) CUZK_INLINE { return Loose::gather(words[k]); });
  }
  void get(size_t lane, Fp2& to) const {
    for (size_t k = 0; k < 2; k++) part[k].get(lane, reinterpret_cast<uint64_t*>(&to) + 6 * k);
  }
  void set(size_t lane, const Fp2& from) {
    for (size_t k = 0; k < 2; k++) part[k].set(lane, reinterpret_cast<const uint64_t*>(&from) + 6 * k);
  }
  static void copy(Residues& to, size_t to_lane, const Residues& from, size_t lane) {
    for (size_t k = 0; k < 2; k++) Loose::copy(to.part[k], to_lane, from.part[k], lane);
  }
  CUZK_CALLED Residues operator*(const Residues& o) const {  // Karatsuba; only the difference may fall below zero
    const LooseProduct a = LooseProduct::of(part[0], o.part[0]), b = LooseProduct::of(part[1], o.part[1]);
    LooseProduct t[2] = {
        a.minus(b).raised(),
        LooseProduct::of(part[0].sum(part[1]), o.part[0].sum(o.part[1])).minus(a).minus(b),
    };
    Residues out;
    reduce(t, out.part);
    return out;
  }
  CUZK_CALLED Residues square() const {
    LooseProduct t[2] = {LooseProduct::of(part[0].sum(part[1]), part[0].product_difference(part[1])),
                         LooseProduct::of(part[0], part[1].sum(part[1]))};
    Residues out;
    reduce(t, out.part);
    return out;
  }
  CUZK_INLINE Residues negated(unsigned bits) const {
    return each([&](auto k) CUZK_INLINE { return part[k].negated(bits); });
  }
  CUZK_INLINE static Residues select_bits(unsigned bits, const Residues& set, const Residues& clear) {
    return each([&](auto k) CUZK_INLINE { return Loose::select_bits(bits, set.part[k], clear.part[k]); });
  }
  CUZK_INLINE unsigned maybe_zero_difference() const {
    return part[0].maybe_zero_difference() & part[1].maybe_zero_difference();
  }
  CUZK_INLINE unsigned maybe_zero() const { return part[0].maybe_zero(); }
};
