#pragma once
// 32-bit words of bits and their sums. Source: filecoin-spec A.8, A.9.

#include <bit>

#include "gadgets/boolean.h"

namespace cuzk::gadgets {

// 32 bits, bit 0 least significant. The recorder needs each bit; the assigner works on whole words: bit i of `constant`
// and `negated` tell the kind of bit i, `value` its value.
template <class CS>
struct Word {
  std::array<Bit<CS>, 32> bits{};

  const Bit<CS>& operator[](size_t i) const { return bits[i]; }
  void set(size_t i, const Bit<CS>& bit) { bits[i] = bit; }
};
template <>
struct Word<r1cs::Assigner> {
  uint32_t value = 0, constant = ~0u, negated = 0;

  Bit<r1cs::Assigner> operator[](size_t i) const {
    bool bit = value >> i & 1;
    if (constant >> i & 1) return Bit<r1cs::Assigner>::constant(bit);
    return {negated >> i & 1 ? BitKind::kNot : BitKind::kIs, {}, bit};
  }
  void set(size_t i, const Bit<r1cs::Assigner>& bit) {
    auto put = [i](uint32_t& mask, bool on) { mask = (mask & ~(1u << i)) | static_cast<uint32_t>(on) << i; };
    put(value, bit.value);
    put(constant, bit.is_constant());
    put(negated, bit.kind == BitKind::kNot);
  }
  // Every bit is an un-negated variable: the case that the word-wide paths below serve.
  bool plain() const { return (constant | negated) == 0; }
};

template <class CS>
void visit_signals(Word<CS>& word, const r1cs::SignalVisitor& visit) {
  visit_signals(word.bits, visit);
}

template <class CS>
Word<CS> constant_word(uint32_t value) {
  Word<CS> word;
  if constexpr (CS::kRecords) {
    for (size_t i = 0; i < 32; i++) word.set(i, Bit<CS>::constant(value >> i & 1));
  } else {
    word.value = value;  // and all is constant, as in any new word
  }
  return word;
}

template <class CS>
Word<CS> rotr(const Word<CS>& word, unsigned n) {
  if constexpr (CS::kRecords) {
    Word<CS> out;
    for (size_t i = 0; i < 32; i++) out.set(i, word[(i + n) % 32]);
    return out;
  } else {
    int by = static_cast<int>(n);
    return {std::rotr(word.value, by), std::rotr(word.constant, by), std::rotr(word.negated, by)};
  }
}
template <class CS>
Word<CS> shr(const Word<CS>& word, unsigned n) {
  if constexpr (CS::kRecords) {
    Word<CS> out = rotr(word, n);
    for (size_t i = 32 - n; i < 32; i++) out.set(i, Bit<CS>::constant(false));
    return out;
  } else {
    return {word.value >> n, word.constant >> n | ~(~0u >> n), word.negated >> n};
  }
}
// The word of 32 bits, most significant first.
template <class CS>
Word<CS> word_of(std::span<const Bit<CS>> bits) {
  Word<CS> out;
  if constexpr (CS::kRecords) {
    for (size_t i = 0; i < 32; i++) out.set(31 - i, bits[i]);
  } else {
    for (const Bit<CS>& bit : bits) {
      out.value = out.value << 1 | static_cast<uint32_t>(bit.value);
      out.constant = out.constant << 1 | static_cast<uint32_t>(bit.is_constant());
      out.negated = out.negated << 1 | static_cast<uint32_t>(bit.kind == BitKind::kNot);
    }
  }
  return out;
}

// The bits of value where the mask is set, side by side; the mask has few runs of ones, and a zero.
constexpr uint32_t gathered(uint32_t value, uint32_t mask) {
  uint32_t out = 0;
  for (int at = 0; mask != 0;) {
    const int first = std::countr_zero(mask), run = std::countr_one(mask >> first);
    const uint32_t ones = (1u << run) - 1;
    out |= (value >> first & ones) << at;
    at += run;
    mask &= ~(ones << first);
  }
  return out;
}

template <class CS>
Word<CS> word_xor(CS& cs, const Word<CS>& x, const Word<CS>& y) {
  Word<CS> out;
  if constexpr (CS::kRecords) {
    for (size_t i = 0; i < 32; i++) out.set(i, bit_xor(cs, x[i], y[i]));
  } else {
    // As bit_xor: a constant makes no variable, but negates the other bit where it is one.
    const uint32_t fresh = ~(x.constant | y.constant);
    const uint32_t negations = x.negated ^ y.negated ^ (x.constant & x.value) ^ (y.constant & y.value);
    out.value = x.value ^ y.value;
    out.constant = x.constant & y.constant;
    out.negated = negations & ~out.constant;
    const uint32_t made = out.value ^ out.negated;
    if (fresh == ~0u) {
      cs.alloc_bits(made, 32);
    } else {
      cs.alloc_bits(gathered(made, fresh), static_cast<unsigned>(std::popcount(fresh)));
    }
  }
  return out;
}

template <class CS>
Word<CS> word_choose(CS& cs, const Word<CS>& a, const Word<CS>& b, const Word<CS>& c) {
  if constexpr (!CS::kRecords) {
    if (a.plain() && b.plain() && c.plain()) {
      Word<CS> out{(a.value & b.value) ^ (~a.value & c.value), 0, 0};
      cs.alloc_bits(out.value, 32);
      return out;
    }
  }
  Word<CS> out;
  for (size_t i = 0; i < 32; i++) out.set(i, bit_choose(cs, a[i], b[i], c[i]));
  return out;
}

// Bit i of x becomes bit 2i.
constexpr uint64_t spread(uint32_t x) {
  uint64_t v = x;
  v = (v | v << 16) & 0x0000ffff0000ffff;
  v = (v | v << 8) & 0x00ff00ff00ff00ff;
  v = (v | v << 4) & 0x0f0f0f0f0f0f0f0f;
  v = (v | v << 2) & 0x3333333333333333;
  return (v | v << 1) & 0x5555555555555555;
}

template <class CS>
Word<CS> word_majority(CS& cs, const Word<CS>& a, const Word<CS>& b, const Word<CS>& c) {
  if constexpr (!CS::kRecords) {
    if (a.plain() && b.plain() && c.plain()) {
      uint32_t both = b.value & c.value;
      Word<CS> out{both | (a.value & (b.value | c.value)), 0, 0};
      cs.alloc_bits(spread(out.value) | spread(both) << 1, 64);  // m0, b0 and c0, m1, b1 and c1, ...
      return out;
    }
  }
  Word<CS> out;
  for (size_t i = 0; i < 32; i++) out.set(i, bit_majority(cs, a[i], b[i], c[i]));
  return out;
}

// Collects equalities of small sums into shared rows (spec A.9). One for each compression; close() ends it.
template <class CS>
class MultiEq {
 public:
  explicit MultiEq(CS& cs) : cs_(cs) {}

