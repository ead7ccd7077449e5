#pragma once
// The witness driver: runs gadget code with values and fills a packed witness. Rows are never built.

#include <algorithm>
#include <string_view>
#include <vector>

#include "r1cs/bitmap.h"
#include "r1cs/witness.h"

namespace cuzk::r1cs {

class Assigner {
 public:
  static constexpr bool kRecords = false;
  struct Var {};
  using Value = Fr;
  using BitValue = bool;

  // A number of auxiliary variables, or where they begin.
  struct Position {
    size_t aux = 0, field = 0;
  };

  // Without room: to see how many variables gadget code allocates.
  Assigner() = default;
  // Fills `to`, of so many variables and with zero bits; the gadget code must allocate exactly those.
  Assigner(size_t num_aux, const Assignment& to) : to_(to), num_aux_(num_aux) {}
  Assigner(const Circuit& circuit, const Assignment& to) : Assigner(circuit.num_aux, to) {}

  // Where the next variable goes.
  Position position() const { return next_; }
  void seek(const Position& position) { next_ = position; }
  // Leaves room for variables that come later, by seek() to the position that this returns.
  Position skip(const Position& size) {
    const Position begin = next_;
    next_ = {begin.aux + size.aux, begin.field + size.field};
    return begin;
  }

  Var alloc(const Fr& value) {
    alloc_fields(1)[0] = value;
    return {};
  }
  // Room for the values of so many field-element variables, which the caller fills.
  std::span<Fr> alloc_fields(size_t count) {
    const size_t begin = next_.field;
    next_ = {next_.aux + count, begin + count};
    if (next_.field <= to_.fields.size()) return to_.fields.subspan(begin, count);
    beyond_.resize(std::max(beyond_.size(), count));
    return std::span(beyond_).first(count);
  }
  Var alloc_bit(bool value) { return alloc_bits(value, 1); }
  // The low `count` <= 64 bits of value, whose other bits are zero, as that many bit variables.
  Var alloc_bits(uint64_t value, unsigned count) {
    if (count > 0 && next_.aux + count <= num_aux_) or_word(to_.bits, next_.aux, value, count);
    next_.aux += count;
    return {};
  }
  Var alloc_input(const Fr& value) {
    if (inputs_ < to_.inputs.size()) to_.inputs[inputs_] = value;
    inputs_++;
    return {};
  }
  template <class Fill>
  void enforce(Fill&&) {}
  template <class Body, class... Inputs>
  auto region(std::string_view, Body&& body, const Inputs&... inputs) {
    return body(*this, inputs...);
  }

  // kInternal where the gadget code allocated something else than the circuit holds.
  Status finish() const {
    if (next_.aux == num_aux_ && inputs_ == to_.inputs.size() && next_.field == to_.fields.size()) return {};
    return fail(Code::kInternal,
                "the witness has {} variables, {} of them field elements, and {} inputs; the circuit {}, {} and {}",
                next_.aux, next_.field, inputs_, num_aux_, to_.fields.size(), to_.inputs.size());
  }

 private:
  Assignment to_;
  size_t num_aux_ = 0;
  Position next_;
  size_t inputs_ = 1;       // ONE is there
  std::vector<Fr> beyond_;  // in place of room that there is not, which finish() tells
};

}  // namespace cuzk::r1cs
