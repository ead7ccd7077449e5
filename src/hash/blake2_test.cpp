#include "hash/blake2.h"

#include <gtest/gtest.h>

namespace cuzk::hash {
namespace {

// RFC 7693 appendices A and B, and the empty message of the BLAKE2 reference vectors.
TEST(Blake2, PublishedDigests) {
  EXPECT_EQ(to_hex(blake2b_512(as_bytes("abc"))),
            "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
            "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
  EXPECT_EQ(to_hex(blake2b_512({})),
            "786a02f742015903c6c6fd852552d272912f4740e15847618a86e217f71f5419"
            "d25e1031afee585313896444934eb04b903a685b1448b755d56f701afe9be2ce");
  EXPECT_EQ(to_hex(blake2s_256(as_bytes("abc"))), "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982");
  EXPECT_EQ(to_hex(blake2s_256({})), "69217a3079908094e11121d042354a7c1f55b6482ca1a51e1b250dfd1ed0eef9");
}

TEST(Blake2, PiecesDoNotMatter) {
  Bytes message;
  Blake2b512 b;
  Blake2s256 s;
  for (size_t piece = 0; piece < 40; piece++) {
    const Bytes bytes(piece * 7 % 31, static_cast<uint8_t>(piece));
    b.update(bytes);
    s.update(bytes);
    message.insert(message.end(), bytes.begin(), bytes.end());
  }
  EXPECT_EQ(b.finish(), blake2b_512(message));
  EXPECT_EQ(s.finish(), blake2s_256(message));
}

// By the RFC a key is a first block, padded with zeros, and digest and key lengths enter the parameter block; so the
// keyed and shorter hash is no function of the plain one. The expected values come from Python's hashlib.
TEST(Blake2, KeyedDigests) {
  EXPECT_EQ(to_hex(keyed_blake2b_256("key", as_bytes("message"))),
            "a1b1483fd337f6b23318a53b756ad49d2541f3052ffb67515203dd7951b6e94e");
  EXPECT_EQ(to_hex(keyed_blake2b_256("filecoin.io|PoRep|1|Synthetic|1|Generation", {})),
            "0364e533861079b5fcfa8c364d75dfed9288d3bebdb5f8c67b7c09079342fc77");
}

TEST(Sha512, PublishedDigest) {  // FIPS 180 example
  EXPECT_EQ(to_hex(sha512(as_bytes("abc"))),
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
}

}  // namespace
}  // namespace cuzk::hash
