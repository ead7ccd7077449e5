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

  // Fills `to`, of this circuit's shape with zero bits; the gadget code must allocate exactly those variables.
  Assigner(const Circuit& circuit, const Assignment& to) : to_(to), num_aux_(circuit.num_aux) {}

  Var alloc(const Fr& value) {
    put(to_.fields, fields_, value);
    next_++;
    return {};
  }
  Var alloc_bit(bool value) { return alloc_bits(value, 1); }
  // The low `count` <= 64 bits of value, whose other bits are zero, as that many bit variables.
  Var alloc_bits(uint64_t value, unsigned count) {
    if (next_ + count <= num_aux_) or_word(to_.bits, next_, value, count);
    next_ += count;
    return {};
  }
  Var alloc_input(const Fr& value) {
    put(to_.inputs, inputs_, value);
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
    if (next_ == num_aux_ && inputs_ == to_.inputs.size() && fields_ == to_.fields.size()) return {};
    return fail(Code::kInternal,
                "the witness has {} variables, {} of them field elements, and {} inputs; the circuit {}, {} and {}",
                next_, fields_, inputs_, num_aux_, to_.fields.size(), to_.inputs.size());
  }

 private:
  static void put(std::span<Fr> to, size_t& count, const Fr& value) {
    if (count < to.size()) to[count] = value;
    count++;
  }

  const Assignment to_;
  const size_t num_aux_;
  size_t next_ = 0, inputs_ = 1, fields_ = 0;  // ONE is there
};

}  // namespace cuzk::r1cs
