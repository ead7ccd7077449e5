#pragma once
// SHA-256 as rows. Source: filecoin-spec A.10, A.11.

#include "gadgets/pack.h"
#include "gadgets/word.h"
#include "hash/sha256.h"

namespace cuzk::gadgets {

template <class CS>
using Sha256Words = std::array<Word<CS>, 8>;

// A sum of up to eight words that is only made when it is needed.
template <class CS>
class Deferred {
 public:
  Deferred(std::initializer_list<Word<CS>> words) : count_(words.size()) { std::ranges::copy(words, words_.begin()); }

  Word<CS> get(CS& cs, MultiEq<CS>& equations) const {
    return count_ == 1 ? words_[0] : add_many<CS>(cs, equations, std::span(words_).first(count_));
  }
  // This sum and one more word.
  Deferred plus(const Word<CS>& word) const {
    Deferred out = *this;
    out.words_[out.count_++] = word;
    return out;
  }

 private:
  std::array<Word<CS>, 8> words_;
  size_t count_;
};

// One compression over 512 bits in the order of the byte stream, most significant bit of each byte first.
template <class CS>
Sha256Words<CS> sha256_compress(CS& cs, const Sha256Words<CS>& state, std::span<const Bit<CS>, 512> block) {
  std::array<Word<CS>, 64> w;
  for (size_t i = 0; i < 16; i++) w[i] = word_of<CS>(block.subspan(32 * i, 32));

  MultiEq<CS> equations(cs);
  auto sum = [&](std::initializer_list<Word<CS>> words) {
    return add_many<CS>(cs, equations, {words.begin(), words.size()});
  };
  auto xor3 = [&](const Word<CS>& x, const Word<CS>& y, const Word<CS>& z) {
    return word_xor(cs, word_xor(cs, x, y), z);
  };

  for (size_t i = 16; i < 64; i++) {
    Word<CS> s0 = xor3(rotr(w[i - 15], 7), rotr(w[i - 15], 18), shr(w[i - 15], 3));
    Word<CS> s1 = xor3(rotr(w[i - 2], 17), rotr(w[i - 2], 19), shr(w[i - 2], 10));
    w[i] = sum({w[i - 16], s0, w[i - 7], s1});
  }

  Deferred<CS> a = {state[0]}, e = {state[4]};
  Word<CS> b = state[1], c = state[2], d = state[3], f = state[5], g = state[6], h = state[7];
  for (size_t i = 0; i < 64; i++) {
    Word<CS> new_e = e.get(cs, equations);
    Word<CS> s1 = xor3(rotr(new_e, 6), rotr(new_e, 11), rotr(new_e, 25));
    Word<CS> choice = word_choose(cs, new_e, f, g);
    const Deferred<CS> t1 = {h, s1, choice, constant_word<CS>(hash::kSha256Round[i]), w[i]};

    Word<CS> new_a = a.get(cs, equations);
    Word<CS> s0 = xor3(rotr(new_a, 2), rotr(new_a, 13), rotr(new_a, 22));
    Word<CS> majority = word_majority(cs, new_a, b, c);

    h = g, g = f, f = new_e;
    e = t1.plus(d);
    d = c, c = b, b = new_a;
    a = t1.plus(s0).plus(majority);
  }

  Sha256Words<CS> out;
  out[0] = a.plus(state[0]).get(cs, equations);
  out[1] = sum({state[1], b});
  out[2] = sum({state[2], c});
  out[3] = sum({state[3], d});
  out[4] = e.plus(state[4]).get(cs, equations);
  out[5] = sum({state[5], f});
  out[6] = sum({state[6], g});
  out[7] = sum({state[7], h});
  equations.close();
  return out;
}

// SHA-256 of bits in byte-stream order; a multiple of 8. The result is in the same order.
template <class CS>
Bits<CS> sha256(CS& cs, Bits<CS> bits) {
  const uint64_t length = bits.size();
  bits.push_back(Bit<CS>::constant(true));
  while (bits.size() % 512 != 448) bits.push_back(Bit<CS>::constant(false));
  for (int i = 63; i >= 0; i--) bits.push_back(Bit<CS>::constant(length >> i & 1));

  Sha256Words<CS> state;
  for (size_t i = 0; i < 8; i++) state[i] = constant_word<CS>(hash::kSha256Initial[i]);
  for (size_t at = 0; at < bits.size(); at += 512) {
    std::array<Bit<CS>, 512> block;
    std::copy_n(bits.begin() + static_cast<ptrdiff_t>(at), 512, block.begin());
    state = cs.region(
        "sha256_compress",
        [](CS& inner, const Sha256Words<CS>& words, const std::array<Bit<CS>, 512>& message) {
          return sha256_compress<CS>(inner, words, message);
        },
        state, block);
  }
  Bits<CS> out;
  out.reserve(256);
  for (const Word<CS>& word : state) {
    for (size_t i = 32; i-- > 0;) out.push_back(word[i]);
  }
  return out;
}

// The digest as a number: its first 254 bits in little-endian order, that is, with the two top bits of the last byte
// cleared.
template <class CS>
Num<CS> sha256_to_num(CS& cs, Bits<CS> bits) {
  return pack_bits(cs, reverse_bit_numbering(sha256(cs, std::move(bits))));
}

// Node of the binary SHA-256 tree over two numbers. Spec A.11.
template <class CS>
Num<CS> sha256_node(CS& cs, const Num<CS>& left, const Num<CS>& right) {
  Bits<CS> bits = reverse_bit_numbering(to_bits_le(cs, left));
  Bits<CS> right_bits = reverse_bit_numbering(to_bits_le(cs, right));
  bits.insert(bits.end(), right_bits.begin(), right_bits.end());
  return sha256_to_num(cs, std::move(bits));
}

}  // namespace cuzk::gadgets
