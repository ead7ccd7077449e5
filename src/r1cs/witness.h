#pragma once
// A packed witness: single bits as bits, everything else as field elements (decision D2), in memory that was reserved.

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "exec/pool.h"
#include "mem/buffer.h"
#include "r1cs/circuit.h"

namespace cuzk::r1cs {

// Values for the variables of a circuit, wherever they lie.
struct Assignment {
  std::span<Fr> inputs;  // with ONE first
  std::span<uint64_t>
      bits;              // bit j of word j/64 = auxiliary variable j where it is a bit; 0 where it is a field element
  std::span<Fr> fields;  // the field-element variables in order of index
};

// What a witness of this circuit takes.
uint64_t witness_bytes(const Circuit& circuit);

// An assignment with its memory.
struct Witness : Assignment {
  // All zero but ONE. `memory` is of witness_bytes(circuit), else kInternal; kResourceExhausted where the system has
  // none.
  static Result<Witness> make(const Circuit& circuit, mem::Reservation memory);

 private:
  mem::Buffer memory_;
};

// Where the value of a field-element variable lies: the rank of the variable among them. Linear in num_aux / 512.
class FieldRanks {
 public:
  explicit FieldRanks(const Circuit& circuit);

  // Number of field-element variables below aux, which may be one past the last variable.
  uint32_t operator()(uint32_t aux) const {
    uint32_t rank = ranks_[aux / 512];
    for (uint32_t word = aux / 512 * 8; word < aux / 64; word++) rank += std::popcount(is_field_[word]);
    if (aux % 64 == 0) return rank;  // there may be no word
    uint64_t below = (uint64_t{1} << (aux % 64)) - 1;
    return rank + std::popcount(is_field_[aux / 64] & below);
  }

 private:
  std::span<const uint64_t> is_field_;
  std::vector<uint32_t> ranks_;  // field elements before each block of 512
};

// Random access to a witness of a circuit. Building the table is linear in num_aux / 64.
class WitnessView {
 public:
  WitnessView(const Circuit& circuit, const Assignment& witness);

  const Circuit& circuit() const { return *circuit_; }
  const Assignment& witness() const { return witness_; }
  bool is_field(uint32_t aux) const { return circuit_->aux_is_field[aux / 64] >> (aux % 64) & 1; }
  bool bit(uint32_t aux) const { return witness_.bits[aux / 64] >> (aux % 64) & 1; }
  // Index into witness().fields of the first field-element variable at or after aux.
  uint32_t field_rank(uint32_t aux) const { return ranks_(aux); }
  Fr value(Var var) const {
    if (!var.is_aux()) return witness_.inputs[var.index()];
    uint32_t aux = var.index();
    if (is_field(aux)) return witness_.fields[field_rank(aux)];
    return bit(aux) ? Fr::one() : Fr::zero();
  }

 private:
  const Circuit* circuit_;
  Assignment witness_;
  FieldRanks ranks_;
};

// Values of the row combinations for rows [begin, end): out_x[row - begin]; an empty span is skipped. Single-threaded;
// callers split the range.
void evaluate(const WitnessView& view, uint32_t begin, uint32_t end, std::span<Fr> out_a, std::span<Fr> out_b,
              std::span<Fr> out_c);

// The same of A times B.
void evaluate_products(const WitnessView& view, uint32_t begin, uint32_t end, std::span<Fr> out);

// Row of the first constraint that does not hold, or num_constraints where all do.
uint32_t first_unsatisfied(const WitnessView& view, exec::Pool& pool);

}  // namespace cuzk::r1cs
