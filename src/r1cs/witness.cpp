#include "r1cs/witness.h"

#include <algorithm>
#include <atomic>

#include "base/bytes.h"
#include "mem/carver.h"
#include "r1cs/bitmap.h"

namespace cuzk::r1cs {
namespace {

constexpr uint32_t kRankBlock = 512;
constexpr uint32_t kChunkRows = 1 << 13;  // unit of parallel work; three vectors of 256 KiB

Assignment carve(const Circuit& circuit, mem::Carver& memory) {
  return {memory.take<Fr>(circuit.num_inputs), memory.take<uint64_t>(circuit.aux_is_field.size()),
          memory.take<Fr>(count_bits(circuit.aux_is_field))};
}

}  // namespace

uint64_t witness_bytes(const Circuit& circuit) {
  mem::Carver counter;
  carve(circuit, counter);
  return counter.bytes();
}

Result<Witness> Witness::make(const Circuit& circuit, mem::Reservation memory) {
  if (memory.bytes() < witness_bytes(circuit)) {
    return fail(Code::kInternal, "a witness of {} takes {}, and {} are reserved", circuit.name,
                format_size(witness_bytes(circuit)), format_size(memory.bytes()));
  }
  Witness out;
  CUZK_TRY_ASSIGN(out.memory_, mem::Buffer::make(std::move(memory)));
  mem::Carver carver(out.memory_.bytes());
  static_cast<Assignment&>(out) = carve(circuit, carver);
  out.inputs[0] = Fr::one();
  return out;
}

FieldRanks::FieldRanks(const Circuit& circuit) : is_field_(circuit.aux_is_field) {
  uint32_t rank = 0;
  ranks_.reserve(circuit.num_aux / kRankBlock + 1);
  for (size_t word = 0; word <= is_field_.size(); word++) {
    if (word % (kRankBlock / 64) == 0) ranks_.push_back(rank);
    if (word < is_field_.size()) rank += static_cast<uint32_t>(std::popcount(is_field_[word]));
  }
}

WitnessView::WitnessView(const Circuit& circuit, const Assignment& witness)
    : circuit_(&circuit), witness_(witness), ranks_(circuit) {}

uint32_t first_unsatisfied(const WitnessView& view, exec::Pool& pool) {
  std::atomic<uint32_t> first = view.circuit().num_constraints;
  pool.for_each_chunk(view.circuit().num_constraints, kChunkRows, [&](size_t begin, size_t end) {
    if (begin >= first.load()) return;
    std::vector<Fr> a(end - begin), b(end - begin), c(end - begin);
    evaluate(view, static_cast<uint32_t>(begin), static_cast<uint32_t>(end), a, b, c);
    for (size_t i = 0; i < a.size(); i++) {
      if (a[i] * b[i] == c[i]) continue;
      uint32_t row = static_cast<uint32_t>(begin + i), seen = first.load();
      while (row < seen && !first.compare_exchange_weak(seen, row)) {
      }
      return;
    }
  });
  return first.load();
}

}  // namespace cuzk::r1cs
