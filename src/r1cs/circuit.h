#pragma once
// The compiled circuit: templates, their instances, and loose rows. It stands in for the expanded R1CS everywhere
// (setup, evaluation, density, digest, device).
//
// A row is (A) * (B) = (C), each a linear combination of variables. Variables are inputs 0, 1, ... (input 0 is ONE) and
// auxiliary variables 0, 1, ...; both number spaces follow the order of allocation (filecoin-spec A.2).

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/pool.h"
#include "field/fields.h"
#include "r1cs/row_plan.h"

namespace cuzk::r1cs {

// A variable of the whole circuit: its index, plus 2^31 if auxiliary. At most 2^31 of each.
struct Var {
  static constexpr uint32_t kAux = 1u << 31;
  uint32_t code = 0;

  static constexpr Var one() { return {0}; }
  static constexpr Var input(uint32_t index) { return {index}; }
  static constexpr Var aux(uint32_t index) { return {index | kAux}; }
  constexpr bool is_aux() const { return (code & kAux) != 0; }
  constexpr uint32_t index() const { return code & ~kAux; }
  constexpr auto operator<=>(const Var&) const = default;
};

struct Term {
  Var var;
  Fr coefficient;
};

// One expanded row: in each combination equal variables are merged, zero coefficients dropped, terms sorted inputs
// first.
struct Row {
  std::vector<Term> a, b, c;
};

// The same row shapes over local variables. A local variable code is
//   0                  ONE
//   1 .. slots         an input slot, bound by each instance to a variable of the circuit
//   slots + 1 ..       a variable that each instance allocates, in order
// A coefficient is an index into Circuit::coefficients.
struct LocalTerm {
  uint32_t var;
  uint32_t coefficient;
};

struct Template {
  std::string name;
  uint32_t slots = 0;
  uint32_t locals = 0;
  uint32_t rows = 0;
  std::vector<uint64_t> local_is_field;  // bitmap over locals: 1 = field element, 0 = single bit
  std::vector<uint32_t> row_ends;        // 3 * rows entries: end of A, B, C of each row in `terms`
  std::vector<LocalTerm> terms;

  // Terms of matrix m (0 = A, 1 = B, 2 = C) of a row.
  std::span<const LocalTerm> combination(uint32_t row, unsigned m) const {
    size_t k = 3 * static_cast<size_t>(row) + m;
    uint32_t begin = k == 0 ? 0 : row_ends[k - 1];
    return {terms.data() + begin, row_ends[k] - begin};
  }
};

// One use of a template. Its rows and variables are contiguous. Loose rows are held the same way: a template used once,
// whose slots are bound to whatever the rows mention.
struct Instance {
  // A template without rows has no instance, so `first_row` is strictly increasing.
  uint32_t template_id;
  uint32_t first_row;
  uint32_t first_aux;      // first variable that it allocates
  uint32_t first_binding;  // its `slots` entries in Circuit::bindings
};

struct Density {
  std::vector<uint64_t> a_aux, b_aux, b_inputs;  // bitmaps: the variable occurs with a non-zero coefficient
  uint64_t a_aux_count = 0, b_aux_count = 0, b_inputs_count = 0;
};

struct Circuit {
  std::string name;  // such as "porep-2KiB"
  uint32_t num_inputs = 1;
  uint32_t num_aux = 0;
  uint32_t num_constraints = 0;  // without the rows that Groth16 appends for the inputs

  std::vector<Fr> coefficients;  // distinct, none zero
  std::vector<Template> templates;
  std::vector<Instance> instances;  // in row order; together they cover every row once
  std::vector<Var> bindings;
  std::vector<uint64_t> aux_is_field;  // bitmap over auxiliary variables: 1 = field element, 0 = single bit
  Density density;                     // derived from the rest by derive_density()
  std::vector<TemplatePlan> plans;     // derived from the rest by make_plans()

  // One combination of an instance's row (0 = A, 1 = B, 2 = C) over the circuit's variables, sorted by variable, in the
  // form {variable, index of its coefficient}. Replaces what `out` held.
  struct IndexedTerm {
    Var var;
    uint32_t coefficient;
  };
  void expand(const Instance& instance, uint32_t row, unsigned matrix, std::vector<IndexedTerm>& out) const;
  // Calls visit(row_index, row) for rows [begin, end) in order. The row is reused between calls.
  void for_each_row(uint32_t begin, uint32_t end, const std::function<void(uint32_t, const Row&)>& visit) const;
  // The circuit's variable behind a local variable code of an instance.
  Var global(const Instance& instance, uint32_t local) const;
  void derive_density();
  // Index into `instances` of the one that holds this row.
  size_t instance_of_row(uint32_t row) const;

  uint64_t bytes() const;  // memory held
};

// Smallest power of two that holds the rows and the appended input rows; its logarithm.
unsigned log2_domain(const Circuit& circuit);

}  // namespace cuzk::r1cs
