#pragma once
// The witness driver: runs gadget code with values and fills a packed witness. Rows are never built.

#include <array>
#include <string_view>

#include "r1cs/bitmap.h"
#include "r1cs/witness.h"

namespace cuzk::r1cs {

class Assigner {
 public:
  static constexpr bool kRecords = false;
  struct Var {};
  using Value = Fr;
  using BitValue = bool;

  // Room for the variables of this circuit; the gadget code must allocate exactly those.
  explicit Assigner(const Circuit& circuit)
      : num_aux_(circuit.num_aux), num_inputs_(circuit.num_inputs), num_fields_(count_bits(circuit.aux_is_field)) {
    witness_.bits = make_bitmap(circuit.num_aux);
    witness_.inputs.reserve(num_inputs_);
    witness_.inputs.push_back(Fr::one());
    witness_.fields.reserve(num_fields_);
  }

  Var alloc(const Fr& value) {
    witness_.fields.push_back(value);
    next_++;
    return {};
  }
  Var alloc_bit(bool value) { return alloc_bits(value, 1); }
  // The low `count` <= 64 bits of value, whose other bits are zero, as that many bit variables.
  Var alloc_bits(uint64_t value, unsigned count) {
    if (next_ + count <= num_aux_) or_word(witness_.bits, next_, value, count);
    next_ += count;
    return {};
  }
  Var alloc_input(const Fr& value) {
    witness_.inputs.push_back(value);
    return {};
  }
  template <class Fill>
  void enforce(Fill&&) {}
  template <class Body, class... Inputs>
  auto region(std::string_view, Body&& body, const Inputs&... inputs) {
    return body(*this, inputs...);
  }

  // kInternal where the gadget code allocated something else than the circuit holds.
  Result<Witness> finish() && {
    if (next_ != num_aux_ || witness_.inputs.size() != num_inputs_ || witness_.fields.size() != num_fields_) {
      return fail(Code::kInternal,
                  "the witness has {} variables, {} of them field elements, and {} inputs; the circuit {}, {} and {}",
                  next_, witness_.fields.size(), witness_.inputs.size(), num_aux_, num_fields_, num_inputs_);
    }
    return std::move(witness_);
  }

 private:
  size_t num_aux_, num_inputs_, num_fields_;
  Witness witness_;
  size_t next_ = 0;
};

}  // namespace cuzk::r1cs
