#include "hash/chacha.h"

#include <bit>

namespace cuzk::hash {

std::array<uint32_t, 16> chacha_block(const Bytes32& key, const std::array<uint8_t, 12>& nonce, uint32_t counter,
                                      unsigned rounds) {
  std::array<uint32_t, 16> initial = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};  // "expand 32-byte k"
  for (size_t i = 0; i < 8; i++) initial[4 + i] = load_le<uint32_t>(key.data() + 4 * i);
  initial[12] = counter;
  for (size_t i = 0; i < 3; i++) initial[13 + i] = load_le<uint32_t>(nonce.data() + 4 * i);

  std::array<uint32_t, 16> x = initial;
  auto quarter = [&x](size_t a, size_t b, size_t c, size_t d) {
    x[a] += x[b], x[d] = std::rotl(x[d] ^ x[a], 16);
    x[c] += x[d], x[b] = std::rotl(x[b] ^ x[c], 12);
    x[a] += x[b], x[d] = std::rotl(x[d] ^ x[a], 8);
    x[c] += x[d], x[b] = std::rotl(x[b] ^ x[c], 7);
  };
  for (unsigned round = 0; round < rounds; round += 2) {
    for (size_t i = 0; i < 4; i++) quarter(i, i + 4, i + 8, i + 12);
    for (size_t i = 0; i < 4; i++) quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
  }
  for (size_t i = 0; i < 16; i++) x[i] += initial[i];
  return x;
}

uint32_t ChaCha::next_u32() {
  if (next_ % 16 == 0) block_ = chacha_block(key_, nonce_, static_cast<uint32_t>(next_ / 16), rounds_);
  return block_[next_++ % 16];
}

void ChaCha::seek(uint64_t word) {
  next_ = word;
  block_ = chacha_block(key_, nonce_, static_cast<uint32_t>(next_ / 16), rounds_);
}

}  // namespace cuzk::hash
