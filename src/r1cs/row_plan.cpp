#include "r1cs/row_plan.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "r1cs/bitmap.h"
#include "r1cs/circuit.h"

namespace cuzk::r1cs {
namespace {

using Run = RowPlan::Run;

// A coefficient as the nearest of the integers that it stands for.
struct SignedInteger {
  Fr::Limbs magnitude;
  bool negative;
  int8_t small = 0;  // itself where it is from -kMostWeight to kMostWeight

  explicit SignedInteger(const Fr& c) : magnitude(c.canonical()), negative(false) {
    const Fr::Limbs other = (-c).canonical();
    if (limbs::less(other, magnitude)) magnitude = other, negative = true;
    if (magnitude[0] <= Run::kMostWeight && magnitude[1] == 0 && magnitude[2] == 0 && magnitude[3] == 0)
      small = static_cast<int8_t>(negative ? -static_cast<int>(magnitude[0]) : static_cast<int>(magnitude[0]));
  }
};

// Makes `bit` part of the word before it where it goes on so.
bool extend(RowPlan::Word& word, const RowPlan::Word& bit) {
  if (word.coefficient[3] >> (64 - word.count) != 0) return false;  // its double is beyond p/2
  if (word.count == 32 || bit.var != word.var + word.count || bit.complement != word.complement) return false;
  for (size_t i = 0; i < word.coefficient.size(); i++) {
    const uint64_t below = i == 0 ? 0 : word.coefficient[i - 1] >> (64 - word.count);
    if (bit.coefficient[i] != (word.coefficient[i] << word.count | below)) return false;
  }
  word.count++;
  return true;
}

// Makes `next`, the row after the run, part of it where it goes on so.
bool extend(Run& run, const Run& next) {
  if (next.constant != run.constant || next.weight != run.weight) return false;
  std::array<int8_t, Run::kTerms> stride = run.stride;
  for (size_t k = 0; k < Run::kTerms; k++) {
    if (run.weight[k] == 0) continue;
    const int64_t distance = int64_t{next.var[k]} - run.var[k];
    if (run.count == 1) {
      if (distance < std::numeric_limits<int8_t>::min() || distance > std::numeric_limits<int8_t>::max()) return false;
      stride[k] = static_cast<int8_t>(distance);
    }
    if (distance != run.count * stride[k]) return false;
  }
  run.stride = stride;
  run.count++;
  return true;
}

class Planner {
 public:
  explicit Planner(const Circuit& circuit) : circuit_(circuit) {
    for (const Fr& c : circuit.coefficients) integers_.emplace_back(c);
  }

  void plan(const Template& t, TemplatePlan& out) {
    template_ = &t;
    slot_is_field_ = out.slot_is_field;
    for (unsigned m = 0; m < 3; m++) {
      plan_ = &out.matrices[m];
      plan_matrix(m);
      out.has_fields = out.has_fields || !plan_->octets.empty() || !plan_->others.empty();
    }
  }

 private:
  using Terms = std::span<const LocalTerm>;

  void plan_matrix(unsigned m) {
    std::vector<std::optional<Run>> small(template_->rows);
    std::vector<uint32_t> with_products;
    for (uint32_t row = 0; row < template_->rows; row++) {
      const Terms terms = template_->combination(row, m);
      small[row] = small_row(row, terms);
      if (small[row] || add_integer(row, terms)) continue;
      (has_product(terms) ? with_products : plan_->others).push_back(row);
    }
    add_runs(small);
    constexpr size_t kWindow = 64;
    for (size_t i = 0; i < with_products.size(); i += kWindow)
      add_octets(m, std::span(with_products).subspan(i, std::min(kWindow, with_products.size() - i)));
  }

