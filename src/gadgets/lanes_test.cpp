// Where an assigner works on many values at once: against the same one by one.

#include <gtest/gtest.h>

#include "base/testing.h"
#include "gadgets/merkle.h"
#include "r1cs/testing.h"

namespace cuzk::gadgets {
namespace {

using r1cs::Assigner;
using r1cs::Recorder;

struct Opening {
  std::vector<Fr> leaf;
  std::vector<PathLevel> levels;
};

template <class CS>
std::vector<Num<CS>> alloc_leaf(CS& cs, size_t size, const Opening* opening) {
  std::vector<Num<CS>> out;
  for (size_t i = 0; i < size; i++) out.push_back(alloc_num(cs, value_of<CS>([&] { return opening->leaf[i]; })));
  return out;
}

// A number of openings, their paths climbed together, between other variables.
template <class CS>
void together(CS& cs, std::span<const unsigned> arities, size_t leaf, size_t count, const Opening* openings) {
  PoseidonPaths<CS> paths({arities.begin(), arities.end()});
  for (size_t i = 0; i < count; i++) {
    const Opening* opening = openings ? openings + i : nullptr;
    Bits<CS> index;
    std::span<const PathLevel> levels;
    if (opening) levels = opening->levels;
    paths.root(cs, alloc_leaf(cs, leaf, opening), levels, index);
    pack_bits(cs, index);
  }
  paths.flush(cs);
}
template <class CS>
void one_by_one(CS& cs, std::span<const unsigned> arities, size_t count, const Opening* openings) {
  for (size_t i = 0; i < count; i++) {
    std::vector<Num<CS>> leaf = alloc_leaf(cs, openings[i].leaf.size(), openings + i);
    Bits<CS> index;
    path_root(cs, NodeHash::kPoseidon, arities, leaf.size() == 1 ? leaf[0] : poseidon(cs, leaf), openings[i].levels,
              index);
    pack_bits(cs, index);
  }
}

TEST(PoseidonPaths, TogetherAsOneByOne) {
  exec::Pool pool(2);
  auto random = testing::rng();
  const unsigned arities[] = {8, 4, 2};
  for (size_t leaf : {1, 2, 11}) {
    for (size_t count : {1, 7, 8, 9, 17}) {
      SCOPED_TRACE(fmt::format("{} leaves of {}", count, leaf));
      std::vector<Opening> openings(count);
      for (Opening& opening : openings) {
        for (size_t i = 0; i < leaf; i++) opening.leaf.push_back(testing::random_field<Fr>(random));
        for (unsigned arity : arities) {
          PathLevel& level = opening.levels.emplace_back();
          level.index = random() % arity;
          for (unsigned i = 1; i < arity; i++) level.siblings.push_back(testing::random_field<Fr>(random));
        }
      }
      Recorder recorder;
      together<Recorder>(recorder, arities, leaf, count, nullptr);
      const r1cs::Circuit circuit = std::move(recorder).finish("paths");
      const r1cs::Witness witness = r1cs::testing::make_witness(circuit),
                          expected = r1cs::testing::make_witness(circuit);
      Assigner first(circuit, witness), second(circuit, expected);
      together(first, arities, leaf, count, openings.data());
      one_by_one(second, arities, count, openings.data());
      ASSERT_TRUE(first.finish());
      ASSERT_TRUE(second.finish());
      EXPECT_TRUE(std::ranges::equal(witness.fields, expected.fields));
      EXPECT_TRUE(std::ranges::equal(witness.bits, expected.bits));
      EXPECT_EQ(r1cs::first_unsatisfied(r1cs::WitnessView(circuit, witness), pool), circuit.num_constraints);
    }
  }
}

// A word of bits of every kind, as often as not of one kind in long runs.
template <class CS>
Word<CS> random_word(std::mt19937_64& random) {
  const uint32_t constant = static_cast<uint32_t>(random() & random()), value = static_cast<uint32_t>(random());
  const uint32_t negated = static_cast<uint32_t>(random() & random());
  const unsigned shift = static_cast<unsigned>(random() % 32);
  Word<CS> out{value, random() % 4 == 0 ? 0 : random() % 2 ? constant : ~(~0u >> shift), 0};
  out.negated = random() % 2 ? negated & ~out.constant : 0;
  return out;
}

TEST(Words, ExclusiveOrAsOfBits) {
  auto random = testing::rng();
  for (int i = 0; i < 2000; i++) {
    const Word<Assigner> x = random_word<Assigner>(random), y = random_word<Assigner>(random);
    std::array<uint64_t, 1> whole_bits{}, single_bits{};
    Assigner whole(32, {{}, whole_bits, {}}), single(32, {{}, single_bits, {}});
    const Word<Assigner> got = word_xor(whole, x, y);
    Word<Assigner> expected;
    for (size_t bit = 0; bit < 32; bit++) expected.set(bit, bit_xor(single, x[bit], y[bit]));
    ASSERT_EQ(got.value, expected.value);
    ASSERT_EQ(got.constant, expected.constant);
    ASSERT_EQ(got.negated, expected.negated);
    ASSERT_EQ(whole.position().aux, single.position().aux);
    ASSERT_EQ(whole_bits, single_bits);
  }
}

TEST(Words, ShiftsAndBits) {
  auto random = testing::rng();
  for (int i = 0; i < 500; i++) {
    const Word<Assigner> x = random_word<Assigner>(random);
    const unsigned n = static_cast<unsigned>(1 + random() % 31);
    const Word<Assigner> shifted = shr(x, n);
    Bits<Assigner> bits;
    for (size_t bit = 32; bit-- > 0;) bits.push_back(x[bit]);
    const Word<Assigner> same = word_of<Assigner>(bits);
    for (size_t bit = 0; bit < 32; bit++) {
      const Bit<Assigner> expected = bit + n < 32 ? x[bit + n] : Bit<Assigner>::constant(false);
      ASSERT_EQ(shifted[bit].kind, expected.kind);
      ASSERT_EQ(shifted[bit].value, expected.value);
      ASSERT_EQ(same[bit].kind, x[bit].kind);
      ASSERT_EQ(same[bit].value, x[bit].value);
    }
  }
}

}  // namespace
}  // namespace cuzk::gadgets
