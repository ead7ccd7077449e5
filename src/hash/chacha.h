#pragma once
// The ChaCha keystream (Bernstein 2008) with 8 or 20 rounds, as Filecoin draws parents and challenges from it.

#include <array>
#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace cuzk::hash {

// One keystream block of 16 words. `rounds` is even. The last four state words are the block counter and the 96-bit
// nonce of RFC 8439; the original 64-bit counter equals it below 2^32 with a zero nonce.
std::array<uint32_t, 16> chacha_block(const Bytes32& key, const std::array<uint8_t, 12>& nonce, uint32_t counter,
                                      unsigned rounds);

// Keystream words in order, counter from 0.
class ChaCha {
 public:
  ChaCha(const Bytes32& key, unsigned rounds, const std::array<uint8_t, 12>& nonce = {})
      : key_(key), nonce_(nonce), rounds_(rounds) {}

  // The next four bytes of the stream, little-endian.
  uint32_t next_u32();
  // Two words, low word first.
  uint64_t next_u64() {
    const uint64_t low = next_u32();
    return low | static_cast<uint64_t>(next_u32()) << 32;
  }
  // Continues at the 4-byte word with this index.
  void seek(uint64_t word);

 private:
  Bytes32 key_;
  std::array<uint8_t, 12> nonce_;
  unsigned rounds_;
  uint64_t next_ = 0;                 // index of the next word
  std::array<uint32_t, 16> block_{};  // holds word next_ unless next_ % 16 == 0
};

}  // namespace cuzk::hash
