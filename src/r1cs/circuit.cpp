#include "r1cs/circuit.h"

#include <algorithm>
#include <bit>

#include "r1cs/bitmap.h"

namespace cuzk::r1cs {
namespace {

// Which local variables (ONE, slots, locals) occur in one combination of a template.
std::vector<uint64_t> occurring(const Template& t, unsigned combination) {
  std::vector<uint64_t> set = make_bitmap(1 + t.slots + t.locals);
  for (uint32_t row = 0; row < t.rows; row++) {
    for (const LocalTerm& term : t.combination(row, combination)) set_bit(set, term.var);
  }
  return set;
}

}  // namespace

Var Circuit::global(const Instance& instance, uint32_t local) const {
  if (local == 0) return Var::one();
  uint32_t slots = templates[instance.template_id].slots;
  if (local <= slots) return bindings[instance.first_binding + local - 1];
  return Var::aux(instance.first_aux + local - slots - 1);
}

void Circuit::derive_density() {
  density = {};
  density.a_aux = make_bitmap(num_aux);
  density.b_aux = make_bitmap(num_aux);
  density.b_inputs = make_bitmap(num_inputs);
  std::vector<std::array<std::vector<uint64_t>, 2>> local(templates.size());
  for (size_t i = 0; i < templates.size(); i++) local[i] = {occurring(templates[i], 0), occurring(templates[i], 1)};
  for (const Instance& instance : instances) {
    const Template& t = templates[instance.template_id];
    for (unsigned m = 0; m < 2; m++) {
      const std::vector<uint64_t>& set = local[instance.template_id][m];
      std::vector<uint64_t>& aux = m == 0 ? density.a_aux : density.b_aux;
      for (uint32_t v = 0; v <= t.slots; v++) {
        if (!test_bit(set, v)) continue;
        Var var = global(instance, v);
        if (var.is_aux()) {
          set_bit(aux, var.index());
        } else if (m == 1) {
          set_bit(density.b_inputs, var.index());
        }
      }
      or_bits(aux, instance.first_aux, set, 1 + t.slots, t.locals);
    }
  }
  density.a_aux_count = count_bits(density.a_aux);
  density.b_aux_count = count_bits(density.b_aux);
  density.b_inputs_count = count_bits(density.b_inputs);
}

size_t Circuit::instance_of_row(uint32_t row) const {
  auto after = std::upper_bound(instances.begin(), instances.end(), row,
                                [](uint32_t r, const Instance& i) { return r < i.first_row; });
  return static_cast<size_t>(after - instances.begin()) - 1;
}

void Circuit::expand(const Instance& instance, uint32_t row, unsigned matrix, std::vector<IndexedTerm>& out) const {
  out.clear();
  for (const LocalTerm& term : templates[instance.template_id].combination(row, matrix)) {
    out.push_back({global(instance, term.var), term.coefficient});
  }
  // Local order is circuit order but for the slots, which an instance binds as it likes.
  auto by_var = [](const IndexedTerm& x, const IndexedTerm& y) { return x.var < y.var; };
  if (!std::is_sorted(out.begin(), out.end(), by_var)) std::sort(out.begin(), out.end(), by_var);
}

void Circuit::for_each_row(uint32_t begin, uint32_t end, const std::function<void(uint32_t, const Row&)>& visit) const {
  if (begin >= end) return;
  Row row;
  std::vector<IndexedTerm> terms;
  for (size_t i = instance_of_row(begin); i < instances.size() && instances[i].first_row < end; i++) {
    const Instance& instance = instances[i];
    const Template& t = templates[instance.template_id];
    uint32_t first = std::max(begin, instance.first_row) - instance.first_row;
    uint32_t last = std::min(end - instance.first_row, t.rows);
    for (uint32_t r = first; r < last; r++) {
      for (unsigned m = 0; m < 3; m++) {
        std::vector<Term>& out = m == 0 ? row.a : m == 1 ? row.b : row.c;
        expand(instance, r, m, terms);
        out.clear();
        for (const IndexedTerm& term : terms) out.push_back({term.var, coefficients[term.coefficient]});
      }
      visit(instance.first_row + r, row);
    }
  }
}

uint64_t Circuit::bytes() const {
  uint64_t total = sizeof(*this) + coefficients.size() * sizeof(Fr) + instances.size() * sizeof(Instance) +
                   bindings.size() * sizeof(Var) +
                   8 * (aux_is_field.size() + density.a_aux.size() + density.b_aux.size() + density.b_inputs.size());
  for (const Template& t : templates) {
    total += sizeof(t) + t.local_is_field.size() * 8 + t.row_ends.size() * 4 + t.terms.size() * sizeof(LocalTerm);
  }
  for (const TemplatePlan& plan : plans) {
    total += sizeof(plan) + plan.slot_is_field.size() * 8;
    for (const RowPlan& matrix : plan.matrices) total += matrix.bytes();
  }
  return total;
}

unsigned log2_domain(const Circuit& circuit) {
  return static_cast<unsigned>(std::bit_width(uint64_t{circuit.num_constraints} + circuit.num_inputs - 1));
}

}  // namespace cuzk::r1cs
