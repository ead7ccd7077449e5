#include <gtest/gtest.h>

#include <map>

#include "base/allocation_testing.h"
#include "base/testing.h"
#include "hash/sha256.h"
#include "r1cs/assigner.h"
#include "r1cs/digest.h"
#include "r1cs/file.h"
#include "r1cs/recorder.h"
#include "r1cs/testing.h"

namespace cuzk::r1cs {

// A signal as gadget types have them: a variable, or nothing where it is a constant.
template <class CS>
struct Wire {
  typename CS::Var var{};
  Fr value{};  // read by the assigner only
  bool constant = false;
};
template <class CS>
void visit_signals(Wire<CS>& wire, const SignalVisitor& visit) {
  visit(wire.constant, wire.constant ? nullptr : &wire.var);
}

namespace {

// Records the same rows without templates: the oracle for those that use them.
struct FlatRecorder : Recorder {
  template <class Body, class... Inputs>
  auto region(std::string_view, Body&& body, Inputs... inputs) {
    return body(*this, inputs...);
  }
};

template <class CS>
Wire<CS> number(CS& cs, const Fr& value) {
  if constexpr (CS::kRecords)
    return {cs.alloc({}), value};
  else
    return {cs.alloc(value), value};
}
template <class CS>
Wire<CS> bit(CS& cs, bool value) {
  Wire<CS> out{{}, value ? Fr::one() : Fr::zero()};
  if constexpr (CS::kRecords)
    out.var = cs.alloc_bit({});
  else
    out.var = cs.alloc_bit(value);
  cs.enforce([&](auto& row) {
    row.a.add(Var::one(), Fr::one());
    row.a.add(out.var, -Fr::one());
    row.b.add(out.var, Fr::one());
  });
  return out;
}
// z = x * y + 3x, as (x) * (y + 3) = (z); a constant y is folded.
template <class CS>
Wire<CS> step(CS& cs, const Wire<CS>& x, const Wire<CS>& y) {
  return cs.region(
      "step",
      [](auto& inner, Wire<CS> a, Wire<CS> b) {
        Fr three = Fr::from_u64(3);
        Wire<CS> z = number(static_cast<CS&>(inner), a.value * (b.value + three));
        inner.enforce([&](auto& row) {
          row.a.add(a.var, Fr::one());
          if (!b.constant) row.b.add(b.var, Fr::one());
          row.b.add(Var::one(), three);
          row.c.add(z.var, Fr::one());
        });
        return z;
      },
      x, y);
}
// sum of 2^(50 i) bits[i] - 2 bits[0] = v, with coefficients above 2^200, so that it needs every way of summing.
template <class CS>
Wire<CS> pack(CS& cs, const std::vector<Wire<CS>>& bits) {
  Fr value, power = Fr::one(), factor = Fr::from_u64(uint64_t{1} << 50);
  for (const Wire<CS>& b : bits) {
    value += power * b.value;
    power *= factor;
  }
  Wire<CS> v = number(cs, value);
  cs.enforce([&](auto& row) {
    Fr scale = Fr::one();
    for (const Wire<CS>& b : bits) {
      row.a.add(b.var, scale);
      scale *= factor;
    }
    row.b.add(Var::one(), Fr::one());
    row.c.add(v.var, Fr::one());
  });
  return v;
}

// A small circuit with inputs, bits, numbers, loose rows, repeated regions, a repeated argument and a constant one.
template <class CS>
void toy(CS& cs, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Wire<CS>> bits;
  for (int i = 0; i < 5; i++) bits.push_back(bit(cs, random() & 1));
  Wire<CS> x = number(cs, Fr::from_u64(random())), y = number(cs, Fr::from_u64(random()));
  for (int i = 0; i < 70; i++) {
    Wire<CS> next = i % 7 == 3   ? step(cs, y, y)
                    : i % 7 == 5 ? step(cs, x, Wire<CS>{{}, Fr::zero(), true})
                                 : step(cs, x, y);
    x = y;
    y = next;
  }
  Wire<CS> packed = pack(cs, bits);
  Wire<CS> input = packed;
  if constexpr (CS::kRecords)
    input.var = cs.alloc_input({});
  else
    input.var = cs.alloc_input(packed.value);
  cs.enforce([&](auto& row) {
    row.a.add(input.var, Fr::one());
    row.a.add(packed.var, Fr::one());
    row.a.add(packed.var, -Fr::one());  // cancels
    row.b.add(Var::one(), Fr::one());
    row.c.add(packed.var, Fr::one());
  });
  step(cs, packed, x);
}

Circuit toy_circuit() {
  Recorder recorder;
  toy(recorder, 0);
  return std::move(recorder).finish("toy");
}
Witness toy_witness(const Circuit& circuit, uint64_t seed) {
  Witness witness = testing::make_witness(circuit);
  Assigner assigner(circuit, witness);
  toy(assigner, seed);
  EXPECT_TRUE(assigner.finish());
  return witness;
}

using Rows = std::vector<std::array<std::map<uint32_t, Fr::Limbs>, 3>>;
Rows rows_of(const Circuit& circuit) {
  Rows rows;
  circuit.for_each_row(0, circuit.num_constraints, [&](uint32_t index, const Row& row) {
    EXPECT_EQ(index, rows.size());
    auto& out = rows.emplace_back();
    for (auto [from, to] : {std::pair{&row.a, &out[0]}, {&row.b, &out[1]}, {&row.c, &out[2]}}) {
      for (const Term& term : *from)
        EXPECT_TRUE(to->emplace(term.var.code, term.coefficient.canonical()).second) << "not merged";
    }
  });
  return rows;
}

TEST(Recorder, TemplatesExpandToTheRowsWithoutThem) {
  FlatRecorder flat;
  toy(flat, 0);
  Circuit expected = static_cast<Recorder&&>(flat).finish("flat");
  Circuit circuit = toy_circuit();
  EXPECT_EQ(rows_of(circuit), rows_of(expected));
  EXPECT_EQ(circuit.num_aux, expected.num_aux);
  EXPECT_EQ(circuit.num_inputs, expected.num_inputs);
  EXPECT_EQ(circuit.aux_is_field, expected.aux_is_field);
  EXPECT_EQ(circuit.density.a_aux, expected.density.a_aux);
  EXPECT_EQ(circuit.density.b_aux, expected.density.b_aux);
  EXPECT_EQ(expected.instances.size(), 1u);
  // (x, y), (y, y), (x, constant), and the loose rows before and after.
  EXPECT_EQ(circuit.templates.size(), 5u);
}

TEST(Recorder, DensityIsThatOfTheRows) {
  Circuit circuit = toy_circuit();
  Density naive{make_bitmap(circuit.num_aux), make_bitmap(circuit.num_aux), make_bitmap(circuit.num_inputs)};
  circuit.for_each_row(0, circuit.num_constraints, [&](uint32_t, const Row& row) {
    for (const Term& term : row.a) {
      if (term.var.is_aux()) set_bit(naive.a_aux, term.var.index());
    }
    for (const Term& term : row.b) set_bit(term.var.is_aux() ? naive.b_aux : naive.b_inputs, term.var.index());
  });
  EXPECT_EQ(circuit.density.a_aux, naive.a_aux);
  EXPECT_EQ(circuit.density.b_aux, naive.b_aux);
  EXPECT_EQ(circuit.density.b_inputs, naive.b_inputs);
  EXPECT_EQ(circuit.density.a_aux_count, count_bits(naive.a_aux));
}

TEST(Recorder, EmptyCircuit) {
  Circuit circuit = Recorder().finish("empty");
  EXPECT_EQ(circuit.num_inputs, 1u);
  EXPECT_EQ(circuit.num_constraints, 0u);
  EXPECT_EQ(log2_domain(circuit), 0u);
  EXPECT_TRUE(deserialise(serialise(circuit)));
}

// The row sums by definition.
std::array<Fr, 3> naive_sums(const WitnessView& view, const Row& row) {
  std::array<Fr, 3> sums;
  for (auto [terms, sum] : {std::pair{&row.a, &sums[0]}, {&row.b, &sums[1]}, {&row.c, &sums[2]}}) {
    for (const Term& term : *terms) *sum += term.coefficient * view.value(term.var);
  }
  return sums;
}

TEST(Witness, EvaluationIsThatOfTheRows) {
  Circuit circuit = toy_circuit();
  auto random = cuzk::testing::rng(1);
  for (int trial = 0; trial < 20; trial++) {
    Witness witness = toy_witness(circuit, random());
    for (uint64_t& word : witness.bits) {
      if (trial >= 10) word ^= random();  // values that satisfy nothing are summed alike
    }
    for (uint32_t i = 0; i < circuit.num_aux; i++) {
      if (test_bit(circuit.aux_is_field, i)) witness.bits[i / 64] &= ~(uint64_t{1} << (i % 64));
    }
    WitnessView view(circuit, witness);
    uint32_t begin = static_cast<uint32_t>(random() % circuit.num_constraints);
    for (uint32_t end : {begin, begin + 1, circuit.num_constraints}) {
      std::vector<Fr> a(end - begin), b(end - begin), c(end - begin);
      evaluate(view, begin, end, a, b, c);
      circuit.for_each_row(begin, end, [&](uint32_t row, const Row& terms) {
        EXPECT_EQ((std::array<Fr, 3>{a[row - begin], b[row - begin], c[row - begin]}), naive_sums(view, terms)) << row;
      });
    }
  }
}

// A coefficient of each kind, often one that others have as well.
Fr some_coefficient(std::mt19937_64& random) {
  Fr out;
  switch (random() % 6) {
    case 0: out = Fr::from_u64(1 + random() % 2); break;
    case 1: out = Fr::from_u64(7 + random() % 3); break;  // 8 is the largest that runs take
    case 2: out = Fr::from_u64(2).pow(random() % 255); break;
    case 3: out = Fr::from_u64(2).pow(253 + random() % 2); break;
    case 4: out = cuzk::testing::random_field<Fr>(random); break;
    default: out = Fr::one();
  }
  return random() % 2 != 0 ? -out : out;
}

// Rows over `inputs` and new variables: alike ones over neighbours, next to each other or in turn, and words of bits,
// neither of which are satisfied.
void random_rows(Recorder& cs, std::span<const Var> inputs, bool with_fields, std::mt19937_64& random) {
  std::vector<Var> vars(inputs.begin(), inputs.end());
  for (size_t i = 30 + random() % 90; i-- > 0;) {
    vars.push_back(with_fields && random() % 4 == 0 ? cs.alloc({}) : cs.alloc_bit({}));
  }
  struct Shape {
    Fr constant;
    std::vector<std::array<size_t, 2>> at;  // first variable, and stride
    std::vector<Fr> coefficients;
  };
  const auto add = [&](Combination& to, const Shape& shape, size_t j) {
    to.add(Var::one(), shape.constant);
    for (size_t k = 0; k < shape.at.size(); k++) {
      const auto [first, stride] = shape.at[k];
      to.add(vars[(first + j * stride) % vars.size()], shape.coefficients[k]);
    }
  };
  for (size_t block = 0; block < 12; block++) {
    std::array<std::array<Shape, 3>, 2> shapes;  // of even rows and of odd ones
    for (auto& row : shapes) {
      for (Shape& shape : row) {
        if (random() % 2 != 0) shape.constant = some_coefficient(random);
        const size_t terms = random() % 3 != 0 ? random() % 4 : random() % 80;
        const bool word = random() % 3 == 0;
        Fr coefficient = some_coefficient(random);
        for (size_t k = 0, first = random() % vars.size(); k < terms; k++) {
          shape.at.push_back({word ? first + k : random() % vars.size(), random() % 5 == 0 ? random() % 100 : 1});
          shape.coefficients.push_back(word ? coefficient : some_coefficient(random));
          coefficient += coefficient;
        }
      }
    }
    if (random() % 2 != 0) shapes[1] = shapes[0];
    for (size_t j = 0, rows = 1 + random() % (random() % 2 != 0 ? 40 : 300); j < rows; j++) {
      cs.enforce([&](RowBuilder& row) {
        const auto& [a, b, c] = shapes[j % 2];
        add(row.a, a, j), add(row.b, b, j), add(row.c, c, j);
      });
    }
  }
}

TEST(Witness, EvaluationOfRandomTemplatesIsThatOfTheRows) {
  auto random = cuzk::testing::rng(5);
  for (int trial = 0; trial < 12; trial++) {
    const bool with_fields = trial % 3 != 0;
    Recorder recorder;
    std::vector<Wire<Recorder>> wires = {{Var::one(), {}}, {recorder.alloc_input({}), {}}};
    for (int i = 0; i < 6; i++) wires.push_back({i % 2 != 0 ? recorder.alloc({}) : recorder.alloc_bit({}), {}});
    // The same template over slots that are bits in one instance, and field elements, an input or ONE in another.
    const uint64_t seed = random();
    for (int i = 0; i < 4; i++) {
      const auto any = [&] {
        return i == 0 ? Wire<Recorder>{recorder.alloc_bit({}), {}} : wires[random() % wires.size()];
      };
      recorder.region(
          "random",
          [&](auto& inner, Wire<Recorder> x, Wire<Recorder> y) {
            std::mt19937_64 same(seed);
            const Var slots[] = {x.var, y.var};
            random_rows(static_cast<Recorder&>(inner), slots, with_fields, same);
            return x;
          },
          any(), any());
    }
    random_rows(recorder, {}, with_fields, random);
    const Circuit circuit = std::move(recorder).finish("random");

    const Witness witness = testing::make_witness(circuit);
    witness.inputs[1] = cuzk::testing::random_field<Fr>(random);
    size_t fields = 0;
    for (uint32_t i = 0; i < circuit.num_aux; i++) {
      if (test_bit(circuit.aux_is_field, i)) {
        witness.fields[fields++] =
            random() % 4 == 0 ? Fr::from_u64(random() % 2) : cuzk::testing::random_field<Fr>(random);
      } else if (trial == 3 || random() % 2 != 0) {
        set_bit(witness.bits, i);
      }
    }
    const WitnessView view(circuit, witness);
    for (uint32_t begin : {0u, static_cast<uint32_t>(random() % circuit.num_constraints)}) {
      const uint32_t end = begin + static_cast<uint32_t>(random() % (circuit.num_constraints - begin)) + 1;
      std::vector<Fr> a(end - begin), b(end - begin), c(end - begin);
      evaluate(view, begin, end, a, b, c);
      std::vector<Fr> products(end - begin);
      evaluate_products(view, begin, end, products);
      circuit.for_each_row(begin, end, [&](uint32_t row, const Row& terms) {
        ASSERT_EQ(products[row - begin], a[row - begin] * b[row - begin]) << row;
        ASSERT_EQ((std::array<Fr, 3>{a[row - begin], b[row - begin], c[row - begin]}), naive_sums(view, terms)) << row;
      });
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Witness, FirstUnsatisfiedRowIsFound) {
  Circuit circuit = toy_circuit();
  exec::Pool pool(2);
  auto random = cuzk::testing::rng(2);
  const Witness good = toy_witness(circuit, random());
  EXPECT_EQ(first_unsatisfied(WitnessView(circuit, good), pool), circuit.num_constraints);
  for (size_t changed = 0; changed < good.fields.size(); changed++) {
    const Witness bad = testing::copy(circuit, good);
    bad.fields[changed] += Fr::one();
    WitnessView view(circuit, bad);
    uint32_t expected = circuit.num_constraints;
    circuit.for_each_row(0, circuit.num_constraints, [&](uint32_t row, const Row& terms) {
      auto [a, b, c] = naive_sums(view, terms);
      if (a * b != c) expected = std::min(expected, row);
    });
    ASSERT_LT(expected, circuit.num_constraints);
    EXPECT_EQ(first_unsatisfied(view, pool), expected);
  }
}

TEST(Witness, OtherAllocationsAreRefused) {
  Circuit circuit = toy_circuit();
  const Witness witness = testing::make_witness(circuit);
  Assigner too_few(circuit, witness);
  too_few.alloc_bit(true);
  EXPECT_EQ(too_few.finish().error().code, Code::kInternal);
  Assigner too_many(circuit, witness);
  for (int i = 0; i < 3; i++) toy(too_many, 1);
  EXPECT_EQ(too_many.finish().error().code, Code::kInternal);
}

TEST(Digest, IsOfTheDocumentedStream) {
  Circuit circuit = toy_circuit();
  exec::Pool pool(2);
  Bytes stream;
  auto put = [&](uint32_t word) {
    for (int i = 0; i < 4; i++) stream.push_back(static_cast<uint8_t>(word >> (8 * i)));
  };
  uint64_t nnz_c = 0;
  Bytes32 after_7{};
  circuit.for_each_row(0, circuit.num_constraints, [&](uint32_t index, const Row& row) {
    for (const auto* terms : {&row.a, &row.b, &row.c}) {
      put(static_cast<uint32_t>(terms->size()));
      for (const Term& term : *terms) {
        put(term.var.code);
        Bytes32 bytes;
        term.coefficient.to_bytes_le(bytes);
        stream.insert(stream.end(), bytes.begin(), bytes.end());
      }
    }
    nnz_c += row.c.size();
    if (index + 1 == 7) after_7 = hash::sha256(stream);
  });
  CircuitDigest result = digest(circuit, pool, 7, [&](uint32_t rows, const Bytes32& so_far) {
    if (rows == 7) {
      EXPECT_EQ(so_far, after_7);
    }
  });
  EXPECT_EQ(result.sha256, hash::sha256(stream));
  EXPECT_EQ(result.nnz_c, nnz_c);
}

TEST(File, RoundTrip) {
  Circuit circuit = toy_circuit();
  auto path = std::filesystem::temp_directory_path() / fmt::format("cuzk-circuit-test-{}", ::getpid());
  ASSERT_TRUE(save(circuit, path));
  auto loaded = load(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(rows_of(*loaded), rows_of(circuit));
  EXPECT_EQ(loaded->name, circuit.name);
  EXPECT_EQ(loaded->density.b_aux, circuit.density.b_aux);
  EXPECT_EQ(serialise(*loaded), serialise(circuit));
  EXPECT_EQ(load(path).error().code, Code::kNotFound);
  EXPECT_EQ(save(circuit, "/nonexistent-folder/file").error().code, Code::kIo);
}

TEST(File, Case59_DamageIsFound) {
  const Bytes good = serialise(toy_circuit());
  for (size_t length = 0; length < good.size(); length += 1 + length / 40) {
    EXPECT_FALSE(deserialise(ByteSpan(good).first(length))) << length;
  }
  for (size_t at = 0; at < good.size(); at += 1 + at / 40) {
    Bytes bad = good;
    bad[at] ^= 0x10;
    EXPECT_FALSE(deserialise(bad)) << at;
  }
}

Bytes with_checksum(Bytes file) {
  const Bytes32 checksum = hash::sha256(ByteSpan(file).first(file.size() - 32));
  std::copy(checksum.begin(), checksum.end(), file.end() - 32);
  return file;
}

TEST(File, Case58_CountsBeyondTheFile) {
  const Bytes good = serialise(toy_circuit());
  for (size_t at = kCircuitMagic.size() + 4; at + 4 + 100 < good.size(); at++) {
    Bytes bad(good.begin(), good.begin() + static_cast<ptrdiff_t>(at + 4 + 100));
    store_le(bad.data() + at, UINT32_MAX);
    cuzk::testing::LargestAllocation largest;
    EXPECT_FALSE(deserialise(with_checksum(std::move(bad)))) << at;
    EXPECT_LT(largest.bytes(), size_t{1} << 20) << at;
  }
}

// A file whose checksum is right must still not lead anywhere outside itself: wrong values in every word are either
// refused or harmless.
TEST(File, WrongIndicesBehindARightChecksumAreRefused) {
  const Bytes good = serialise(toy_circuit());
  auto random = cuzk::testing::rng(3);
  size_t refused = 0;
  for (size_t at = kCircuitMagic.size() + 4; at + 4 + 32 <= good.size(); at += 4) {
    Bytes bad = good;
    store_le(bad.data() + at, static_cast<uint32_t>(random()));
    auto circuit = deserialise(with_checksum(std::move(bad)));
    refused += !circuit;
    if (circuit) rows_of(*circuit);
  }
  EXPECT_GT(refused, 100u);
}

TEST(Bitmap, CopiesAndCounts) {
  auto random = cuzk::testing::rng(4);
  for (size_t size : {1, 63, 64, 65, 127, 128, 200}) {
    for (int trial = 0; trial < 50; trial++) {
      std::vector<uint64_t> source = make_bitmap(size), target = make_bitmap(size);
      std::vector<bool> naive(size);
      for (size_t i = 0; i < size; i++) {
        if (random() & 1) set_bit(source, i);
      }
      size_t count = random() % (size + 1), from = random() % (size - count + 1), at = random() % (size - count + 1);
      for (size_t i = 0; i < count; i++) naive[at + i] = test_bit(source, from + i);
      or_bits(target, at, source, from, count);
      for (size_t i = 0; i < size; i++) EXPECT_EQ(test_bit(target, i), naive[i]);
      EXPECT_EQ(count_bits(target), static_cast<uint64_t>(std::count(naive.begin(), naive.end(), true)));
    }
  }
}

}  // namespace
}  // namespace cuzk::r1cs
