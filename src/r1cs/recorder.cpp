#include "r1cs/recorder.h"

#include <algorithm>

#include "r1cs/bitmap.h"

namespace cuzk::r1cs {
namespace {

template <class T>
std::string_view raw(const std::vector<T>& items) {
  return {reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T)};
}

void push_flag(std::vector<uint64_t>& map, uint32_t index, bool value) {
  if (index % 64 == 0) map.push_back(0);
  if (value) set_bit(map, index);
}

}  // namespace

void Combination::normalise() {
  std::sort(terms_.begin(), terms_.end(), [](const Term& x, const Term& y) { return x.var < y.var; });
  size_t kept = 0;
  for (size_t i = 0; i < terms_.size();) {
    Term merged = terms_[i];
    for (i++; i < terms_.size() && terms_[i].var == merged.var; i++) merged.coefficient += terms_[i].coefficient;
    if (!merged.coefficient.is_zero()) terms_[kept++] = merged;
  }
  terms_.resize(kept);
}

Var Recorder::allocate(bool is_field) {
  if (in_region_) {
    push_flag(region_.local_is_field, region_.locals, is_field);
    return Var{1 + region_.slots + region_.locals++};
  }
  push_flag(circuit_.aux_is_field, circuit_.num_aux, is_field);
  return Var::aux(circuit_.num_aux++);
}

uint32_t Recorder::coefficient_id(const Fr& coefficient) {
  std::string key(reinterpret_cast<const char*>(coefficient.raw().data()), sizeof(Fr));
  auto [entry, is_new] = coefficient_ids_.emplace(std::move(key), static_cast<uint32_t>(circuit_.coefficients.size()));
  if (is_new) circuit_.coefficients.push_back(coefficient);
  return entry->second;
}

void Recorder::append(RowBuilder& row) {
  for (Combination* combination : {&row.a, &row.b, &row.c}) combination->normalise();
  if (!in_region_) {
    loose_.push_back({row.a, row.b, row.c});
    return;
  }
  for (const Combination* combination : {&row.a, &row.b, &row.c}) {
    for (const Term& term : combination->terms())
      region_.terms.push_back({term.var.code, coefficient_id(term.coefficient)});
    region_.row_ends.push_back(static_cast<uint32_t>(region_.terms.size()));
  }
  region_.rows++;
}

std::string Recorder::bind(std::string_view name, std::vector<Var>& bindings, const Visit& visit) {
  std::string key(name);
  std::unordered_map<uint32_t, uint32_t> slots;
  visit([&](uint8_t kind, Var* var) {
    key.push_back(static_cast<char>(kind));
    if (var == nullptr) return;
    auto [entry, is_new] = slots.emplace(var->code, static_cast<uint32_t>(bindings.size() + 1));
    if (is_new) bindings.push_back(*var);
    key.append(reinterpret_cast<const char*>(&entry->second), sizeof(entry->second));
    *var = Var{entry->second};
  });
  return key;
}

void Recorder::begin_region(std::string_view name, size_t slots) {
  in_region_ = true;
  region_ = Template{};
  region_.name = name;
  region_.slots = static_cast<uint32_t>(slots);
}

uint32_t Recorder::end_region() {
  in_region_ = false;
  return intern(std::move(region_));
}

uint32_t Recorder::intern(Template&& t) {
  std::string key;
  for (uint32_t word : {t.slots, t.locals, t.rows}) key.append(reinterpret_cast<const char*>(&word), sizeof(word));
  key.append(raw(t.local_is_field)).append(raw(t.row_ends)).append(raw(t.terms));
  auto [entry, is_new] = template_ids_.emplace(std::move(key), static_cast<uint32_t>(circuit_.templates.size()));
  if (is_new) circuit_.templates.push_back(std::move(t));
  return entry->second;
}

void Recorder::relocate(const Visit& visit, uint32_t template_id, const std::vector<Var>& bindings) const {
  const uint32_t slots = circuit_.templates[template_id].slots;
  visit([&](uint8_t, Var* var) {
    if (var == nullptr || var->code == 0) return;
    *var = var->code <= slots ? bindings[var->code - 1] : Var::aux(circuit_.num_aux + var->code - slots - 1);
  });
}

void Recorder::instantiate(uint32_t template_id, const std::vector<Var>& bindings) {
  flush_loose();
  const Template& t = circuit_.templates[template_id];
  if (t.rows > 0) {
    circuit_.instances.push_back(
        {template_id, circuit_.num_constraints, circuit_.num_aux, static_cast<uint32_t>(circuit_.bindings.size())});
    circuit_.bindings.insert(circuit_.bindings.end(), bindings.begin(), bindings.end());
  }
  circuit_.num_constraints += t.rows;
  circuit_.aux_is_field.resize((circuit_.num_aux + t.locals + 63) / 64);
  or_bits(circuit_.aux_is_field, circuit_.num_aux, t.local_is_field, 0, t.locals);
  circuit_.num_aux += t.locals;
  loose_first_aux_ = circuit_.num_aux;
}

void Recorder::flush_loose() {
  if (!loose_.empty()) {
    Template t;
    t.name = "loose";
    t.locals = circuit_.num_aux - loose_first_aux_;
    t.rows = static_cast<uint32_t>(loose_.size());
    t.local_is_field = make_bitmap(t.locals);
    or_bits(t.local_is_field, 0, circuit_.aux_is_field, loose_first_aux_, t.locals);
    auto is_local = [&](Var var) { return var.is_aux() && var.index() >= loose_first_aux_; };

    std::unordered_map<uint32_t, uint32_t> slots;
    std::vector<Var> bindings;
    for (const auto& row : loose_) {
      for (const Combination& combination : row) {
        for (const Term& term : combination.terms()) {
          if (term.var == Var::one() || is_local(term.var)) continue;
          if (slots.emplace(term.var.code, static_cast<uint32_t>(bindings.size() + 1)).second)
            bindings.push_back(term.var);
        }
      }
    }
    t.slots = static_cast<uint32_t>(bindings.size());
    for (const auto& row : loose_) {
      for (const Combination& combination : row) {
        size_t first = t.terms.size();
        for (const Term& term : combination.terms()) {
          uint32_t local = term.var == Var::one() ? 0
                           : is_local(term.var)   ? 1 + t.slots + term.var.index() - loose_first_aux_
                                                  : slots.at(term.var.code);
          t.terms.push_back({local, coefficient_id(term.coefficient)});
        }
        std::sort(t.terms.begin() + static_cast<ptrdiff_t>(first), t.terms.end(),
                  [](const LocalTerm& x, const LocalTerm& y) { return x.var < y.var; });
        t.row_ends.push_back(static_cast<uint32_t>(t.terms.size()));
      }
    }
    circuit_.instances.push_back({intern(std::move(t)), circuit_.num_constraints, loose_first_aux_,
                                  static_cast<uint32_t>(circuit_.bindings.size())});
    circuit_.bindings.insert(circuit_.bindings.end(), bindings.begin(), bindings.end());
    circuit_.num_constraints += static_cast<uint32_t>(loose_.size());
    loose_.clear();
  }
  loose_first_aux_ = circuit_.num_aux;
}

Circuit Recorder::finish(std::string name) && {
  flush_loose();
  circuit_.name = std::move(name);
  circuit_.derive_density();
  circuit_.plans = make_plans(circuit_);
  return std::move(circuit_);
}

}  // namespace cuzk::r1cs
