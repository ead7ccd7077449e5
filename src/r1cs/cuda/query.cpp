#include "r1cs/cuda/query.h"

#include <bit>

namespace cuzk::r1cs {
namespace {

// Bits of l, a and b that are set in words(word).
template <class Words>
std::array<uint64_t, kQueries> count_in(const Circuit& circuit, Words&& words) {
  std::array<uint64_t, kQueries> counts{};
  for (size_t i = 0; i < circuit.aux_is_field.size(); i++) {
    const uint64_t ones = words(i) & ~circuit.aux_is_field[i];
    counts[0] += static_cast<uint64_t>(std::popcount(ones));
    counts[1] += static_cast<uint64_t>(std::popcount(ones & circuit.density.a_aux[i]));
    counts[2] += static_cast<uint64_t>(std::popcount(ones & circuit.density.b_aux[i]));
  }
  return counts;
}

}  // namespace

std::array<uint64_t, kQueries> count_ones(const Circuit& circuit, const Witness& witness) {
  return count_in(circuit, [&](size_t i) { return witness.bits[i]; });
}

std::array<uint64_t, kQueries> count_bits_present(const Circuit& circuit) {
  return count_in(circuit, [&](size_t i) {
    const uint64_t left = circuit.num_aux - 64 * i;
    return left < 64 ? (uint64_t{1} << left) - 1 : ~uint64_t{0};
  });
}

uint64_t list_ones_scratch_bytes(const Circuit& circuit) {
  gpu::DeviceCarver counter;
  counter.take<uint32_t>(2 * circuit.aux_is_field.size() / QueryTables<DeviceArray>::kBlockWords + 1);
  return counter.bytes();
}

}  // namespace cuzk::r1cs
