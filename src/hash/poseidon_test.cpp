#include "hash/poseidon.h"

#include <gtest/gtest.h>
#include <openssl/sha.h>

#include <numeric>

#include "base/bytes.h"
#include "base/testing.h"

namespace cuzk::hash {
namespace {

using Vector = std::vector<Fr>;

Bytes32 little_endian(const Fr& x) {
  Bytes32 out;
  x.to_bytes_le(out);
  return out;
}

std::string sha256_hex(const Vector& values) {
  Bytes bytes;
  for (const Fr& value : values) {
    const Bytes32 le = little_endian(value);
    bytes.insert(bytes.end(), le.begin(), le.end());
  }
  Bytes32 digest;
  SHA256(bytes.data(), bytes.size(), digest.data());
  return to_hex(digest);
}

Vector consecutive(unsigned first, unsigned count) {
  Vector out;
  for (unsigned i = 0; i < count; i++) out.push_back(Fr::from_u64(first + i));
  return out;
}

// B.4, the definition: rounds of constants, S-boxes and the Cauchy matrix, nothing rearranged.
Fr plain_hash(const Vector& preimage, const Fr& tag) {
  const size_t width = preimage.size() + 1;
  const Vector constants = poseidon_round_constants(static_cast<unsigned>(preimage.size()));
  const size_t rounds = constants.size() / width, half = kPoseidonFullRounds / 2;
  Vector inverse(2 * width);  // of width and above; M[i][j] = 1 / (i + j + width)
  for (size_t i = 0; i + 1 < 2 * width; i++) inverse[i] = Fr::from_u64(i + width).inverse();
  Vector state{tag};
  state.insert(state.end(), preimage.begin(), preimage.end());
  for (size_t round = 0; round < rounds; round++) {
    for (size_t i = 0; i < width; i++) {
      state[i] += constants[round * width + i];
      if (i == 0 || round < half || round >= rounds - half) state[i] = state[i].pow(5);
    }
    Vector next(width);
    for (size_t i = 0; i < width; i++) {
      for (size_t j = 0; j < width; j++) next[i] += inverse[i + j] * state[j];
    }
    state = next;
  }
  return state[1];
}

struct Digests {
  unsigned arity;
  const char *round_constants, *compressed, *pre_sparse, *sparse;
};
// filecoin-spec B.9.
constexpr Digests kDigests[] = {
    {2, "cf4dfb7448132022e22b32e3dce6b125cb06329448f9e8d8fe53a71c73cbe6d4",
     "b768b730ce5198394d948d76421ab53b08cc16ec1ac082cf503f370192253e16",
     "13d6e8e5ba45b0d2096617d055499f36adad1aab6853de143ed42b14eea9a0f6",
     "a2fe507a83bddb8d57e5a00e7e58e79800c272b0db7dd4141943f6e567e99138"},
    {4, "91e463d6553415b3901b9f26b2ad53e6298ac3e5ab0ef260d397bafe8bdde98e",
     "3e4ec19ded2c86a89f3d6bddc13d9571a0cc5473e7207cfbaf6a8169a69f5709",
     "aee67dfb1ae8c43eca89f5742a745c6309f2d302ab741b75d2641b7025d87413",
     "f1c3c3a9fe9ea4a3c38c91971e5f379da38123fe1dcf960b461d84c5ba759f2b"},
    {8, "9a4a743575f0eaf285c93d73f8adaf4e7ef4042c2445b42bddaf1a64e5face72",
     "f5a94aea73a583d080abdf7d71259fab9107f5523a4a1eddc41468f94564dd16",
     "dcfbdaea3eb7e347664c8f881c5443b1895f10c85cab0878022eb287defa8587",
     "3f823785875d8cc161c963d2a62d103a3fefab30eb4244cef877d8e624fb79f4"},
    {11, "479dc0d71d694cd50d853dec0c94aeb37df2a69929eaa23b545a52b1226aec06",
     "2d7c0e4e9b98eda82102b69f1a964ae59ccf98b0008b6d3d632d86f4fea79d1d",
     "f2a7353f0ce5ad724a7a58bf2db0e37f7c5662f064a6c97466021af83279a96e",
     "810a4d7f126f6e5fb3eb1980b57c70f90bb835219373d955726e30b3ca931556"},
};

TEST(Poseidon, ConstantsHaveThePublishedDigests) {
  for (const Digests& expected : kDigests) {
    const PoseidonConstants& constants = poseidon_constants(expected.arity);
    EXPECT_EQ(sha256_hex(poseidon_round_constants(expected.arity)), expected.round_constants);
    EXPECT_EQ(sha256_hex(constants.compressed_round_constants), expected.compressed);
    EXPECT_EQ(sha256_hex(constants.pre_sparse), expected.pre_sparse);
    Vector sparse;
    for (const SparseMatrix& matrix : constants.sparse) {
      sparse.insert(sparse.end(), matrix.w_hat.begin(), matrix.w_hat.end());
      sparse.insert(sparse.end(), matrix.v_rest.begin(), matrix.v_rest.end());
    }
    EXPECT_EQ(sha256_hex(sparse), expected.sparse);
    EXPECT_EQ(constants.width, expected.arity + 1);
    EXPECT_EQ(constants.sparse.size(), constants.partial_rounds);
    EXPECT_EQ(constants.compressed_round_constants.size(), 8 * constants.width + constants.partial_rounds);
  }
}

TEST(Poseidon, PublishedHashes) {
  struct Case {
    Vector preimage;
    Fr tag;
    const char* digest;
  };
  // filecoin-spec B.9.
  const Case cases[] = {
      {consecutive(0, 2), merkle_tag(2), "ffe7029a363c202e9da6059d33a9fba661e1ef02d90f9e736ba5765ed7086539"},
      {consecutive(0, 4), merkle_tag(4), "5d076266ff149801ec2713bf05466bfb99932279653cdb008a84e5a9104ba558"},
      {consecutive(0, 8), merkle_tag(8), "e6a5386df534992ad9aec49c9d2e684b777067114200011255dea5a31d619423"},
      {consecutive(0, 11), merkle_tag(11), "6331692bc3bbe3cec18fb0ccd8dcf3097ae8eb32e237a56c287f22e5b2c10f0c"},
      {consecutive(1, 2), merkle_tag(2), "bea95f3e83d91793d896586e724ec069769d6a43afcbab7b4d1f7f6506816f6d"},
      {consecutive(1, 8), merkle_tag(8), "7ec0e1c106a134b810eee278ecefca3ee8c429116af3d14376e0c48f2ed4ed04"},
      {consecutive(1, 11), merkle_tag(11), "bd8022e95811611cf4df43adad526f4ccabcda49af1e79861696800ecd7e8104"},
      {consecutive(1, 2), kRandomnessTag, "3c2fe9b59c5f0de453bbb6db5c84af5448c7d4c1fbf41830ab05dbaf9b872c70"},
      {{Fr::one(), Fr::zero()}, merkle_tag(2), "5e0b807960ff39b3af9430dcb30759ec264fa274cc03c093c36b78beff942f04"},
  };
  for (const Case& c : cases) EXPECT_EQ(to_hex(little_endian(poseidon(c.preimage, c.tag))), c.digest);
}

TEST(Poseidon, PublishedBinaryTreeRoot) {
  const Fr one = Fr::one(), zero;
  const Fr root = poseidon(Vector{poseidon(Vector{one, zero}), poseidon(Vector{zero, one})});
  EXPECT_EQ(root.canonical(),
            (Fr::Limbs{0xefbb8be3e291e671, 0x77cc72b8cb2b5ad2, 0x30eb6385ae6b74ae, 0x1effebb7b26ad9eb}));
}

TEST(Poseidon, OptimisedFormEqualsDefinition) {
  auto random = testing::rng();
  for (unsigned arity : kPoseidonArities) {
    for (int i = 0; i < 6; i++) {
      Vector preimage(arity);
      for (Fr& x : preimage) x = testing::random_field<Fr>(random);
      if (i == 0) preimage.assign(arity, Fr::zero());
      if (i == 1) preimage.assign(arity, -Fr::one());  // the largest canonical value
      const Fr tag = i % 2 ? merkle_tag(arity) : testing::random_field<Fr>(random);
      EXPECT_EQ(poseidon(preimage, tag), plain_hash(preimage, tag)) << "arity " << arity << " case " << i;
    }
  }
}

// Every implementation, with as many preimages as its lanes and their neighbours, the largest elements among them.
TEST(Poseidon, EveryKernelEqualsDefinition) {
  std::vector<const Kernels*> all(kernels_available().begin(), kernels_available().end());
  all.push_back(select_kernels("ifma-emulated").value());
  auto random = testing::rng();
  for (unsigned arity : kPoseidonArities) {
    constexpr size_t kMost = 17;
    std::vector<Vector> preimages(kMost, Vector(arity));
    Vector expected;
    for (Vector& preimage : preimages) {
      for (Fr& x : preimage) x = random() % 4 == 0 ? -Fr::one() : testing::random_field<Fr>(random);
      expected.push_back(plain_hash(preimage, merkle_tag(arity)));
    }
    for (const Kernels* kernels : all) {
      const Poseidon hasher(arity, *kernels);
      for (size_t count : {0, 1, 7, 8, 9, 16, 17}) {
        SCOPED_TRACE(fmt::format("{}, {} of arity {}", kernels->name, count, arity));
        std::vector<const Fr*> inputs;
        for (size_t i = 0; i < count; i++) inputs.push_back(preimages[i].data());
        Vector digests(count), alone(count);
        std::vector<Vector> variables(count, Vector(hasher.variables()));
        std::vector<Fr*> outputs;
        for (Vector& row : variables) outputs.push_back(row.data());
        hasher.hash(merkle_tag(arity), inputs, outputs, digests);
        hasher.hash(merkle_tag(arity), inputs, {}, alone);
        EXPECT_EQ(digests, Vector(expected.begin(), expected.begin() + static_cast<ptrdiff_t>(count)));
        EXPECT_EQ(alone, digests);
        for (size_t i = 0; i < count; i++) {
          const Vector& row = variables[i];
          EXPECT_EQ(row.back(), digests[i]);
          for (size_t j = 3 * arity; j + 1 < row.size(); j += 4) {  // the S-boxes but the first
            ASSERT_EQ(row[j + 1], row[j].square()) << j;
            ASSERT_EQ(row[j + 2], row[j + 1].square()) << j;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace cuzk::hash
