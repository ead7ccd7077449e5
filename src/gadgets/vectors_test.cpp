// Every case of vectors/gadgets that a gadget here stands for: each term of each row, inputs, values and outputs.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/testing.h"
#include "field/text.h"
#include "gadgets/merkle.h"
#include "hash/sha256.h"
#include "r1cs/digest.h"
#include "r1cs/testing.h"

namespace cuzk::gadgets {
namespace {

using Json = nlohmann::json;
using r1cs::Assigner;
using r1cs::Recorder;

std::string text(r1cs::Var var) { return fmt::format("{}{}", var.is_aux() ? 'a' : 'i', var.index()); }

// Allocates a case's operands and collects its outputs. The operands' values are the case's own first variables;
// everything that the gadget computes from them is compared.
template <class CS>
class Bench {
 public:
  Bench(CS& driver, const Json& gadget) : cs(driver), gadget_(gadget) {}

  Num<CS> num() {
    return alloc_num(cs, value_of<CS>([&] { return next(); }));
  }
  std::vector<Num<CS>> nums(size_t count) {
    std::vector<Num<CS>> out;
    for (size_t i = 0; i < count; i++) out.push_back(num());
    return out;
  }
  Bit<CS> variable_bit() {
    if constexpr (CS::kRecords)
      return alloc_bit(cs, {});
    else
      return alloc_bit(cs, !next().is_zero());
  }
  Bit<CS> bit(char operand) {
    if (operand == '0' || operand == '1') return Bit<CS>::constant(operand == '1');
    return operand == 'n' ? !variable_bit() : variable_bit();
  }
  Bits<CS> bits(std::string_view operands) {
    Bits<CS> out;
    for (char operand : operands) out.push_back(bit(operand));
    return out;
  }
  Word<CS> word(char operand, uint32_t value) {
    if (operand == 'c') return constant_word<CS>(value);
    Word<CS> out;
    for (size_t i = 0; i < 32; i++) out.set(i, variable_bit());
    return out;
  }
  std::vector<Word<CS>> words() {
    std::vector<Word<CS>> out;
    const Json& values = gadget_["params"]["values"];
    std::string operands = gadget_["params"].value("operands", std::string(values.size(), 'v'));
    for (size_t i = 0; i < operands.size(); i++) out.push_back(word(operands[i], values[i]));
    return out;
  }

  void output(const Num<CS>& n) {
    if constexpr (CS::kRecords) outputs.push_back(text(n.var));
  }
  void output(const Bit<CS>& b) {
    if constexpr (CS::kRecords) {
      if (b.is_constant()) {
        outputs.push_back(b.is(true) ? "1" : "0");
      } else {
        outputs.push_back((b.kind == BitKind::kNot ? "!" : "") + text(b.var));
      }
    }
  }
  void output(const Word<CS>& w) {
    for (size_t i = 0; i < 32; i++) output(w[i]);
  }
  template <class T>
  void output(const std::vector<T>& items) {
    for (const T& item : items) output(item);
  }

  CS& cs;
  std::vector<std::string> outputs;

