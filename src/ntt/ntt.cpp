#include "ntt/ntt.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "field/kernels.h"

namespace cuzk::ntt {
namespace {

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

}  // namespace

Domain::Domain(unsigned log2_size, exec::Pool& pool) : log2_size_(log2_size), root_(fr_root_of_unity(log2_size)) {
  assert(log2_size <= kMaxLog2Size);
  const unsigned half = log2_size / 2;
  low_powers_ = powers(root_, size_t{1} << half);
  high_powers_ = powers(root_.pow(uint64_t{1} << half), size_t{1} << (log2_size - half));

  // Two passes as soon as their tiles are full.
  constexpr unsigned kFull = 2 * std::countr_zero(FrTile::kColumns), kMost = FrTile::kMaxLog2Rows;
  const unsigned pass_count = log2_size < kFull ? 1 : std::max(2u, (log2_size + kMost - 1) / kMost);
  passes_.resize(pass_count);
  unsigned left = log2_size;
  for (unsigned p = 0; p < pass_count; p++) {
    const unsigned rows = (left + pass_count - p - 1) / (pass_count - p);
    left -= rows;
    passes_[p].rows = size_t{1} << rows;
    passes_[p].columns = size_t{1} << left;
  }

  // No pass has more rows than the first, and tables serve fewer rows too.
  const unsigned log2_rows = static_cast<unsigned>(std::countr_zero(passes_[0].rows));
  pool.for_each(factors_.size(), [&](size_t i) {
    factors_[i].resize(FrTile::factors_of(log2_rows) * kernels().fr_factor_words);
    kernels().fr_factors(factors_[i].data(), log2_rows, root_power(Direction(i), passes_[0].columns), i == kEvaluate);
  });
}

size_t Domain::bytes() const {
  return (low_powers_.size() + high_powers_.size()) * sizeof(Fr) +
         (factors_[kEvaluate].size() + factors_[kInterpolate].size()) * sizeof(uint64_t);
}

Fr Domain::root_power(Direction direction, size_t exponent) const {
  exponent = (direction == kEvaluate ? exponent : size() - exponent) & (size() - 1);
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

// Row r of a pass on blocks of m elements belongs to the coefficients q mod rows with q = reverse(r); its column j is
// multiplied by (shift^(n/m) * w_m^j)^q before the row transform when evaluating, and divided by it afterwards when
// interpolating. The first pass divides by n too.
void Domain::run_pass(const Pass& pass, Direction direction, Points points, std::span<Fr> data,
                      exec::Pool& pool) const {
  const size_t rows = pass.rows, block = pass.rows * pass.columns, blocks = size() / block;
  const size_t width = std::min(FrTile::kColumns, size() / rows);
  const bool one_column = pass.columns == 1;  // the last pass: the columns of a tile are consecutive blocks
  Fr shift = points == Points::kCoset ? Fr::from_u64(kFrGenerator).pow(blocks) : Fr::one(), scale = Fr::one();
  if (direction == kInterpolate) {
    shift = shift.inverse();
    if (&pass == &passes_[0]) scale = Fr::from_u64(size()).inverse();
  }
  const bool has_powers = !one_column || shift != Fr::one() || scale != Fr::one();
  const unsigned log2_rows = static_cast<unsigned>(std::countr_zero(rows));
  const auto transform = direction == kEvaluate ? kernels().fr_evaluate : kernels().fr_interpolate;

  // Tiles of the same columns in all blocks follow each other, because they share their powers.
  const size_t tiles = size() / (rows * width);
  pool.for_each_chunk(tiles, std::max<size_t>(1, tiles / (16 * pool.threads())), [&](size_t begin, size_t end) {
    alignas(64) uint64_t scratch[FrTile::kMaxScratchWords], powers[FrTile::kMaxWords];
    size_t group_of_powers = tiles;
    for (size_t index = begin; index < end; index++) {
      const size_t group = one_column ? 0 : index / blocks;
      if (has_powers && group != group_of_powers) {
        Fr bases[FrTile::kColumns];
        for (size_t c = 0; c < FrTile::kColumns; c++) {
          bases[c] = one_column ? shift : shift * root_power(direction, (group * width + c) * blocks);
        }
        kernels().fr_powers(powers, log2_rows, bases, scale);
        group_of_powers = group;
      }
      FrTile tile{.columns = width,
                  .log2_rows = log2_rows,
                  .factors = factors_[direction].data(),
                  .powers = has_powers ? powers : nullptr,
                  .scratch = scratch};
      const auto origin = [&](size_t i) {
        return one_column ? &data[i * width * block] : &data[i % blocks * block + i / blocks * width];
      };
      tile.origin = origin(index);
      tile.next = index + 1 < end ? origin(index + 1) : nullptr;
      tile.row_stride = one_column ? 1 : pass.columns;
      tile.column_stride = one_column ? block : 1;
      transform(tile);
    }
  });
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
