// Sums of points side by side, over residues that an implementation defines before it includes this text:
//
//   template <class F> struct Residues    kWidth elements of F = Fp or Fp2, each in a lane of its own
//     static Residues gather(const F* const* from);     canonical elements at kWidth addresses
//     void get(size_t lane, F& to), set(size_t lane, const F& from)   F's words, not always canonical after get
//     static void copy(Residues& to, size_t to_lane, const Residues& from, size_t lane)
//     difference(o)                     this - o, good for a factor alone
//     negated(bits)                     of lanes just gathered those with a bit set negated; for difference() alone
//     operator *, square()
//     minus(o), minus(o, q)             a product less one or two residues
//     for_y()                           of a slope, the factor that gives y
//     select_bits(bits, set, clear)     lane by lane
//     unsigned maybe_zero(), maybe_zero_difference()    a bit for every lane that is zero, and for few others
//   kInverseScale                       what inverses of products are multiplied by
//
// The formulas are those of affine addition, with one inversion for all the sums (Montgomery's trick): every lane
// multiplies up the denominators of its blocks.

template <class F>
struct SumBlock {
  Residues<F> x, y;
};
// One block's additions under way.
template <class F>
struct AdditionBlock {
  Residues<F> x2, denominator, numerator;
  Residues<F> product;  // of the denominators of the blocks before; unset in the first
  uint32_t known;       // a bit for every lane whose sum is final already
};

inline constexpr uint32_t kPointIndex = kNoPoint >> 1;

// The pairs that the slope formula may not fit.
template <class F, class Second>
void settle(SumBlock<F>& sum, AdditionBlock<F>& addition, unsigned lanes, const Second& second) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<size_t>(__builtin_ctz(lanes));
    F first[2], other[2], slope[2];
    sum.x.get(lane, first[0]), sum.y.get(lane, first[1]);
    second(lane, other);
    switch (classify_addition(first, other, slope)) {
      case Addition::kPlain: continue;
      case Addition::kDoubling: break;
      case Addition::kKnown:
        sum.x.set(lane, first[0]), sum.y.set(lane, first[1]);
        addition.known |= 1u << lane;
    }
    addition.numerator.set(lane, slope[0]), addition.denominator.set(lane, slope[1]);
  }
}

// x2, y2 of a block, and what settles its lanes.
template <class F, class Second>
CUZK_INLINE inline void begin_addition(SumBlock<F>& sum, AdditionBlock<F>& addition, const Residues<F>& x2,
                                       const Residues<F>& y2, const Second& second) {
  const Residues<F> denominator = x2.difference(sum.x);
  addition.x2 = x2;
  addition.denominator = denominator;
  addition.numerator = y2.difference(sum.y);
  addition.known = 0;
  const unsigned unclear = denominator.maybe_zero_difference() | x2.maybe_zero() | sum.x.maybe_zero();
  if (__builtin_expect(unclear != 0, 0)) settle<F>(sum, addition, unclear, second);
}

// begin(block) for every block, then the additions; on the way prefetch(block), spread over the longest part.
template <class F, class Begin, class Prefetch>
CUZK_INLINE inline void add_blocks_with(SumBlock<F>* sums, AdditionBlock<F>* additions, size_t blocks,
                                        const Begin& begin, const Prefetch& prefetch) {
  using R = Residues<F>;
  if (blocks == 0) return;
  begin(0);
  R running = additions[0].denominator;
  for (size_t b = 1; b < blocks; b++) {
    begin(b);
    additions[b].product = running;
    running = running * additions[b].denominator;
  }
  F products[R::kWidth];
  for (size_t i = 0; i < R::kWidth; i++) running.get(i, products[i]);
  invert_products(products, R::kWidth, kInverseScale);
  for (size_t i = 0; i < R::kWidth; i++) running.set(i, products[i]);
  for (size_t b = blocks; b-- > 0;) {
    prefetch(b);
    SumBlock<F>& sum = sums[b];
    const AdditionBlock<F>& addition = additions[b];
    R inverse = running;
    if (b > 0) {
      inverse = running * addition.product;
      running = running * addition.denominator;
    }
    const R slope = addition.numerator * inverse, x1 = sum.x, y1 = sum.y;
    R x3 = slope.square().minus(x1, addition.x2);
    R y3 = (slope.for_y() * x1.difference(x3)).minus(y1);
    if (__builtin_expect(addition.known != 0, 0)) {
      x3 = R::select_bits(addition.known, x1, x3);
      y3 = R::select_bits(addition.known, y1, y3);
    }
    sum.x = x3;
    sum.y = y3;
  }
}

