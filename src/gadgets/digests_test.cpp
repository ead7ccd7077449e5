// Digests of single gadgets (filecoin-spec H.4): the gadget's inputs are allocated first, in the order written there.

#include <gtest/gtest.h>

#include "gadgets/merkle.h"
#include "r1cs/digest.h"

namespace cuzk::gadgets {
namespace {

using Cs = r1cs::Recorder;

std::vector<Num<Cs>> nums(Cs& cs, size_t count) {
  std::vector<Num<Cs>> out;
  for (size_t i = 0; i < count; i++) out.push_back(alloc_num(cs, {}));
  return out;
}
Bits<Cs> bits(Cs& cs, size_t count) {
  Bits<Cs> out(count);
  alloc_bits<Cs>(cs, 0, out);
  return out;
}
void poseidon_of(Cs& cs, size_t arity) { poseidon(cs, nums(cs, arity)); }
void sha256_of(Cs& cs, size_t count) { sha256(cs, bits(cs, count)); }
void insert_of(Cs& cs, size_t index_bits) {
  Num<Cs> element = alloc_num(cs, {});
  Bits<Cs> index = bits(cs, index_bits);
  insert<Cs>(cs, element, index, nums(cs, (size_t{1} << index_bits) - 1));
}
void select_of(Cs& cs, size_t index_bits) {
  Bits<Cs> index = bits(cs, index_bits);
  select<Cs>(cs, nums(cs, size_t{1} << index_bits), index);
}
void public_path(Cs& cs, NodeHash hash, std::vector<unsigned> arities) {
  Num<Cs> leaf = alloc_num(cs, {});
  Bits<Cs> index;
  Num<Cs> computed = path_root<Cs>(cs, hash, arities, leaf, {}, index);
  pack_into_inputs<Cs>(cs, index);
  Num<Cs> root = alloc_num(cs, {});
  enforce_equal(cs, computed, root);
  inputize(cs, root);
}

struct Case {
  const char* name;
  std::function<void(Cs&)> build;
  uint32_t inputs, aux, rows;
  const char* blake2s;
};

const Case kCases[] = {
    {"poseidon-2", [](Cs& cs) { poseidon_of(cs, 2); }, 1, 313, 311,
     "658f013f99360e164ad8e7f96290944601cc064f93c153d9ea7ac1275927175f"},
    {"poseidon-4", [](Cs& cs) { poseidon_of(cs, 4); }, 1, 381, 377,
     "2360602a7c4555d454b46891236273f4ae308090bc916fdcef1fb81d00ebbe70"},
    {"poseidon-8", [](Cs& cs) { poseidon_of(cs, 8); }, 1, 513, 505,
     "ab50aeda63344f7125999ef5c4af7777380b9015ec82ad48bac2213e9353b163"},
    {"poseidon-11", [](Cs& cs) { poseidon_of(cs, 11); }, 1, 609, 598,
     "e94a28106cbb9a718e525f0f2593ce3b138350047854ebcc3c83472ed482a6f6"},
    {"poseidon-2, tag 2^40", [](Cs& cs) { poseidon(cs, nums(cs, 2), hash::kRandomnessTag); }, 1, 313, 311,
     "9675551c881122d99caf9a20a4bf87878e1863c432265a33e98e1c1a74e246a8"},
    {"sha256 of 256 bits", [](Cs& cs) { sha256_of(cs, 256); }, 1, 25474, 25500,
     "e43d5115fdc6f42c40a70704fa0ca7b231f7c540347d2c172a3f6cb386ae47cc"},
    {"sha256 of 512 bits", [](Cs& cs) { sha256_of(cs, 512); }, 1, 45340, 45386,
     "39b920088193af138e8d3494179b1d9a20442bb23e28e65028b068c6a9e48771"},
    {"sha256 of 9984 bits", [](Cs& cs) { sha256_of(cs, 9984); }, 1, 532356, 532876,
     "a645ded7abea625b5610543a2696820a1a0cf096a622ad67acf9cb120f185f1a"},
    {"one compression, constant state",
     [](Cs& cs) {
       Sha256Words<Cs> state;
       for (size_t i = 0; i < 8; i++) state[i] = constant_word<Cs>(hash::kSha256Initial[i]);
       Bits<Cs> block = bits(cs, 512);
       sha256_compress<Cs>(cs, state, std::span<const Bit<Cs>, 512>(block));
     },
     1, 26326, 26352, "a91be46c89fe4cb18f85d99956bf9b1afe0a96d1b6c960a30d4e9dcafcf501ba"},
    {"to_bits_le", [](Cs& cs) { to_bits_le(cs, alloc_num(cs, {})); }, 1, 256, 256,
     "fe8f60dff8688ec7c39a8ebb4750cc381c306c9f430d43e0fcf0ca5a23025477"},
    {"inputize", [](Cs& cs) { inputize(cs, alloc_num(cs, {})); }, 2, 1, 1,
     "9a80349396358224199986b5125f236bdb36314cf4afaf88d292562bb637f8f9"},
    {"pack_into_inputs of 64 bits", [](Cs& cs) { pack_into_inputs<Cs>(cs, bits(cs, 64)); }, 2, 64, 65,
     "0e7238471f4402dc32ca8354d8439889c3433f14c5130cce08f4f3a2a2b00e70"},
    {"insert among 2", [](Cs& cs) { insert_of(cs, 1); }, 1, 5, 3,
     "82c023e06614e98ea7c276fdb9fe7a756bd3f7bd064d54df4bb919aaa9e3d62e"},
    {"insert among 4", [](Cs& cs) { insert_of(cs, 2); }, 1, 14, 10,
     "f17eed7b87158455ecd1851388db6d1de1498c170e1b1a855c2949ef64af717e"},
    {"insert among 8", [](Cs& cs) { insert_of(cs, 3); }, 1, 33, 25,
     "393a19b029a34f2ab275a6bdec18b8aa306a9ce353209262944e3be6ec1180a6"},
    {"select of 8", [](Cs& cs) { select_of(cs, 3); }, 1, 18, 10,
     "67d90d44b749b1a0013173f0d04eee605731f8e352264cd0df8adf4e3baa6fe0"},
    {"select of 128", [](Cs& cs) { select_of(cs, 7); }, 1, 262, 134,
     "3432d0cb3a897e5ce24da71d0d12d6aeeed21e4386a250973accb364e151ee8a"},
    {"SHA-256 node",
     [](Cs& cs) {
       std::vector<Num<Cs>> x = nums(cs, 2);
       sha256_node(cs, x[0], x[1]);
     },
     1, 45333, 45379, "17fd4b5ddd5b8fe8759308f1b1b019e3a9e00d179d227b5e64580e48a233b91e"},
    {"encode",
     [](Cs& cs) {
       std::vector<Num<Cs>> x = nums(cs, 2);
       sum(cs, x[0], x[1]);
     },
     1, 3, 1, "569cd1e3504c51153e6da36c1f60623b9ffe92ac6e7e30e4c593241b0336a04f"},
    {"path sha256 2-0-0",
     [](Cs& cs) {
       public_path(cs, NodeHash::kSha256, {2, 2, 2, 2, 2, 2});
     },
     3, 272012, 272295, "06101b213e985a06aa97367fb756d504912d2edfa7169fe7390f3563e2b7bdbf"},
    {"path 2-0-0",
     [](Cs& cs) {
       public_path(cs, NodeHash::kPoseidon, {2, 2, 2, 2, 2, 2});
     },
     3, 1892, 1887, "e4a6b97ab322b5265befdbededdd16353db058e22cd88a9a9960f0f32efb95e9"},
    {"path 4-0-0",
     [](Cs& cs) {
       public_path(cs, NodeHash::kPoseidon, {4, 4, 4});
     },
     3, 1172, 1164, "ec45a446c4037ab2077accf70eff6ac48a5beba219648491be3e67a3f4b0c68c"},
    {"path 8-0-0",
     [](Cs& cs) {
       public_path(cs, NodeHash::kPoseidon, {8, 8});
     },
     3, 1076, 1063, "3bd8cb4719e1ce8b020c078159a77bd5cf9d8eca04ed094eaca290c621f10a20"},
    {"path 8-2-0",
     [](Cs& cs) {
       public_path(cs, NodeHash::kPoseidon, {8, 8, 2});
     },
     3, 1391, 1377, "a04df283d7f0ecff20e7c42f6bb497b2714c70c4124f5489e881c23e67814070"},
    {"path 8-4-2",
     [](Cs& cs) {
       public_path(cs, NodeHash::kPoseidon, {8, 8, 4, 2});
     },
     3, 1781, 1764, "6badd752fa6a04dc492ae54080ea68de802e67510aaad087c7a83abb2158624a"},
    {"path 8-8-0",
     [](Cs& cs) {
       public_path(cs, NodeHash::kPoseidon, {8, 8, 8});
     },
     3, 1613, 1593, "eca5c6440650cc590e477789dbbcc685627355c9c5dc6008dcb9fc6bfb8d34b8"},
    {"path 8-8-2",
     [](Cs& cs) {
       public_path(cs, NodeHash::kPoseidon, {8, 8, 8, 2});
     },
     3, 1928, 1907, "1aaf5b3ff8221455ad5ba57746f23db956a2de780213b68d65d8ea0165607e84"},
    {"path 8-0-0, private root",
     [](Cs& cs) {
       Num<Cs> leaf = alloc_num(cs, {});
       const unsigned arities[] = {8, 8};
       Bits<Cs> index;
       Num<Cs> computed = path_root<Cs>(cs, NodeHash::kPoseidon, arities, leaf, {}, index);
       pack_into_inputs<Cs>(cs, index);
       enforce_equal(cs, computed, alloc_num(cs, {}));
     },
     2, 1076, 1062, "a87d5c076c5882911c7073da19dba3a6bc1cfb7bd107afae8a18337734146519"},
};

TEST(GadgetDigests, AreTheReferences) {
  exec::Pool pool(2);
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    Cs cs;
    c.build(cs);
    r1cs::CircuitDigest digest = r1cs::digest(std::move(cs).finish(c.name), pool);
    EXPECT_EQ(digest.num_inputs, c.inputs);
    EXPECT_EQ(digest.num_aux, c.aux);
    EXPECT_EQ(digest.num_constraints, c.rows);
    EXPECT_EQ(to_hex(digest.blake2s), c.blake2s);
  }
}

}  // namespace
}  // namespace cuzk::gadgets
