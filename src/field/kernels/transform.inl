// The transforms of tiles of field/kernels.h, which generic.inl includes, over
//
//   struct Factor, Factor factor_of(value)       a factor of all columns
//   struct Row                                   eight columns of one row
//     static Row load(from, stride, columns)     canonical; as they come where there are fewer than eight
//     void store(to, stride, columns) const      canonical
//     Row scaled(powers) const                   column by column
//     void store_scaled(powers, to, stride, columns) const
//     static void first_butterfly(Row& lo, Row& hi, level)   (lo + hi, lo - hi)
//     static void butterfly(Row& lo, Row& hi, w)             (lo + w hi, lo - w hi)
//     Row settled() const                        the same values, as small as those of load
//   struct RowFactor                             a factor for each column
//     RowFactor(values), void square(), Row times(row) const, static Row one(scale)
//
// Values may grow: no row meets more than kGroup butterflies after load, scaled or settled, and the first butterflies,
// which are the first of these, come in the order of their levels, from 0.

constexpr unsigned kGroup = 5;

inline void fr_factors(uint64_t* out, const Fr* values, size_t count) {
  for (size_t i = 0; i < count; i++) reinterpret_cast<Factor*>(out)[i] = factor_of(values[i]);
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

// Two groups of levels, so that the rows of a group stay in the first-level cache: blocks of rows, then rows far apart.
inline void evaluate_rows(Row* rows, unsigned log2_rows, const Factor* factors) {
  const size_t count = size_t{1} << log2_rows, near = size_t{1} << std::min(log2_rows, kGroup);
  for (size_t block = 0; block < count; block += near) {
    unsigned level = 0;
    for (size_t h = 1; h < near; h *= 2, level++) {
      for (Row* lo = rows + block; lo < rows + block + near; lo += 2 * h) {
        Row::first_butterfly(lo[0], lo[h], level);
        for (size_t i = 1; i < h; i++) Row::butterfly(lo[i], lo[h + i], factors[h - 1 + i]);
      }
    }
  }
  for (size_t first = 0; first < near; first++) {
    for (size_t h = near; h < count; h *= 2) {
      for (Row* lo = rows; lo < rows + count; lo += 2 * h) {
        for (size_t i = first; i < h; i += near) {
          if (h == near) lo[i] = lo[i].settled();
          Row::butterfly(lo[i], lo[h + i], factors[h - 1 + i]);
        }
      }
    }
  }
}
// Rows far apart, then blocks of rows.
inline void interpolate_rows(Row* rows, unsigned log2_rows, const Factor* factors) {
  const size_t count = size_t{1} << log2_rows, far = count >> std::min(log2_rows, kGroup);
  for (size_t first = 0; first < far; first++) {
    unsigned level = 0;
    for (size_t h = count / 2; h >= far; h /= 2, level++) {
      for (size_t i = first; i < h; i += far) Row::first_butterfly(rows[i], rows[h + i], level);
      const Factor* w = factors + 1;
      for (Row* lo = rows + 2 * h; lo < rows + count; lo += 2 * h, w++) {
        for (size_t i = first; i < h; i += far) Row::butterfly(lo[i], lo[h + i], *w);
      }
    }
  }
  for (size_t block = 0; block < count; block += far) {
    for (size_t h = far / 2; h > 0; h /= 2) {
      const Factor* w = factors + block / (2 * h);
      for (Row* lo = rows + block; lo < rows + block + far; lo += 2 * h, w++) {
        for (size_t i = 0; i < h; i++) {
          if (h == far / 2) lo[i] = lo[i].settled();
          Row::butterfly(lo[i], lo[h + i], *w);
        }
      }
    }
  }
}

inline void fr_evaluate(const FrTile& tile) {
  Row* rows = reinterpret_cast<Row*>(tile.scratch);
  const Row* powers = reinterpret_cast<const Row*>(tile.powers);
  for (size_t r = 0; r < size_t{1} << tile.log2_rows; r++) {
    const Row row = Row::load(tile.origin + r * tile.row_stride, tile.column_stride, tile.columns);
    rows[r] = powers ? row.scaled(powers[r]) : row;
  }
  evaluate_rows(rows, tile.log2_rows, reinterpret_cast<const Factor*>(tile.factors));
  for (size_t r = 0; r < size_t{1} << tile.log2_rows; r++) {
    rows[r].store(tile.origin + r * tile.row_stride, tile.column_stride, tile.columns);
  }
}
inline void fr_interpolate(const FrTile& tile) {
  Row* rows = reinterpret_cast<Row*>(tile.scratch);
  const Row* powers = reinterpret_cast<const Row*>(tile.powers);
  for (size_t r = 0; r < size_t{1} << tile.log2_rows; r++) {
    rows[r] = Row::load(tile.origin + r * tile.row_stride, tile.column_stride, tile.columns);
  }
  interpolate_rows(rows, tile.log2_rows, reinterpret_cast<const Factor*>(tile.factors));
  for (size_t r = 0; r < size_t{1} << tile.log2_rows; r++) {
    Fr* to = tile.origin + r * tile.row_stride;
    if (powers) {
      rows[r].store_scaled(powers[r], to, tile.column_stride, tile.columns);
    } else {
      rows[r].store(to, tile.column_stride, tile.columns);
    }
  }
}
