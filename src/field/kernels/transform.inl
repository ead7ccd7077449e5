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

// Rows in blocks, with a gap after each of more than one row: a distance of 2^5 rows would bring all rows of a group
// into the same few sets of the first-level cache.
struct Rows {
  Row* first;
  unsigned log2_block;
  size_t block, pitch;

  Rows(const FrTile& tile, unsigned log2_rows_of_block)
      : first(reinterpret_cast<Row*>(tile.scratch)),
        log2_block(log2_rows_of_block),
        block(size_t{1} << log2_block),
        pitch(block | 1) {}
  Row& operator[](size_t r) const { return first[(r >> log2_block) * pitch + (r & (block - 1))]; }
};

// Reads the next tile ahead, a share of its rows at each of `shares` places of the work on this one: asks for the rows
// of share `share` and copies those of the share before, which have come by then. Asking alone would not do: rows that
// are a power of two apart drive each other out of the second-level cache too.
inline void read_ahead(const FrTile& tile, size_t share, size_t shares) {
  if (tile.next == nullptr) return;
  constexpr size_t kLine = 64 / sizeof(Fr);
  const size_t rows = (size_t{1} << tile.log2_rows) / shares;
  for (size_t r = share * rows; share < shares && r < (share + 1) * rows; r++) {
    for (size_t c = 0; c < tile.columns; c += tile.column_stride == 1 ? kLine : 1) {
      __builtin_prefetch(tile.next + r * tile.row_stride + c * tile.column_stride);
    }
  }
  for (size_t r = (share - 1) * rows; share > 0 && r < share * rows; r++) {
    for (size_t c = 0; c < tile.columns; c++) {
      tile.ahead[r * FrTile::kColumns + c] = tile.next[r * tile.row_stride + c * tile.column_stride];
    }
  }
}
inline Row load_row(const FrTile& tile, size_t r) {
  return tile.is_ahead ? Row::load(tile.ahead + r * FrTile::kColumns, 1, tile.columns)
                       : Row::load(tile.origin + r * tile.row_stride, tile.column_stride, tile.columns);
}

// Two groups of levels, so that the rows of a group stay in the first-level cache: those of a block, then those at the
// same place of all blocks. A distance h in the second group is one of so many blocks.
inline void evaluate_rows(const FrTile& tile, const Rows& rows, size_t blocks) {
  const Factor* factors = reinterpret_cast<const Factor*>(tile.factors);
  for (size_t b = 0; b < blocks; b++) {
    Row* const block = rows.first + b * rows.pitch;
    unsigned level = 0;
    for (size_t h = 1; h < rows.block; h *= 2, level++) {
      for (Row* lo = block; lo < block + rows.block; lo += 2 * h) {
        Row::first_butterfly(lo[0], lo[h], level);
        for (size_t i = 1; i < h; i++) Row::butterfly(lo[i], lo[h + i], factors[h - 1 + i]);
      }
    }
  }
  for (size_t place = 0; place < rows.block; place++) {
    read_ahead(tile, place, rows.block);
    for (size_t h = 1; h < blocks; h *= 2) {
      const Factor* w = factors + h * rows.block - 1 + place;
      for (size_t b = 0; b < blocks; b += 2 * h) {
        for (size_t i = 0; i < h; i++) {
          Row &lo = rows.first[(b + i) * rows.pitch + place], &hi = rows.first[(b + h + i) * rows.pitch + place];
          if (h == 1) lo = lo.settled();
          Row::butterfly(lo, hi, w[i * rows.block]);
        }
      }
    }
  }
  read_ahead(tile, rows.block, rows.block);
}
// The same place of all blocks, then each block.
inline void interpolate_rows(const FrTile& tile, const Rows& rows, size_t blocks) {
  const Factor* factors = reinterpret_cast<const Factor*>(tile.factors);
  for (size_t place = 0; place < rows.block; place++) {
    read_ahead(tile, place, rows.block);
    unsigned level = 0;
    for (size_t h = blocks / 2; h > 0; h /= 2, level++) {
      for (size_t b = 0; b < blocks; b += 2 * h) {
        for (size_t i = 0; i < h; i++) {
          Row &lo = rows.first[(b + i) * rows.pitch + place], &hi = rows.first[(b + h + i) * rows.pitch + place];
          if (b == 0) {
            Row::first_butterfly(lo, hi, level);
          } else {
            Row::butterfly(lo, hi, factors[b / (2 * h)]);
          }
        }
      }
    }
  }
  for (size_t b = 0; b < blocks; b++) {
    Row* const block = rows.first + b * rows.pitch;
    for (size_t h = rows.block / 2; h > 0; h /= 2) {
      const Factor* w = factors + b * rows.block / (2 * h);
      for (Row* lo = block; lo < block + rows.block; lo += 2 * h, w++) {
        for (size_t i = 0; i < h; i++) {
          if (h == rows.block / 2) lo[i] = lo[i].settled();
          Row::butterfly(lo[i], lo[h + i], *w);
        }
      }
    }
  }
  read_ahead(tile, rows.block, rows.block);
}

inline void fr_evaluate(const FrTile& tile) {
  const size_t count = size_t{1} << tile.log2_rows;
  const Rows rows(tile, std::min(tile.log2_rows, kGroup));
  const Row* powers = reinterpret_cast<const Row*>(tile.powers);
  for (size_t r = 0; r < count; r++) {
    rows[r] = powers ? load_row(tile, r).scaled(powers[r]) : load_row(tile, r);
  }
  evaluate_rows(tile, rows, count / rows.block);
  for (size_t r = 0; r < count; r++) {
    rows[r].store(tile.origin + r * tile.row_stride, tile.column_stride, tile.columns);
  }
}
inline void fr_interpolate(const FrTile& tile) {
  const size_t count = size_t{1} << tile.log2_rows;
  const Rows rows(tile, tile.log2_rows - std::min(tile.log2_rows, kGroup));
  const Row* powers = reinterpret_cast<const Row*>(tile.powers);
  for (size_t r = 0; r < count; r++) rows[r] = load_row(tile, r);
  interpolate_rows(tile, rows, count / rows.block);
  for (size_t r = 0; r < count; r++) {
    Fr* to = tile.origin + r * tile.row_stride;
    if (powers) {
      rows[r].store_scaled(powers[r], to, tile.column_stride, tile.columns);
    } else {
      rows[r].store(to, tile.column_stride, tile.columns);
    }
  }
}
