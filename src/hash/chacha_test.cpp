#include "hash/chacha.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <memory>

#include "base/testing.h"

namespace cuzk::hash {
namespace {

Bytes serialised(const std::array<uint32_t, 16>& block) {
  Bytes out(64);
  for (size_t i = 0; i < 16; i++) store_le(out.data() + 4 * i, block[i]);
  return out;
}

TEST(ChaCha, Rfc8439Block) {  // RFC 8439 section 2.3.2
  Bytes32 key;
  for (size_t i = 0; i < 32; i++) key[i] = static_cast<uint8_t>(i);
  const std::array<uint8_t, 12> nonce = {0, 0, 0, 9, 0, 0, 0, 0x4a, 0, 0, 0, 0};
  EXPECT_EQ(to_hex(serialised(chacha_block(key, nonce, 1, 20))),
            "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
            "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e");
}

TEST(ChaCha, EightRoundsOfTheZeroKey) {  // draft-strombergson-chacha-test-vectors-00, TC1, 256-bit key, 8 rounds
  EXPECT_EQ(to_hex(serialised(chacha_block({}, {}, 0, 8))),
            "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e"
            "984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42");
}

TEST(ChaCha, StreamEqualsOpenSsl) {
  auto random = testing::rng();
  Bytes32 key;
  std::array<uint8_t, 12> nonce;
  for (uint8_t& byte : key) byte = static_cast<uint8_t>(random());
  for (uint8_t& byte : nonce) byte = static_cast<uint8_t>(random());
  std::array<uint8_t, 16> iv{};  // OpenSSL's IV is the counter and the nonce
  std::copy(nonce.begin(), nonce.end(), iv.begin() + 4);
  const Bytes zeros(1000);
  Bytes expected(zeros.size());
  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context(EVP_CIPHER_CTX_new(),
                                                                                EVP_CIPHER_CTX_free);
  int written = 0;
  ASSERT_EQ(EVP_EncryptInit_ex(context.get(), EVP_chacha20(), nullptr, key.data(), iv.data()), 1);
  ASSERT_EQ(EVP_EncryptUpdate(context.get(), expected.data(), &written, zeros.data(), static_cast<int>(zeros.size())),
            1);

  ChaCha stream(key, 20, nonce);
  for (size_t word = 0; word < 250; word++) {
    EXPECT_EQ(stream.next_u32(), load_le<uint32_t>(expected.data() + 4 * word)) << word;
  }
  for (size_t word : {0, 15, 16, 17, 100, 247}) {
    stream.seek(word);
    EXPECT_EQ(stream.next_u64(), load_le<uint64_t>(expected.data() + 4 * word)) << word;
  }
}

}  // namespace
}  // namespace cuzk::hash
