#pragma once
// Between field elements and bits. Source: filecoin-spec A.7, A.11.

#include "gadgets/boolean.h"

namespace cuzk::gadgets {

inline constexpr size_t kFieldBits = 255;
inline constexpr size_t kPackedBits = 254;  // CAPACITY: any 254 bits are below r

template <class CS>
using Bits = std::vector<Bit<CS>>;

// sum of 2^i * bits[i], for at most 254 bits.
template <class CS>
typename CS::Value packed_value(std::span<const Bit<CS>> bits) {
  return value_of<CS>([&] {
    Fr::Limbs limbs{};
    for (size_t i = 0; i < bits.size(); i++) limbs[i / 64] |= uint64_t{static_cast<bool>(bits[i].value)} << (i % 64);
    return *Fr::from_canonical(limbs);
  });
}

inline void add_packed(r1cs::Combination& combination, std::span<const Bit<r1cs::Recorder>> bits) {
  for (size_t i = 0; i < bits.size(); i++) add(combination, bits[i], power_of_two(static_cast<unsigned>(i)));
}

// Row (sum 2^i b_i) * (ONE) = (x).
template <class CS>
void enforce_packed(CS& cs, std::span<const Bit<CS>> bits, const Num<CS>& x) {
  cs.enforce([&](auto& row) {
    add_packed(row.a, bits);
    add_one(row.b);
    add(row.c, x);
  });
}

// The 255 bits of x, least significant first, each with its boolean row; the caller adds the row that ties them to x.
template <class CS>
Bits<CS> alloc_field_bits(CS& cs, const Num<CS>& x) {
  Bits<CS> bits(kFieldBits);
  std::array<uint64_t, 4> limbs{};
  if constexpr (!CS::kRecords) limbs = x.value.canonical();
  for (size_t i = 0; i < 4; i++) {
    alloc_bits(cs, limbs[i], std::span(bits).subspan(64 * i, std::min<size_t>(64, kFieldBits - 64 * i)));
  }
  return bits;
}

// Decomposition used everywhere but in the update circuit: 255 bits, last row (0) * (0) = (sum 2^i b_i - x). Spec
// A.7.1.
template <class CS>
Bits<CS> to_bits_le(CS& cs, const Num<CS>& x) {
  return cs.region(
      "to_bits_le",
      [](CS& inner, const Num<CS>& number) {
        Bits<CS> bits = alloc_field_bits(inner, number);
        inner.enforce([&](auto& row) {
          add_packed(row.c, bits);
          add(row.c, number, -Fr::one());
        });
        return bits;
      },
      x);
}

// The update circuit's decomposition: last row (sum 2^i b_i) * (ONE) = (x). Spec A.7.3.
template <class CS>
Bits<CS> allocated_num_to_bits(CS& cs, const Num<CS>& x) {
  return cs.region(
      "allocated_num_to_bits",
      [](CS& inner, const Num<CS>& number) {
        Bits<CS> bits = alloc_field_bits(inner, number);
        enforce_packed<CS>(inner, bits, number);
        return bits;
      },
      x);
}

// A number of the first 254 bits: row (sum 2^i b_i) * (ONE) = (v). Spec A.7.4.
template <class CS>
Num<CS> pack_bits(CS& cs, Bits<CS> bits) {
  if (bits.size() > kPackedBits) bits.resize(kPackedBits);
  return cs.region(
      "pack_bits",
      [](CS& inner, const Bits<CS>& packed) {
        Num<CS> v = alloc_num(inner, packed_value<CS>(packed));
        enforce_packed<CS>(inner, packed, v);
        return v;
      },
      bits);
}

// One public input for each 254 bits: row (sum 2^i b_i) * (ONE) = (input). Spec A.7.5.
template <class CS>
void pack_into_inputs(CS& cs, std::span<const Bit<CS>> bits) {
  for (size_t begin = 0; begin < bits.size(); begin += kPackedBits) {
    std::span<const Bit<CS>> chunk = bits.subspan(begin, std::min(kPackedBits, bits.size() - begin));
    enforce_packed(cs, chunk, alloc_input(cs, packed_value<CS>(chunk)));
  }
}

// Pads with zeros to whole bytes and reverses the order of the bits in each byte: from little-endian bit order to the
// order in which SHA-256 reads the encoding, and back. Spec A.11.
template <class CS>
Bits<CS> reverse_bit_numbering(Bits<CS> bits) {
  bits.resize((bits.size() + 7) / 8 * 8, Bit<CS>::constant(false));
  for (size_t byte = 0; byte < bits.size(); byte += 8) {
    std::reverse(bits.begin() + static_cast<ptrdiff_t>(byte), bits.begin() + static_cast<ptrdiff_t>(byte) + 8);
  }
  return bits;
}

}  // namespace cuzk::gadgets
