// The transforms of tiles of field/kernels.h, which generic.inl includes, over
//
//   struct Factor, Factor factor_of(value)       a factor of all columns
//   struct Row                                   eight columns of one row
//     static Row load(from, stride, columns)     canonical; as they come where there are fewer than eight
//     void store(to, stride, columns) const      of a canonical value
//     static void settle_all(rows, stride, count)      makes values up to 100 canonical
//     for_each_part(body)                        body(part), part(row) for each of the parts that sums act on, by
//                                                add(a, b) and subtract(a, b)
//     static void butterfly(Row& lo, Row& hi, w) (lo + w hi, lo - w hi), w null for one
//     Row times(w) const                         of a value up to 17 units to one up to 3
//     Row settled() const                        of a value up to 100 units to one from 0 to 1
//     Row scaled(powers) const                   column by column, of one from 0 to 1 to one from 0 to 1
//   struct RowFactor                             a factor for each column
//     RowFactor(values), void square(), Row times(row) const, static Row one(scale)
//   constexpr bool kOctets                       whether a product of twelve is worth six sums more
//
// A unit is a little more than the modulus, and "up to" is of either sign. Loaded values are from 0 to 1.

// Levels of butterflies in each of the two groups of a tile.
constexpr unsigned kGroup = 5;

// What FrTile::factors points to. An octet is three levels at once; those of the second group have twiddles, a set for
// each of 2^kGroup. All of them are the same for tables of any number of rows.
struct Factors {
  static constexpr size_t kConstants = 3, kTwiddles = 7, kSets = size_t{1} << kGroup;
  static_assert(kConstants + kTwiddles * kSets == FrTile::kOctetFactors);
  const Factor *constants, *twiddles, *levels;

  explicit Factors(const uint64_t* words)
      : constants(reinterpret_cast<const Factor*>(words)),
        twiddles(constants + kConstants),
        levels(twiddles + kTwiddles * kSets) {}
};

inline size_t reverse_bits(size_t value, unsigned bits) {
  size_t out = 0;
  for (unsigned i = 0; i < bits; i++) out = out << 1 | (value >> i & 1);
  return out;
}

inline void fr_factors(uint64_t* out, unsigned log2_rows, const Fr& root, bool evaluate) {
  const size_t rows = size_t{1} << log2_rows;
  std::vector<Fr> powers(rows, Fr::one());
  for (size_t i = 1; i < rows; i++) powers[i] = powers[i - 1] * root;
  Factor* next = reinterpret_cast<Factor*>(out);
  const auto put = [&](const Fr& value) { *next++ = factor_of(value); };
  if (log2_rows >= 3) {
    const Fr half = Fr::from_u64(2).inverse(), first = powers[rows / 8] * half, third = powers[3 * rows / 8] * half;
    put(powers[rows / 4]);
    put(first + third);
    put(first - third);
  }
  for (size_t set = 0; log2_rows >= kGroup + 3 && set < Factors::kSets; set++) {
    const size_t exponent = evaluate ? set << (log2_rows - kGroup - 3) : reverse_bits(8 * set, log2_rows);
    for (size_t j = 1; j <= Factors::kTwiddles; j++) put(powers[j * exponent]);
  }
  next = reinterpret_cast<Factor*>(out) + FrTile::kOctetFactors;
  for (size_t h = 1; evaluate && h < rows; h *= 2) {
    for (size_t i = 0; i < h; i++) put(powers[i * rows / (2 * h)]);
  }
  for (size_t i = 0; !evaluate && i < rows / 2; i++) put(powers[reverse_bits(2 * i, log2_rows)]);
}

inline void fr_powers(uint64_t* out, unsigned log2_rows, const Fr* bases, const Fr& scale) {
  Row* rows = reinterpret_cast<Row*>(out);
  rows[0] = RowFactor::one(scale);
  RowFactor power(bases);
  const size_t count = size_t{1} << log2_rows;
  for (size_t step = count / 2; step > 0; step /= 2) {
    for (size_t r = 0; r < count; r += 2 * step) rows[r + step] = power.times(rows[r]);
    power.square();
  }
}

// Rows in blocks, with a gap after each of more than one row: a distance of 2^5 rows would bring all rows of a group
// into the same few sets of the first-level cache.
struct Rows {
  Row* first;
  size_t block, blocks, pitch;

  Rows(const FrTile& tile, unsigned log2_block)
      : first(reinterpret_cast<Row*>(tile.scratch)),
        block(size_t{1} << log2_block),
        blocks(size_t{1} << (tile.log2_rows - log2_block)),
        pitch(block | 1) {}
};

