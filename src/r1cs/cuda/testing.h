#pragma once
// Circuits that have everything at once, for the tests of this folder.

#include "base/testing.h"
#include "r1cs/bitmap.h"
#include "r1cs/recorder.h"
#include "r1cs/testing.h"

namespace cuzk::r1cs {

struct Signal {
  Var var;
  bool is_field;  // what a body may depend on
};
inline void visit_signals(Signal& signal, const SignalVisitor& visit) { visit(signal.is_field, &signal.var); }

namespace testing {

// Several kinds of regions, used often and bound to ONE, inputs, bits and field elements, with loose rows between them.
// Combinations are of 0 to 2000 terms, of bits alone or mixed, with coefficients 1, -1, 2 and -2, powers of two, or
// any. Some variables are in no row.
class RandomCircuit {
 public:
  RandomCircuit(uint32_t regions, uint64_t stream) : random_(cuzk::testing::rng(stream)) {
    keep({Var::one(), true});
    keep({recorder_.alloc_bit({}), false});
    for (int i = 0; i < 3; i++) keep({recorder_.alloc_input({}), true});
    for (uint32_t i = 0; i < regions; i++) {
      if (random_() % 8 == 0) loose();
      region();
    }
    recorder_.alloc_bit({});  // in no row
    recorder_.alloc({});
  }
  Circuit finish() { return std::move(recorder_).finish("random"); }

 private:
  static constexpr uint32_t kKinds = 5, kSlots = 6;

  // Which slots are bound to field elements follows one of three patterns, so that templates are used again. The body
  // depends on its kind and that pattern; bodies of kind 2 do not know the pattern and share one template.
  void region() {
    constexpr uint32_t kPatterns[] = {0, 0b010110, 0b111111};
    const uint64_t kind = random_() % kKinds;
    const uint32_t pattern = kPatterns[random_() % 3];
    std::array<Signal, kSlots> slots;
    for (uint32_t i = 0; i < kSlots; i++) {
      const std::vector<Signal>& from = pattern >> i & 1 ? fields_ : bits_;
      slots[i] = from[random_() % from.size()];
      if (kind == 2) slots[i].is_field = false;
    }
    keep(recorder_.region(
        std::to_string(kind),
        [&](Recorder& inner, Signal a, Signal b, Signal c, Signal d, Signal e, Signal f) {
          std::mt19937_64 random(kind);
          std::vector<Signal> local = {{Var::one(), false}, a, b, c, d, e, f};
          const uint64_t count = 1 + random() % (kind == 0 ? 3000 : 70);
          for (uint64_t i = 0; i < count; i++) {
            const bool is_field = kind != 1 && random() % 3 == 0;
            local.push_back({is_field ? inner.alloc({}) : inner.alloc_bit({}), is_field});
          }
          for (uint64_t i = 0; i < count + kind % 3 * 40; i++) row(inner, local, random);
          return local.back();
        },
        slots[0], slots[1], slots[2], slots[3], slots[4], slots[5]));
  }

  void loose() {
    std::vector<Signal> some = {{Var::one(), false}, bits_.back(), fields_.back(), fields_.front()};
    for (uint64_t i = random_() % 20; i > 0; i--) {
      const bool is_field = random_() % 2;
      some.push_back({is_field ? recorder_.alloc({}) : recorder_.alloc_bit({}), is_field});
      keep(some.back());
      if (i % 3 != 0) row(recorder_, some, random_);
    }
  }

  void keep(Signal signal) { (signal.is_field ? fields_ : bits_).push_back(signal); }