template <class F>
void sums_add_points(void* sums_memory, void* scratch, size_t blocks, const F* points, const uint32_t* choice,
                     const uint32_t* next) {
  using R = Residues<F>;
  static constexpr F kInfinity[2] = {};
  auto* const sums = static_cast<SumBlock<F>*>(sums_memory);
  auto* const additions = static_cast<AdditionBlock<F>*>(scratch);
  const auto begin = [=](size_t b) CUZK_INLINE {
    const F* from[2][R::kWidth];
    unsigned negative = 0;
    const uint32_t* const chosen = choice + b * R::kWidth;
    for (size_t i = 0; i < R::kWidth; i++) {
      const uint32_t entry = chosen[i];
      const F* const point = entry == kNoPoint ? kInfinity : points + 2 * static_cast<size_t>(entry & kPointIndex);
      from[0][i] = point;
      from[1][i] = point + 1;
      negative |= (entry >> 31) << i;
    }
    const auto second = [&](size_t lane, F* out) {
      out[0] = *from[0][lane], out[1] = *from[1][lane];
      if (negative >> lane & 1) negate(out[1]);
    };
    begin_addition<F>(sums[b], additions[b], R::gather(from[0]), R::gather(from[1]).negated(negative), second);
  };
  const auto prefetch = [=](size_t b) CUZK_INLINE {
    for (size_t i = 0; i < R::kWidth; i++) {
      // kNoPoint gives an address that need not exist, which does no harm.
      const uintptr_t point = reinterpret_cast<uintptr_t>(points) + 2 * sizeof(F) * (next[b * R::kWidth + i] & kPointIndex);
      for (size_t offset = 0; offset < 2 * sizeof(F); offset += 64) {
        __builtin_prefetch(reinterpret_cast<const char*>(point + offset), 0, 2);
      }
      __builtin_prefetch(reinterpret_cast<const char*>(point + 2 * sizeof(F) - 1), 0, 2);
    }
  };
  add_blocks_with<F>(sums, additions, blocks, begin, prefetch);
}

template <class F>
void sums_add_sums(void* sums_memory, void* scratch, size_t blocks, const void* const* operands) {
  auto* const sums = static_cast<SumBlock<F>*>(sums_memory);
  auto* const additions = static_cast<AdditionBlock<F>*>(scratch);
  const auto begin = [=](size_t b) CUZK_INLINE {
    const auto& operand = *static_cast<const SumBlock<F>*>(operands[b]);
    const auto second = [&](size_t lane, F* out) { operand.x.get(lane, out[0]), operand.y.get(lane, out[1]); };
    begin_addition<F>(sums[b], additions[b], operand.x, operand.y, second);
  };
  add_blocks_with<F>(sums, additions, blocks, begin, [](size_t) CUZK_INLINE {});
}

template <class F>
SumBlock<F>& block_of(void* sums, size_t lane) {
  return static_cast<SumBlock<F>*>(sums)[lane / Residues<F>::kWidth];
}
template <class F>
const SumBlock<F>& block_of(const void* sums, size_t lane) {
  return static_cast<const SumBlock<F>*>(sums)[lane / Residues<F>::kWidth];
}
template <class F>
void sums_set(void* sums, size_t lane, const F* point) {
  block_of<F>(sums, lane).x.set(lane % Residues<F>::kWidth, point[0]);
  block_of<F>(sums, lane).y.set(lane % Residues<F>::kWidth, point[1]);
}
template <class F>
void sums_get(const void* sums, size_t lane, F* point) {
  block_of<F>(sums, lane).x.get(lane % Residues<F>::kWidth, point[0]);
  block_of<F>(sums, lane).y.get(lane % Residues<F>::kWidth, point[1]);
  make_canonical(point[0]);
  make_canonical(point[1]);
}
template <class F>
void sums_copy(void* to, size_t to_lane, const void* from, size_t lane) {
  constexpr size_t kWidth = Residues<F>::kWidth;
  SumBlock<F>& target = block_of<F>(to, to_lane);
  const SumBlock<F>& source = block_of<F>(from, lane);
  Residues<F>::copy(target.x, to_lane % kWidth, source.x, lane % kWidth);
  Residues<F>::copy(target.y, to_lane % kWidth, source.y, lane % kWidth);
}

template <class F>
constexpr PointSums<F> point_sums() {
  return {.width = Residues<F>::kWidth,
          .block_bytes = sizeof(SumBlock<F>),
          .scratch_bytes = sizeof(AdditionBlock<F>),
          .add_points = sums_add_points<F>,
          .add_sums = sums_add_sums<F>,
          .set = sums_set<F>,
          .get = sums_get<F>,
          .copy = sums_copy<F>};
}