// Asks for a row that will be loaded (kWrite = 0) or stored (1) soon. Not much earlier: rows that are a power of two
// apart drive each other out of all caches.
template <int kWrite>
CUZK_INLINE inline void ask_for_row(const FrTile& tile, const Fr* origin, size_t r) {
  constexpr size_t kLine = 64 / sizeof(Fr);
  if (tile.row_stride == 1 && r % kLine != 0) return;
  for (size_t c = 0; c < tile.columns; c += tile.column_stride == 1 ? kLine : 1) {
    __builtin_prefetch(origin + r * tile.row_stride + c * tile.column_stride, kWrite);
  }
}
// Row r of the tile, which asks for row `later` of it.
CUZK_INLINE inline Row load_row(const FrTile& tile, size_t r, size_t later) {
  if (later < size_t{1} << tile.log2_rows) ask_for_row<0>(tile, tile.origin, later);
  return Row::load(tile.origin + r * tile.row_stride, tile.column_stride, tile.columns);
}
CUZK_INLINE inline void store_row(const FrTile& tile, const Row& row, size_t r, size_t later) {
  if (later < size_t{1} << tile.log2_rows) ask_for_row<1>(tile, tile.origin, later);
  row.store(tile.origin + r * tile.row_stride, tile.column_stride, tile.columns);
}

// Eight rows become the values of x0 + x1 X + ... + x7 X^7 at t w^k, for w of order 8 and the twiddles t, ..., t^7,
// null where t = 1. One of the two orders is reversed. Four products, as w x1 + w^3 x3 and w^3 x1 + w x3 take two: with
// c = (w + w^3)/2 and d = (w - w^3)/2 they are c (x1 + x3) +- d (x1 - x3).
//
// With twiddles the values are up to 13; without them, for rows from 0 to 1, up to 10. Sums of four differences are up
// to 12, all other factors less.
template <bool kFromReversed>
inline void octet(Row* rows, size_t step, const Factor* constants, const Factor* twiddles) {
  constexpr size_t kReversed[] = {0, 4, 2, 6, 1, 5, 3, 7};
  const auto in = [&](size_t j) -> Row& { return rows[(kFromReversed ? kReversed[j] : j) * step]; };
  const auto out = [&](size_t k) -> Row& { return rows[(kFromReversed ? k : kReversed[k]) * step]; };
  if (twiddles) {
    in(0) = in(0).settled();
    for (size_t j = 1; j < 8; j++) in(j) = in(j).times(twiddles[j - 1]);
  }
  // Sums are made from the rows where they are needed, as keeping them costs more than making them again.
  const auto product = [&](const Factor& w, auto sum) CUZK_INLINE {
    Row factor;
    Row::for_each_part([&](auto part)
                           CUZK_INLINE { part(factor) = sum([&](size_t j) CUZK_INLINE { return part(in(j)); }); });
    return factor.times(w);
  };
  const Row t = product(constants[0], [](auto x) CUZK_INLINE { return subtract(add(x(1), x(5)), add(x(3), x(7))); });
  const Row c = product(constants[1], [](auto x) CUZK_INLINE { return subtract(add(x(1), x(3)), add(x(5), x(7))); });
  const Row d = product(constants[2], [](auto x) CUZK_INLINE { return subtract(add(x(1), x(7)), add(x(3), x(5))); });
  const Row i = product(constants[0], [](auto x) CUZK_INLINE { return subtract(x(2), x(6)); });
  Row::for_each_part([&](auto part) CUZK_INLINE {
    const auto x = [&](size_t j) CUZK_INLINE { return part(in(j)); };
    const auto s0 = add(x(0), x(4)), d0 = subtract(x(0), x(4)), s2 = add(x(2), x(6));
    const auto sum = add(s0, s2), odd = add(add(x(1), x(5)), add(x(3), x(7))), difference = subtract(s0, s2);
    const auto plus = add(d0, part(i)), minus = subtract(d0, part(i));
    const auto first = add(part(c), part(d)), third = subtract(part(c), part(d));
    part(out(0)) = add(sum, odd);
    part(out(4)) = subtract(sum, odd);
    part(out(2)) = add(difference, part(t));
    part(out(6)) = subtract(difference, part(t));
    part(out(1)) = add(plus, first);
    part(out(5)) = subtract(plus, first);
    part(out(3)) = add(minus, third);
    part(out(7)) = subtract(minus, third);
  });
  if (twiddles) {
    out(0) = out(0).settled();
    out(4) = out(4).settled();
  }
}