  static void row(Recorder& recorder, const std::vector<Signal>& signals, std::mt19937_64& random) {
    recorder.enforce([&](RowBuilder& row) {
      for (Combination* combination : {&row.a, &row.b, &row.c}) {
        constexpr uint32_t kLengths[] = {0, 1, 1, 2, 2, 3, 8, 9, 40, 2000};
        const uint32_t shape = static_cast<uint32_t>(random());
        uint32_t length = kLengths[shape % 10];
        if (length == 2000 && shape / 10 % 32 != 0) length = 1;
        for (uint32_t i = 0; i < length; i++) {
          const Signal& signal = signals[random() % signals.size()];
          if (shape / 1000 % 2 == 0 && signal.is_field) continue;
          combination->add(signal.var, coefficient(shape / 10000 % 4, random));
        }
      }
    });
  }
  static Fr coefficient(uint32_t kind, std::mt19937_64& random) {
    const Fr sign = random() % 2 ? Fr::one() : -Fr::one();
    if (kind < 2) return random() % 2 ? sign : sign.dbl();
    if (kind == 2) return Fr::from_u64(2).pow(random() % 253);
    return cuzk::testing::random_field<Fr>(random);
  }

  std::mt19937_64 random_;
  Recorder recorder_;
  std::vector<Signal> bits_, fields_;  // what slots may be bound to
};

// Values that satisfy nothing.
inline Witness random_witness(const Circuit& circuit, std::mt19937_64& random) {
  Witness out = make_witness(circuit);
  for (Fr& input : out.inputs.subspan(1)) input = cuzk::testing::random_field<Fr>(random);
  for (size_t word = 0; word < out.bits.size(); word++) out.bits[word] = random() & ~circuit.aux_is_field[word];
  if (circuit.num_aux % 64 != 0) out.bits.back() &= (uint64_t{1} << (circuit.num_aux % 64)) - 1;
  const Fr edges[] = {Fr::zero(), Fr::one(), -Fr::one()};
  for (size_t i = 0; i < out.fields.size(); i++)
    out.fields[i] = i % 7 < 3 ? edges[i % 7] : cuzk::testing::random_field<Fr>(random);
  return out;
}

// The columns of matrix m over values of the rows, by definition.
inline std::vector<Fr> naive_columns(const Circuit& circuit, unsigned m, const std::vector<Fr>& row_values) {
  std::vector<Fr> out(circuit.num_inputs + circuit.num_aux);
  circuit.for_each_row(0, circuit.num_constraints, [&](uint32_t q, const Row& row) {
    for (const Term& term : m == 0 ? row.a : m == 1 ? row.b : row.c)
      out[term.var.is_aux() ? circuit.num_inputs + term.var.index() : term.var.index()] +=
          term.coefficient * row_values[q];
  });
  for (uint32_t i = 0; i < circuit.num_inputs && m == 0; i++) out[i] += row_values[circuit.num_constraints + i];
  return out;
}

// Positions of a query by definition.
struct NaiveQuery {
  std::vector<uint32_t> ones, positions, scalars;  // of bits that are 1; of full scalars; which those are
  std::vector<uint32_t> variables;                 // by position, inputs first
};
inline NaiveQuery naive_query(const Circuit& circuit, const Witness& witness, unsigned query) {
  NaiveQuery out;
  for (uint32_t i = 0; i < circuit.num_inputs; i++) {
    if (query == 0 || (query == 2 && !test_bit(circuit.density.b_inputs, i))) continue;
    out.positions.push_back(static_cast<uint32_t>(out.variables.size()));
    out.scalars.push_back(i);
    out.variables.push_back(i);
  }
  uint32_t field = 0;
  for (uint32_t j = 0; j < circuit.num_aux; j++) {
    const bool is_field = test_bit(circuit.aux_is_field, j);
    const uint32_t position = static_cast<uint32_t>(out.variables.size());
    if (query == 0 || test_bit(query == 1 ? circuit.density.a_aux : circuit.density.b_aux, j)) {
      if (is_field) {
        out.positions.push_back(position);
        out.scalars.push_back(circuit.num_inputs + field);
      } else if (test_bit(witness.bits, j)) {
        out.ones.push_back(position);
      }
      out.variables.push_back(circuit.num_inputs + j);
    }
    field += is_field;
  }
  return out;
}

}  // namespace testing
}  // namespace cuzk::r1cs
