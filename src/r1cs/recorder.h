#pragma once
// The recording driver: runs gadget code once and compiles it into templates and instances (decision D1).
//
// A driver offers alloc, alloc_bit, alloc_input, enforce and region; gadget code is a template over it. The other
// driver is Assigner (r1cs/assigner.h), which computes values and never sees a row.

#include <any>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "r1cs/circuit.h"

namespace cuzk::r1cs {

// What stands for a value where there is none, so that gadget code may compute with it: a recorded circuit never
// depends on its witness.
struct NoValue {
  constexpr explicit operator bool() const { return false; }
  friend constexpr NoValue operator+(NoValue, NoValue) { return {}; }
  friend constexpr NoValue operator+(NoValue, const Fr&) { return {}; }
  friend constexpr NoValue operator*(NoValue, NoValue) { return {}; }
};

// A linear combination being built; terms may repeat and come in any order.
class Combination {
 public:
  void add(Var var, const Fr& coefficient) { terms_.push_back({var, coefficient}); }
  void add(const Combination& other, const Fr& factor) {
    for (const Term& term : other.terms_) terms_.push_back({term.var, term.coefficient * factor});
  }
  // Sorts by variable, merges equal ones and drops zero coefficients.
  void normalise();
  void clear() { terms_.clear(); }
  bool empty() const { return terms_.empty(); }
  const std::vector<Term>& terms() const { return terms_; }

 private:
  std::vector<Term> terms_;
};

struct RowBuilder {
  Combination a, b, c;
};

// What visit_signals() (an overload a gadget type provides) tells about each signal of a region's inputs and outputs.
// `kind` distinguishes what the body may branch on (constant, negated, ...); `var` is null for a constant.
using SignalVisitor = std::function<void(uint8_t kind, Var* var)>;

class Recorder {
 public:
  static constexpr bool kRecords = true;
  using Var = r1cs::Var;
  using Value = NoValue;     // of a field element
  using BitValue = NoValue;  // of a bit

  Var alloc(Value) { return allocate(true); }
  Var alloc_bit(BitValue) { return allocate(false); }
  // Not inside a region.
  Var alloc_input(Value) { return Var::input(circuit_.num_inputs++); }

  // Appends the row that fill(RowBuilder&) describes.
  template <class Fill>
  void enforce(Fill&& fill) {
    row_.a.clear();
    row_.b.clear();
    row_.c.clear();
    fill(row_);
    append(row_);
  }

  // Runs body(*this, inputs...) as a repeated piece: the first time it is recorded as a template, and each later call
  // whose name and input pattern (kinds, and which signals are the same variable) are the same only adds an instance.
  // So the body must depend on nothing else but witness values, and its rows must mention only ONE, its inputs and what
  // it allocates.
  template <class Body, class... Inputs>
  auto region(std::string_view name, Body&& body, Inputs... inputs) {
    using Output = decltype(body(*this, inputs...));
    if (in_region_) return body(*this, inputs...);
    std::vector<Var> bindings;
    std::string key = bind(name, bindings, [&](const SignalVisitor& visit) { (visit_signals(inputs, visit), ...); });
    if (auto known = regions_.find(key); known != regions_.end()) {
      Output output = std::any_cast<Output>(known->second.output);
      relocate([&](const SignalVisitor& visit) { visit_signals(output, visit); }, known->second.template_id, bindings);
      instantiate(known->second.template_id, bindings);
      return output;
    }
    begin_region(name, bindings.size());
    Output output = body(*this, inputs...);
    uint32_t template_id = end_region();
    regions_.emplace(std::move(key), Region{template_id, output});
    relocate([&](const SignalVisitor& visit) { visit_signals(output, visit); }, template_id, bindings);
    instantiate(template_id, bindings);
    return output;
  }

  // The compiled circuit; the recorder is spent.
  Circuit finish(std::string name) &&;

 private:
  struct Region {
    uint32_t template_id;
    std::any output;  // in local variable codes
  };
  using Visit = std::function<void(const SignalVisitor&)>;

  Var allocate(bool is_field);
  void append(RowBuilder& row);
  uint32_t coefficient_id(const Fr& coefficient);
  // Replaces the variables of the visited signals by slot codes, collects what they were, and returns the key.
  std::string bind(std::string_view name, std::vector<Var>& bindings, const Visit& visit);
  void begin_region(std::string_view name, size_t slots);
  uint32_t end_region();
  void relocate(const Visit& visit, uint32_t template_id, const std::vector<Var>& bindings) const;
  void instantiate(uint32_t template_id, const std::vector<Var>& bindings);
  // Turns the loose rows since the last instance into an instance of their own.
  void flush_loose();
  uint32_t intern(Template&& t);

  Circuit circuit_;
  RowBuilder row_;
  bool in_region_ = false;
  Template region_;  // being recorded, valid while in_region_
  std::vector<std::array<Combination, 3>> loose_;
  uint32_t loose_first_aux_ = 0;
  std::unordered_map<std::string, Region> regions_;
  std::unordered_map<std::string, uint32_t> template_ids_;     // by content
  std::unordered_map<std::string, uint32_t> coefficient_ids_;  // by raw bytes
};

}  // namespace cuzk::r1cs
