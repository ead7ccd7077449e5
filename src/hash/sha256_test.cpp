#include "hash/sha256.h"

#include <gtest/gtest.h>
#include <openssl/sha.h>

#include <algorithm>

#include "base/testing.h"

namespace cuzk::hash {
namespace {

Bytes random_bytes(std::mt19937_64& random, size_t count) {
  Bytes out(count);
  for (uint8_t& byte : out) byte = static_cast<uint8_t>(random());
  return out;
}

Bytes32 openssl_sha256(ByteSpan message) {
  Bytes32 out;
  SHA256(message.data(), message.size(), out.data());
  return out;
}

TEST(Sha256, EqualsOpenSslAtAllLengths) {
  auto random = testing::rng();
  for (size_t length = 0; length <= 300; length++) {
    const Bytes message = random_bytes(random, length);
    EXPECT_EQ(sha256(message), openssl_sha256(message)) << length;
    Bytes32 expected = openssl_sha256(message);
    expected[31] %= 64;
    EXPECT_EQ(sha256_fr(message), expected) << length;
  }
}

TEST(Sha256, PiecesDoNotMatter) {
  auto random = testing::rng();
  for (int i = 0; i < 50; i++) {
    const Bytes message = random_bytes(random, random() % 1000);
    Sha256 hash;
    for (size_t done = 0; done < message.size();) {
      const size_t piece = std::min<size_t>(random() % 150, message.size() - done);
      hash.update(ByteSpan(message).subspan(done, piece));
      done += piece;
    }
    EXPECT_EQ(hash.finish(), openssl_sha256(message)) << message.size();
  }
}

TEST(Sha256, EveryKernelCompresses) {
  auto random = testing::rng();
  for (const Sha256Kernel& kernel : sha256_kernels()) {
    for (size_t count : {0, 1, 2, 3, 17}) {
      const Bytes message = random_bytes(random, 64 * count);
      Bytes blocks = message;  // and the padding block of a message of whole blocks
      blocks.resize(64 * (count + 1));
      blocks[64 * count] = 0x80;
      store_be(blocks.data() + blocks.size() - 8, uint64_t{512 * count});
      Sha256State state = kSha256Initial;
      kernel.compress(state, blocks.data(), count + 1);
      Bytes32 digest;
      for (size_t i = 0; i < 8; i++) store_be(digest.data() + 4 * i, state[i]);
      EXPECT_EQ(digest, openssl_sha256(message)) << kernel.name << " " << count;
    }
  }
  EXPECT_STREQ(sha256_kernels().back().name, "portable");
}

TEST(Sha256, NodeIsTheTruncatedHashOfBothChildren) {
  auto random = testing::rng();
  for (int i = 0; i < 20; i++) {
    const Bytes both = random_bytes(random, 64);
    Bytes32 left, right, expected = openssl_sha256(both);
    std::copy_n(both.begin(), 32, left.begin());
    std::copy_n(both.begin() + 32, 32, right.begin());
    expected[31] %= 64;
    EXPECT_EQ(sha256_node(left, right), expected);
  }
}

}  // namespace
}  // namespace cuzk::hash
