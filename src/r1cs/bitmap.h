#pragma once
// Bitmaps as vectors of 64-bit words, bit i in word i / 64.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace cuzk::r1cs {

inline std::vector<uint64_t> make_bitmap(size_t bits) { return std::vector<uint64_t>((bits + 63) / 64); }
inline bool test_bit(std::span<const uint64_t> map, size_t i) { return map[i / 64] >> (i % 64) & 1; }
inline void set_bit(std::span<uint64_t> map, size_t i) { map[i / 64] |= uint64_t{1} << (i % 64); }

inline uint64_t count_bits(std::span<const uint64_t> map) {
  uint64_t count = 0;
  for (uint64_t word : map) count += static_cast<uint64_t>(std::popcount(word));
  return count;
}

// `count` <= 64 bits from position `at`; the bits must lie inside the map.
inline uint64_t read_bits(std::span<const uint64_t> map, size_t at, unsigned count) {
  uint64_t value = map[at / 64] >> (at % 64);
  if (at % 64 + count > 64) value |= map[at / 64 + 1] << (64 - at % 64);
  return count == 64 ? value : value & ((uint64_t{1} << count) - 1);
}

// map[at ..] |= the low `count` <= 64 bits of value, whose other bits are zero.
inline void or_word(std::span<uint64_t> map, size_t at, uint64_t value, unsigned count) {
  map[at / 64] |= value << (at % 64);
  if (at % 64 + count > 64) map[at / 64 + 1] |= value >> (64 - at % 64);
}

// map[at .. at + count) |= source[from .. from + count)
inline void or_bits(std::span<uint64_t> map, size_t at, std::span<const uint64_t> source, size_t from, size_t count) {
  for (size_t i = 0; i < count; i += 64) {
    unsigned n = static_cast<unsigned>(std::min<size_t>(64, count - i));
    or_word(map, at + i, read_bits(source, from + i, n), n);
  }
}

}  // namespace cuzk::r1cs