 private:
  Fr next() {
    size_t i = allocated_++;
    return gadget_.contains("aux") ? fr_from_hex(gadget_["aux"][i].get<std::string>()).value() : Fr::zero();
  }
  const Json& gadget_;
  size_t allocated_ = 0;
};

// Variables that a path level allocates (spec C.2); tells where the next level's siblings stand among the values.
size_t level_aux(NodeHash hash, unsigned arity) {
  if (hash == NodeHash::kSha256) return 45335;
  return arity == 8 ? 537 : arity == 4 ? 390 : 315;
}

NodeHash hash_of(const Json& params) {
  return params["hasher"] == "sha256_hasher" ? NodeHash::kSha256 : NodeHash::kPoseidon;
}
std::vector<unsigned> arities_of(const Json& params) {
  std::string shape = params["shape"];
  std::vector<unsigned> arities(params["base_rows"], static_cast<unsigned>(shape[0] - '0'));
  for (size_t i : {2, 4}) {
    if (shape[i] != '0') arities.push_back(static_cast<unsigned>(shape[i] - '0'));
  }
  return arities;
}

template <class CS>
void given_path_case(Bench<CS>& b, const Json& params) {
  const std::vector<unsigned> arities = arities_of(params);
  size_t index_bits = 0, siblings = 0;
  for (unsigned arity : arities) {
    index_bits += static_cast<size_t>(std::countr_zero(arity));
    siblings += arity - 1;
  }
  Bits<CS> index = b.bits(std::string(index_bits, 'v'));
  Num<CS> leaf = b.num();
  std::vector<Num<CS>> others = b.nums(siblings);
  Num<CS> root = b.num();
  if (hash_of(params) == NodeHash::kPoseidon) {
    PoseidonPaths<CS> paths(arities);
    enforce_equal(b.cs, paths.root_given(b.cs, {leaf}, index, others), root);
    return paths.flush(b.cs);
  }
  enforce_equal(b.cs, path_root_given<CS>(b.cs, hash_of(params), arities, leaf, index, others), root);
}

template <class CS>
void path_case(Bench<CS>& b, const Json& gadget, bool is_public) {
  const Json& params = gadget["params"];
  NodeHash hash = hash_of(params);
  const std::vector<unsigned> arities = arities_of(params);
  std::vector<PathLevel> levels;
  size_t at = is_public ? 1 : 2;  // after leaf and, if it is given, root
  for (size_t level = 0; level < arities.size(); level++) {
    PathLevel& values = levels.emplace_back();
    values.index = params["indexes"][level];
    for (size_t i = 0; i + 1 < arities[level]; i++) {
      size_t variable = at + static_cast<size_t>(std::countr_zero(arities[level])) + i;
      values.siblings.push_back(gadget.contains("aux") ? fr_from_hex(gadget["aux"][variable].get<std::string>()).value()
                                                       : Fr::zero());
    }
    at += level_aux(hash, arities[level]);
  }
  Num<CS> leaf = b.num();
  if (!is_public) {
    Num<CS> root = b.num();
    if (hash == NodeHash::kSha256) return prove_inclusion<CS>(b.cs, hash, arities, leaf, root, levels);
    PoseidonPaths<CS> paths(arities);
    prove_inclusion<CS>(b.cs, paths, {leaf}, root, levels);
    return paths.flush(b.cs);
  }
  // No Filecoin circuit has a public root of its own: here it is allocated after the path.
  Bits<CS> index;
  Num<CS> computed = path_root<CS>(b.cs, hash, arities, leaf, levels, index);
  pack_into_inputs<CS>(b.cs, index);
  Num<CS> root = alloc_num(b.cs, computed.value);
  enforce_equal(b.cs, computed, root);
  inputize(b.cs, root);
}

template <class CS>
void label_case(Bench<CS>& b, const Json& params) {
  CS& cs = b.cs;
  auto sha_bits = [&] { return reverse_bit_numbering(to_bits_le(cs, b.num())); };
  Bits<CS> preimage = sha_bits();
  std::vector<Bits<CS>> parents;
  for (unsigned i = 0; i < params["parents"]; i++) parents.push_back(sha_bits());
  Bits<CS> node(64);
  alloc_bits<CS>(cs, params["node"], node);
  for (int i = 31; i >= 0; i--)
    preimage.push_back(Bit<CS>::constant(params["layer"].template get<uint32_t>() >> i & 1));
  preimage.insert(preimage.end(), node.rbegin(), node.rend());
  preimage.resize(512, Bit<CS>::constant(false));
  for (size_t i = 0; i < 37; i++) {
    preimage.insert(preimage.end(), parents[i % parents.size()].begin(), parents[i % parents.size()].end());
  }
  b.output(sha256_to_num(cs, preimage));
}

// False where no gadget here stands for the case.
template <class CS>
bool run(Bench<CS>& b, const std::string& file, const Json& gadget) {
  CS& cs = b.cs;
  const std::string name = gadget["name"];
  const Json params = gadget.value("params", Json::object());
  const std::string operands = params.value("operands", "");
  if (file == "boolean") {
    if (name == "alloc") b.output(b.bit('v'));
    if (name == "not") b.output(b.bit('n'));
    if (name == "and_not" || name == "nor") {
      Bits<CS> x = b.bits("vv");
      b.output(name == "nor" ? bit_and(cs, !x[0], !x[1]) : bit_and(cs, x[0], !x[1]));
    }
    if (name == "xor" || name == "and") {
      Bits<CS> x = b.bits(operands);
      b.output(name == "xor" ? bit_xor(cs, x[0], x[1]) : bit_and(cs, x[0], x[1]));
    }
    return true;
  }
  if (file == "ch_maj") {
    Bits<CS> x = b.bits(operands);
    b.output(name == "sha256_ch" ? bit_choose(cs, x[0], x[1], x[2]) : bit_majority(cs, x[0], x[1], x[2]));
    return true;
  }
  if (file == "uint32") {
    if (name == "addmany_shared") {
      std::vector<Word<CS>> x = b.words();
      MultiEq<CS> equations(cs);
      for (size_t i = 0; i < x.size(); i += 2) b.output(add_many<CS>(cs, equations, std::span(x).subspan(i, 2)));
      equations.close();
      return true;
    }
    std::vector<Word<CS>> x = b.words();
    if (name == "xor") b.output(word_xor(cs, x[0], x[1]));
    if (name == "rotr") b.output(rotr(x[0], params["by"]));
    if (name == "shr") b.output(shr(x[0], params["by"]));
    if (name == "sha256_ch") b.output(word_choose(cs, x[0], x[1], x[2]));
    if (name == "sha256_maj") b.output(word_majority(cs, x[0], x[1], x[2]));
    if (name == "addmany") {
      MultiEq<CS> equations(cs);
      b.output(add_many<CS>(cs, equations, x));
      equations.close();
    }
    return true;
  }
  if (file == "uint64") {
    uint64_t value = std::stoull(params["value"].get<std::string>(), nullptr, 16);
    Bits<CS> bits(64);
    if (name == "alloc_pack") {
      alloc_bits<CS>(cs, value, bits);
    } else {
      for (size_t i = 0; i < 64; i++) bits[i] = Bit<CS>::constant(value >> i & 1);
    }
    pack_into_inputs<CS>(cs, bits);
    b.output(Bits<CS>(bits.rbegin(), bits.rend()));
    return true;
  }
  if (file == "num") {
    if (name == "to_bits_le_strict") return false;  // no Filecoin circuit uses it
    if (name == "alloc_input") {
      Num<CS> input{{}, value_of<CS>([&] { return fr_from_hex(gadget["inputs"][1].get<std::string>()).value(); })};
      input.var = cs.alloc_input(input.value);
      b.output(input);
      return true;
    }
    Num<CS> x = b.num();
    if (name == "alloc") b.output(x);
    if (name == "inputize") {
      inputize(cs, x);
      b.output(x);
    }
    if (name == "mul") b.output(mul(cs, x, b.num()));
    if (name == "square") b.output(mul(cs, x, x));
    if (name == "to_bits_le") b.output(to_bits_le(cs, x));
    return true;
  }
  if (file == "pack") {
    if (name == "compute_multipacking") return false;  // the native twin
    Bits<CS> bits = b.bits(operands);
    if (name == "pack_bits") b.output(pack_bits(cs, bits));
    if (name == "pack_into_inputs") pack_into_inputs<CS>(cs, bits);
    return true;
  }
  if (file == "poseidon") {
    std::vector<Num<CS>> preimage = b.nums(params["arity"]);
    b.output(name == "update_randomness" ? poseidon(cs, preimage, hash::kRandomnessTag) : poseidon(cs, preimage));
    return true;
  }
  if (file == "sha256") {
    if (name == "hash2") {
      std::vector<Num<CS>> x = b.nums(2);
      b.output(sha256_node(cs, x[0], x[1]));
    } else {
      b.output(sha256(cs, b.bits(operands)));
    }
    return true;
  }
  if (file == "insertion") {
    if (name == "pick") {
      Bit<CS> condition = b.bit(params["condition"].get<std::string>()[0]);
      std::vector<Num<CS>> x = b.nums(2);
      b.output(pick(cs, condition, x[0], x[1]));
      return true;
    }
    unsigned size = params["size"];
    if (name == "insert") {
      if (size > 8) return false;  // the general form, which no Filecoin circuit reaches
      Num<CS> element = b.num();
      Bits<CS> index = b.bits(std::string(static_cast<size_t>(std::countr_zero(size)), 'v'));
      b.output(insert<CS>(cs, element, index, b.nums(size - 1)));
    } else {
      Bits<CS> index = b.bits(std::string(static_cast<size_t>(std::countr_zero(size)), 'v'));
      b.output(select<CS>(cs, b.nums(size), index));
    }
    return true;
  }
  if (file == "por") {
    if (name == "por_no_challenge_input") {
      given_path_case(b, params);
    } else {
      path_case(b, gadget, name == "por_public");
    }
    return true;
  }
  if (file == "label") {
    if (name == "decode") return false;  // no Filecoin circuit uses it
    if (name == "create_label") {
      label_case(b, params);
    } else {
      Num<CS> key = b.num();
      b.output(sum(cs, key, b.num()));
    }
    return true;
  }
  return false;
}

Json terms_of(const std::vector<r1cs::Term>& terms) {
  Json out = Json::array();
  for (const r1cs::Term& term : terms) out.push_back({text(term.var), fr_to_hex(term.coefficient)});
  return out;
}

std::string sha256_of(std::span<const Fr> values) {
  hash::Sha256 hash;
  for (const Fr& value : values) {
    Bytes32 bytes;
    value.to_bytes_le(bytes);
    hash.update(bytes);
  }
  return to_hex(hash.finish());
}

void compare(const Json& gadget, const r1cs::Circuit& circuit, exec::Pool& pool) {
  EXPECT_EQ(circuit.num_inputs, gadget["num_inputs"]);
  EXPECT_EQ(circuit.num_aux, gadget["num_aux"]);
  ASSERT_EQ(circuit.num_constraints, gadget["num_constraints"]);
  const Json& rows = gadget["constraints"];
  circuit.for_each_row(0, static_cast<uint32_t>(rows.size()), [&](uint32_t index, const r1cs::Row& row) {
    EXPECT_EQ(Json({terms_of(row.a), terms_of(row.b), terms_of(row.c)}), rows[index]) << "row " << index;
  });
  Json checkpoints = gadget.value("checkpoints", Json::array());
  size_t next = 0;
  auto digest = r1cs::digest(circuit, pool, 256, [&](uint32_t count, const Bytes32& sha256) {
    if (next >= checkpoints.size()) return;
    EXPECT_EQ(count, checkpoints[next][0]);
    EXPECT_EQ(to_hex(sha256).substr(0, 16), checkpoints[next][3]) << "within the 256 rows before " << count;
    next++;
  });
  EXPECT_GE(next + 1, checkpoints.size());
  EXPECT_EQ(to_hex(digest.sha256), gadget["r1cs_sha256"]);
}

void compare(const Json& gadget, const r1cs::Circuit& circuit, const r1cs::Witness& witness, exec::Pool& pool) {
  r1cs::WitnessView view(circuit, witness);
  std::vector<Fr> aux;
  for (uint32_t i = 0; i < circuit.num_aux; i++) aux.push_back(view.value(r1cs::Var::aux(i)));
  EXPECT_EQ(sha256_of(aux), gadget["aux_sha256"]);
  EXPECT_EQ(sha256_of(witness.inputs), gadget["inputs_sha256"]);
  EXPECT_EQ(r1cs::first_unsatisfied(view, pool) == circuit.num_constraints, gadget["satisfied"]);
}

class GadgetVectors : public ::testing::TestWithParam<const char*> {};

TEST_P(GadgetVectors, RowsValuesAndOutputs) {
  CUZK_SKIP_WITHOUT_VECTORS();
  exec::Pool pool(2);
  const std::string file = GetParam();
  std::ifstream stream(testing::vectors() / "gadgets" / (file + ".json"));
  const Json cases = Json::parse(stream);
  size_t compared = 0;
  for (const Json& gadget : cases) {
    SCOPED_TRACE(
        fmt::format("{} {}", std::string(gadget["name"]), gadget.value("params", Json()).dump().substr(0, 200)));
    Recorder recorder;
    Bench<Recorder> recorded(recorder, gadget);
    if (!run(recorded, file, gadget)) continue;
    compared++;
    r1cs::Circuit circuit = std::move(recorder).finish("case");
    compare(gadget, circuit, pool);
    EXPECT_EQ(Json(recorded.outputs), gadget["outputs"]);
    if (!gadget.contains("aux")) continue;  // operand values are not given
    const r1cs::Witness witness = r1cs::testing::make_witness(circuit);
    Assigner assigner(circuit, witness);
    Bench<Assigner> assigned(assigner, gadget);
    run(assigned, file, gadget);
    const Status finished = assigner.finish();
    ASSERT_TRUE(finished) << finished.error().message;
    compare(gadget, circuit, witness, pool);
    if (HasFailure()) break;  // one wrong row makes thousands of lines
  }
  EXPECT_GT(compared, 0u);
}

INSTANTIATE_TEST_SUITE_P(Files, GadgetVectors,
                         ::testing::Values("boolean", "ch_maj", "uint32", "uint64", "num", "pack", "poseidon", "sha256",
                                           "insertion", "por", "label"),
                         [](const auto& file) { return std::string(file.param); });

}  // namespace
}  // namespace cuzk::gadgets