// A group of levels on `count` rows, of which each is the one at `place` of a transform of `places` values.
inline void evaluate_group(Row* rows, size_t stride, size_t count, const Factors& factors, size_t place,
                           size_t places) {
  const bool first = places == 1;
  size_t h = 1;
  if (kOctets && count >= 8) {
    const Factor* twiddles = first ? nullptr : factors.twiddles + Factors::kTwiddles * place;
    for (size_t b = 0; b < count; b += 8) octet<true>(rows + b * stride, stride, factors.constants, twiddles);
    h = 8;
  }
  for (; h < count; h *= 2) {
    const Factor* w = factors.levels + h * places - 1 + place;
    for (size_t b = 0; b < count; b += 2 * h) {
      for (size_t i = 0; i < h; i++) {
        Row &lo = rows[(b + i) * stride], &hi = rows[(b + h + i) * stride];
        if (!first && h == 1) lo = lo.settled();
        Row::butterfly(lo, hi, first && i == 0 ? nullptr : w + i * places);
      }
    }
  }
}
// A group of levels on the `count` rows of block `block` of `blocks`.
inline void interpolate_group(Row* rows, size_t stride, size_t count, const Factors& factors, size_t block,
                              size_t blocks) {
  const bool first = blocks == 1;
  size_t h = count / 2;
  if (kOctets && count >= 8) {
    const Factor* twiddles = first ? nullptr : factors.twiddles + Factors::kTwiddles * block;
    for (size_t i = 0; i < count / 8; i++) {
      octet<false>(rows + i * stride, count / 8 * stride, factors.constants, twiddles);
    }
    h = count / 16;
  }
  for (; h > 0; h /= 2) {
    const Factor* w = factors.levels + block * count / (2 * h);
    for (size_t b = 0; b < count; b += 2 * h, w++) {
      for (size_t i = 0; i < h; i++) {
        Row &lo = rows[(b + i) * stride], &hi = rows[(b + h + i) * stride];
        if (!first && 2 * h == count) lo = lo.settled();
        Row::butterfly(lo, hi, first && b == 0 ? nullptr : w);
      }
    }
  }
}

// Both work in two groups of levels, so that the rows of a group stay in the first-level cache: those of a block, and
// those at the same place of all blocks. After the first group a row is up to 16, but the first of a block up to 33,
// which a product could not take; after the second up to 19. While a group is loaded, the rows of the next are asked
// for; while it is stored, the places of rows to be stored later, and of the next tile the rows of its first group.
constexpr size_t kStoresAhead = 8;

inline void fr_evaluate(const FrTile& tile) {
  const Rows rows(tile, std::min(tile.log2_rows, kGroup));
  const Factors factors(tile.factors);
  const Row* powers = reinterpret_cast<const Row*>(tile.powers);
  for (size_t b = 0; b < rows.blocks; b++) {
    Row* const block = rows.first + b * rows.pitch;
    for (size_t i = 0; i < rows.block; i++) {
      const size_t r = b * rows.block + i;
      block[i] = load_row(tile, r, r + rows.block);
      if (powers) block[i] = block[i].scaled(powers[r]);
    }
    evaluate_group(block, 1, rows.block, factors, 0, 1);
    block[0] = block[0].settled();
  }
  for (size_t place = 0; place < rows.block; place++) {
    evaluate_group(rows.first + place, rows.pitch, rows.blocks, factors, place, rows.block);
    Row::settle_all(rows.first + place, rows.pitch, rows.blocks);
    for (size_t b = 0; b < rows.blocks; b++) {
      const size_t r = b * rows.block + place;
      store_row(tile, rows.first[b * rows.pitch + place], r, r + kStoresAhead * rows.block);
    }
    if (tile.next) ask_for_row<0>(tile, tile.next, place);
  }
}
inline void fr_interpolate(const FrTile& tile) {
  const Rows rows(tile, tile.log2_rows - std::min(tile.log2_rows, kGroup));
  const Factors factors(tile.factors);
  const Row* powers = reinterpret_cast<const Row*>(tile.powers);
  for (size_t place = 0; place < rows.block; place++) {
    Row* const first = rows.first + place;
    for (size_t b = 0; b < rows.blocks; b++) {
      const size_t r = b * rows.block + place;
      first[b * rows.pitch] = load_row(tile, r, place + 1 < rows.block ? r + 1 : ~size_t{0});
    }
    interpolate_group(first, rows.pitch, rows.blocks, factors, 0, 1);
    *first = first->settled();
  }
  for (size_t b = 0; b < rows.blocks; b++) {
    Row* const block = rows.first + b * rows.pitch;
    interpolate_group(block, 1, rows.block, factors, b, rows.blocks);
    for (size_t i = 0; powers && i < rows.block; i++) {
      block[i] = block[i].settled().scaled(powers[b * rows.block + i]);
    }
    Row::settle_all(block, 1, rows.block);
    for (size_t i = 0; i < rows.block; i++) {
      const size_t r = b * rows.block + i;
      store_row(tile, block[i], r, r + kStoresAhead);
    }
    if (tile.next) ask_for_row<0>(tile, tile.next, b * rows.block);
  }
}