  // left == right, both below 2^bits; fill(left, right) describes them and is called by recorders only.
  template <class Fill>
  void equal(unsigned bits, Fill&& fill) {
    if constexpr (CS::kRecords) {
      if (used_ + bits >= kPacked) close();
      r1cs::Combination left, right;
      fill(left, right);
      left_.add(left, power_of_two(used_));
      right_.add(right, power_of_two(used_));
      used_ += bits;
    }
  }
  void close() {
    if constexpr (CS::kRecords) {
      if (used_ == 0) return;
      cs_.enforce([&](auto& row) {
        row.a = left_;
        add_one(row.b);
        row.c = right_;
      });
      left_.clear();
      right_.clear();
      used_ = 0;
    }
  }

 private:
  static constexpr unsigned kPacked = 254;
  CS& cs_;
  unsigned used_ = 0;
  r1cs::Combination left_, right_;
};

// Sum of two to ten words modulo 2^32; carries are allocated and dropped (spec A.8).
template <class CS>
Word<CS> add_many(CS& cs, MultiEq<CS>& equations, std::span<const Word<CS>> operands) {
  const unsigned bits = static_cast<unsigned>(std::bit_width(operands.size() * uint64_t{0xffffffff}));
  bool constant = true;
  uint64_t sum = 0;
  for (const Word<CS>& word : operands) {
    if constexpr (CS::kRecords) {
      for (size_t i = 0; i < 32; i++) {
        constant = constant && word[i].is_constant();
        sum += static_cast<uint64_t>(word[i].is(true)) << i;
      }
    } else {
      constant = constant && word.constant == ~0u;
      sum += word.value;
    }
  }
  if (constant) return constant_word<CS>(static_cast<uint32_t>(sum));

  if constexpr (CS::kRecords) {
    std::array<Bit<CS>, 64> result;
    alloc_bits<CS>(cs, 0, std::span(result).first(bits));
    equations.equal(bits, [&](auto& left, auto& right) {
      for (const Word<CS>& word : operands) {
        for (unsigned i = 0; i < 32; i++) add(left, word[i], power_of_two(i));
      }
      for (unsigned i = 0; i < bits; i++) add(right, result[i], power_of_two(i));
    });
    Word<CS> out;
    for (size_t i = 0; i < 32; i++) out.set(i, result[i]);
    return out;
  } else {
    cs.alloc_bits(sum, bits);
    return {static_cast<uint32_t>(sum), 0, 0};
  }
}

}  // namespace cuzk::gadgets
