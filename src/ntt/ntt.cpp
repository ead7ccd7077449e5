#include "ntt/ntt.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "field/kernels.h"

namespace cuzk::ntt {
namespace {

constexpr unsigned kLog2Rows = 8;  // at most, in one pass
constexpr size_t kWidth = 16;      // 512-byte runs of memory
constexpr size_t kTile = (size_t{1} << kLog2Rows) * kWidth;

size_t reverse_bits(size_t value, unsigned bits) {
  size_t out = 0;
  for (unsigned i = 0; i < bits; i++) out |= (value >> i & 1) << (bits - 1 - i);
  return out;
}

std::vector<Fr> powers(const Fr& base, size_t count) {
  std::vector<Fr> out(count);
  Fr power = Fr::one();
  for (Fr& value : out) value = std::exchange(power, power * base);
  return out;
}

// The pieces of a tile between the data and a thread's scratch: element (row, i) of a rows x width tile.
// Where a block is one column (the last pass) the tile's columns are consecutive blocks.
struct TilePlace {
  Fr* origin;
  size_t row_stride, column_stride;

  void load(Fr* tile, size_t rows, size_t width) const {
    if (column_stride == 1) {
      for (size_t r = 0; r < rows; r++) std::copy_n(origin + r * row_stride, width, tile + r * width);
    } else {
      for (size_t c = 0; c < width; c++) {
        for (size_t r = 0; r < rows; r++) tile[r * width + c] = origin[r * row_stride + c * column_stride];
      }
    }
  }
  void store(const Fr* tile, size_t rows, size_t width) const {
    if (column_stride == 1) {
      for (size_t r = 0; r < rows; r++) std::copy_n(tile + r * width, width, origin + r * row_stride);
    } else {
      for (size_t c = 0; c < width; c++) {
        for (size_t r = 0; r < rows; r++) origin[r * row_stride + c * column_stride] = tile[r * width + c];
      }
    }
  }
};

}  // namespace

Domain::Domain(unsigned log2_size, exec::Pool& pool)
    : log2_size_(log2_size), width_(log2_size > kLog2Rows ? kWidth : 1), root_(fr_root_of_unity(log2_size)) {
  assert(log2_size <= kMaxLog2Size);
  const unsigned half = log2_size / 2;
  low_powers_ = powers(root_, size_t{1} << half);
  high_powers_ = powers(root_.pow(uint64_t{1} << half), size_t{1} << (log2_size - half));

  const unsigned pass_count = std::max(1u, (log2_size + kLog2Rows - 1) / kLog2Rows);
  passes_.resize(pass_count);
  unsigned left = log2_size;
  for (unsigned p = 0; p < pass_count; p++) {
    const unsigned rows = (left + pass_count - p - 1) / (pass_count - p);
    left -= rows;
    passes_[p].rows = size_t{1} << rows;
    passes_[p].columns = size_t{1} << left;
  }

  const size_t max_rows = passes_[0].rows;
  for (Direction direction : {kEvaluate, kInterpolate}) {
    std::vector<Fr>& table = row_twiddles_[direction];
    table.resize((max_rows - 1) * width_);
    for (size_t h = 1; h < max_rows; h *= 2) {
      for (size_t i = 0; i < h; i++) {
        const size_t exponent = i * (size() / (2 * h));
        std::fill_n(&table[(h - 1 + i) * width_], width_,
                    root_power(direction == kEvaluate ? exponent : size() - exponent));
      }
    }
  }

  // Row r of a pass on blocks of m elements belongs to the coefficients q mod rows with q = reverse(r); its column j is
  // multiplied by (shift^(n/m) * w_m^j)^q before the row transform when evaluating, and divided by it afterwards when
  // interpolating. The first pass divides by n too.
  pool.for_each(pass_count * 4, [&](size_t task) {
    Pass& pass = passes_[task / 4];
    const auto direction = static_cast<Direction>(task / 2 % 2);
    const auto points = static_cast<Points>(task % 2);
    const size_t blocks = size() / (pass.rows * pass.columns);
    Fr shift = points == Points::kCoset ? Fr::from_u64(kFrGenerator).pow(blocks) : Fr::one();
    Fr scale = Fr::one();
    if (direction == kInterpolate) {
      shift = shift.inverse();
      if (&pass == &passes_[0]) scale = Fr::from_u64(size()).inverse();
    }
    const bool distinct_columns = pass.columns > 1;
    if (!distinct_columns && shift == Fr::one() && scale == Fr::one()) return;
    std::vector<Fr>& table = pass.twiddles[direction][static_cast<size_t>(points)];
    table.resize(pass.rows * width_);
    for (size_t j = 0; j < width_; j++) {
      const size_t exponent = distinct_columns ? j * blocks : 0;
      const Fr base = shift * root_power(direction == kEvaluate ? exponent : size() - exponent);
      Fr power = scale;
      for (size_t q = 0; q < pass.rows; q++) {
        table[reverse_bits(q, static_cast<unsigned>(std::countr_zero(pass.rows))) * width_ + j] = power;
        power *= base;
      }
    }
  });
}

size_t Domain::bytes() const {
  size_t elements = low_powers_.size() + high_powers_.size();
  for (const auto& table : row_twiddles_) elements += table.size();
  for (const Pass& pass : passes_) {
    for (const auto& direction : pass.twiddles) {
      for (const auto& table : direction) elements += table.size();
    }
  }
  return elements * sizeof(Fr);
}

// w^exponent for exponent <= size().
Fr Domain::root_power(size_t exponent) const {
  exponent &= size() - 1;
  const unsigned half = log2_size_ / 2;
  return low_powers_[exponent & ((size_t{1} << half) - 1)] * high_powers_[exponent >> half];
}

void Domain::evaluate(Points points, std::span<Fr> data, exec::Pool& pool) const { run(kEvaluate, points, data, pool); }
void Domain::interpolate(Points points, std::span<Fr> data, exec::Pool& pool) const {
  run(kInterpolate, points, data, pool);
}

void Domain::run(Direction direction, Points points, std::span<Fr> data, exec::Pool& pool) const {
  assert(data.size() == size());
  for (size_t p = 0; p < passes_.size(); p++) {
    run_pass(passes_[direction == kEvaluate ? passes_.size() - 1 - p : p], direction, points, data, pool);
  }
}

void Domain::run_pass(const Pass& pass, Direction direction, Points points, std::span<Fr> data,
                      exec::Pool& pool) const {
  const size_t rows = pass.rows, block = pass.rows * pass.columns, blocks = size() / block;
  const size_t tile_elements = rows * width_;
  const std::vector<Fr>& first_twiddles = pass.twiddles[direction][static_cast<size_t>(points)];

  // Tiles of the same columns in all blocks follow each other, because they share their twiddles.
  const size_t tiles = size() / tile_elements;
  const size_t grain = std::max<size_t>(1, tiles / (16 * pool.threads()));
  pool.for_each_chunk(tiles, grain, [&](size_t begin, size_t end) {
    alignas(64) Fr tile[kTile], scaled_twiddles[kTile];
    const Fr* twiddles = first_twiddles.empty() ? nullptr : first_twiddles.data();
    size_t scaled_for = 0;
    for (size_t index = begin; index < end; index++) {
      const bool last_pass = pass.columns == 1;  // whose tiles are whole blocks
      const size_t group = last_pass ? 0 : index / blocks;
      const TilePlace place = last_pass ? TilePlace{&data[index * width_ * block], 1, block}
                                        : TilePlace{&data[index % blocks * block + group * width_], pass.columns, 1};
      if (group != scaled_for) {
        for (size_t r = 0; r < rows; r++) {
          const size_t exponent =
              reverse_bits(r, static_cast<unsigned>(std::countr_zero(rows))) * group * width_ * blocks;
          std::fill_n(scaled_twiddles + r * width_, width_,
                      root_power(direction == kEvaluate ? exponent : size() - exponent));
        }
        kernels().fr_mul(scaled_twiddles, scaled_twiddles, first_twiddles.data(), tile_elements);
        twiddles = scaled_twiddles;
        scaled_for = group;
      }
      place.load(tile, rows, width_);
      if (direction == kEvaluate && twiddles) kernels().fr_mul(tile, tile, twiddles, tile_elements);
      transform_tile(direction, tile, rows);
      if (direction == kInterpolate && twiddles) kernels().fr_mul(tile, tile, twiddles, tile_elements);
      place.store(tile, rows, width_);
    }
  });
}

// Columns of a tile, halves first or last: reversed to natural order when evaluating, natural to reversed otherwise.
void Domain::transform_tile(Direction direction, Fr* tile, size_t rows) const {
  if (rows == 1) return;
  const size_t half = rows / 2, run = half * width_;
  const Fr* twiddles = row_twiddles_[direction].data() + half * width_;  // those after w^0
  Fr* const upper = tile + run;
  if (direction == kEvaluate) {
    transform_tile(direction, tile, half);
    transform_tile(direction, upper, half);
    kernels().fr_butterfly_dit(tile + width_, upper + width_, twiddles, run - width_);
  } else {
    kernels().fr_butterfly_dif(tile + width_, upper + width_, twiddles, run - width_);
  }
  for (size_t i = 0; i < width_; i++) {
    const Fr lower = tile[i];
    tile[i] = lower + upper[i];
    upper[i] = lower - upper[i];
  }
  if (direction == kInterpolate) {
    transform_tile(direction, tile, half);
    transform_tile(direction, upper, half);
  }
}

void bit_reverse(std::span<Fr> data, exec::Pool& pool) {
  assert(std::has_single_bit(data.size()));
  constexpr unsigned kSide = 4;  // bits; tiles of 2^4 x 2^4 elements
  const unsigned bits = static_cast<unsigned>(std::countr_zero(data.size()));
  if (bits < 2 * kSide) {
    for (size_t i = 0; i < data.size(); i++) {
      if (size_t j = reverse_bits(i, bits); i < j) std::swap(data[i], data[j]);
    }
    return;
  }
  // Index = (high, middle, low); tiles of one middle trade places with those of the reversed middle, a cache line at a
  // time.
  const unsigned middle_bits = bits - 2 * kSide;
  std::array<size_t, size_t{1} << kSide> reversed;
  for (size_t i = 0; i < reversed.size(); i++) reversed[i] = reverse_bits(i, kSide);
  pool.for_each_chunk(size_t{1} << middle_bits, 64, [&](size_t begin, size_t end) {
    for (size_t middle = begin; middle < end; middle++) {
      const size_t partner = reverse_bits(middle, middle_bits);
      if (partner < middle) continue;
      for (size_t high = 0; high < reversed.size(); high++) {
        for (size_t low = 0; low < reversed.size(); low++) {
          const size_t from = (high << middle_bits | middle) << kSide | low;
          const size_t to = (reversed[low] << middle_bits | partner) << kSide | reversed[high];
          if (partner != middle || from < to) std::swap(data[from], data[to]);
        }
      }
    }
  });
}

void forward(const Domain& domain, std::span<Fr> data, exec::Pool& pool) {
  bit_reverse(data, pool);
  forward_from_reversed(domain, data, pool);
}
void inverse(const Domain& domain, std::span<Fr> data, exec::Pool& pool) {
  inverse_to_reversed(domain, data, pool);
  bit_reverse(data, pool);
}
void coset_forward(const Domain& domain, std::span<Fr> data, exec::Pool& pool) {
  bit_reverse(data, pool);
  coset_forward_from_reversed(domain, data, pool);
}
void coset_inverse(const Domain& domain, std::span<Fr> data, exec::Pool& pool) {
  coset_inverse_to_reversed(domain, data, pool);
  bit_reverse(data, pool);
}

}  // namespace cuzk::ntt