  bool is_bit(uint32_t var) const {
    const uint32_t slots = template_->slots;
    return var == 0 ||
           !(var <= slots ? test_bit(slot_is_field_, var - 1) : test_bit(template_->local_is_field, var - slots - 1));
  }
  std::optional<Run> small_row(uint32_t row, Terms terms) const {
    Run out{.row = row};
    size_t k = 0;
    for (const LocalTerm& term : terms) {
      const int8_t integer = integers_[term.coefficient].small;
      if (integer == 0 || !is_bit(term.var)) return std::nullopt;
      if (term.var == 0) {
        out.constant = integer;
      } else if (k < Run::kTerms) {
        out.weight[k] = integer;
        out.var[k++] = term.var;
      } else {
        return std::nullopt;
      }
    }
    return out;
  }
  bool add_integer(uint32_t row, Terms terms) {
    if (!std::all_of(terms.begin(), terms.end(), [this](const LocalTerm& term) { return is_bit(term.var); }))
      return false;
    Fr constant;
    const size_t first = plan_->words.size();
    for (const LocalTerm& term : terms) {
      const SignedInteger& c = integers_[term.coefficient];
      if (term.var == 0 || c.negative) constant += circuit_.coefficients[term.coefficient];  // -c b = c (1 - b) - c
      if (term.var == 0) continue;
      const RowPlan::Word bit{term.var, 1, c.negative, c.magnitude};
      if (plan_->words.size() == first || !extend(plan_->words.back(), bit)) plan_->words.push_back(bit);
    }
    plan_->integers.push_back({row, static_cast<uint32_t>(plan_->words.size()), constant.canonical()});
    return true;
  }
  bool has_product(Terms terms) const {
    return std::any_of(terms.begin(), terms.end(), [this](const LocalTerm& term) {
      return !is_bit(term.var) && std::abs(integers_[term.coefficient].small) != 1;
    });
  }

  void add_runs(std::vector<std::optional<Run>>& small) {
    const auto longest = [&](uint32_t row, uint8_t step) {
      Run run = *small[row];
      run.step = step;
      const size_t end = std::min<size_t>(small.size(), row + Run::kMostRows);
      for (size_t next = row + step; next < end && small[next] && extend(run, *small[next]);) next += step;
      return run;
    };
    for (uint32_t row = 0; row < small.size(); row++) {
      if (!small[row]) continue;
      Run run = longest(row, 1);
      if (run.count < 8) {  // majorities take two rows in turn
        const Run other = longest(row, 2);
        if (other.count > run.count) run = other;
      }
      for (uint32_t j = 0; j < run.count; j++) small[row + j * run.step].reset();
      plan_->runs.push_back(run);
    }
  }

  // Sums of about equal length side by side.
  void add_octets(unsigned m, std::span<uint32_t> rows) {
    const uint32_t first = rows.front(), last = rows.back(), none = 1 + template_->slots + template_->locals;
    const auto length = [&](uint32_t row) { return template_->combination(row, m).size(); };
    std::stable_sort(rows.begin(), rows.end(), [&](uint32_t x, uint32_t y) { return length(x) < length(y); });
    for (size_t i = 0; i < rows.size(); i += 8) {
      const std::span<const uint32_t> some = rows.subspan(i, std::min<size_t>(8, rows.size() - i));
      RowPlan::Octet octet{
          first, last, static_cast<uint32_t>(plan_->products.size()), static_cast<uint32_t>(length(some.back())), {}};
      octet.row.fill(RowPlan::Octet::kNoRow);
      plan_->products.resize(octet.begin + 8 * size_t{octet.count}, {none, 0});
      for (size_t lane = 0; lane < some.size(); lane++) {
        octet.row[lane] = some[lane];
        size_t at = octet.begin + lane;
        for (const LocalTerm& term : template_->combination(some[lane], m)) {
          plan_->products[at] = {term.var, term.coefficient};
          at += 8;
        }
      }
      plan_->octets.push_back(octet);
    }
  }

  const Circuit& circuit_;
  std::vector<SignedInteger> integers_;
  const Template* template_ = nullptr;
  std::span<const uint64_t> slot_is_field_;
  RowPlan* plan_ = nullptr;
};

}  // namespace

std::vector<TemplatePlan> make_plans(const Circuit& circuit) {
  std::vector<TemplatePlan> plans;
  for (const Template& t : circuit.templates) plans.emplace_back().slot_is_field = make_bitmap(t.slots);
  for (const Instance& instance : circuit.instances) {
    const uint32_t slots = circuit.templates[instance.template_id].slots;
    for (uint32_t i = 0; i < slots; i++) {
      const Var var = circuit.bindings[instance.first_binding + i];
      if (!var.is_aux() || test_bit(circuit.aux_is_field, var.index()))
        set_bit(plans[instance.template_id].slot_is_field, i);
    }
  }
  Planner planner(circuit);
  for (size_t i = 0; i < plans.size(); i++) planner.plan(circuit.templates[i], plans[i]);
  return plans;
}

}  // namespace cuzk::r1cs
