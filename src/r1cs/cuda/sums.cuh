#pragma once
// What one lane does: values of terms, and where sums go. Host code may call all of it but the kernel, which is how the
// tables are tested where there is no device.

#include "r1cs/cuda/evaluate.h"

#ifdef __CUDACC__
#include "gpu/launch.cuh"
#endif

namespace cuzk::r1cs {

CUZK_DEVICE bool test_bit32(const uint32_t* map, uint32_t i) { return map[i / 32] >> (i % 32) & 1; }

// sum += coefficient * value
CUZK_DEVICE void add_multiple(device::Fr& sum, const device::Fr* coefficients, uint32_t coefficient,
                              const device::Fr& value) {
  if (coefficient == DeviceCircuit::kOne) {
    sum += value;
  } else if (coefficient == DeviceCircuit::kMinusOne) {
    sum -= value;
  } else {
    sum += coefficients[coefficient] * value;
  }
}

// A small combination of an instance: terms [begin, end) of small_terms.
CUZK_DEVICE int32_t small_sum(const DeviceCircuit& circuit, const uint32_t* bits, const PlacedInstance& at,
                              uint32_t begin, uint32_t end) {
  int32_t sum = 0;
  for (uint32_t k = begin; k < end; k++) {
    const uint32_t term = circuit.small_terms.data[k], var = term >> 2;
    bool bit = true;
    if (var > at.slots) {
      bit = test_bit32(bits, at.first_aux + var - at.slots - 1);
    } else if (var > 0) {
      bit = test_bit32(bits, circuit.bindings.data[at.first_binding + var - 1]);
    }
    const int32_t magnitude = bit ? 1 << (term & 1) : 0;
    sum += term & 2 ? -magnitude : magnitude;
  }
  return sum;
}

// Combinations of A and B over a witness.
struct RowSums {
  DeviceCircuit circuit;
  DeviceWitness witness;
  device::Fr *a, *b;

  CUZK_DEVICE const SumTables<DeviceArray>& sums() const { return circuit.sums; }
  CUZK_DEVICE void add(device::Fr& sum, const PlacedInstance& at, SumTerm term) const {
    constexpr uint32_t kScalar = DeviceCircuit::kScalar;
    uint32_t source = term.source;
    if (source & kScalar) {
      source += circuit.num_inputs + at.first_field;  // the flag stays
    } else if (source > at.slots) {
      source += at.first_aux - at.slots - 1;
    } else if (source > 0) {
      source = circuit.bindings.data[at.first_binding + source - 1];
    } else {
      sum += circuit.coefficients.data[term.coefficient];
      return;
    }
    if (source & kScalar) {
      add_multiple(sum, circuit.coefficients.data, term.coefficient, witness.scalars.data[source & ~kScalar]);
    } else if (test_bit32(witness.bits.data, source)) {
      sum += circuit.coefficients.data[term.coefficient];
    }
  }
  CUZK_DEVICE void store(const PlacedInstance& at, uint32_t target, const device::Fr& sum) const {
    device::Fr* const rows = target & 1 ? b : a;  // (target & 1 ? b : a)[...] is wrong code with g++ 12 and UBSan
    rows[at.first_row + target / 2] = sum;
  }
};

// Columns of a matrix over values of the rows.
struct ColumnSums {
  DeviceCircuit circuit;
  SumTables<DeviceArray> tables;
  const device::Fr* row_values;
  device::Fr *out, *partials;

  CUZK_DEVICE const SumTables<DeviceArray>& sums() const { return tables; }
  CUZK_DEVICE void add(device::Fr& sum, const PlacedInstance& at, SumTerm term) const {
    add_multiple(sum, circuit.coefficients.data, term.coefficient, row_values[at.first_row + term.source]);
  }
  CUZK_DEVICE void store(const PlacedInstance& at, uint32_t target, const device::Fr& sum) const {
    if (target <= at.slots) {
      partials[at.first_partial + target] = sum;
    } else {
      out[circuit.num_inputs + at.first_aux + target - at.slots - 1] = sum;
    }
  }
};

#ifdef __CUDACC__
inline constexpr unsigned kSumBlock = 256;  // threads

// The value of the lane `distance` above.
__device__ __forceinline__ device::Fr from_above(const device::Fr& value, unsigned distance) {
  device::Fr out;
  for (unsigned i = 0; i < device::Fr::kLimbs; i++) out.limbs[i] = __shfl_down_sync(~0u, value.limbs[i], distance);
  return out;
}

// The sums of `tiles`, each by kLanes neighbouring lanes.
template <unsigned kLanes, class Problem>
__global__ void __launch_bounds__(kSumBlock)
    run_sums(const __grid_constant__ Problem problem, DeviceArray<Tile> tiles) {
  const uint32_t warp = (blockIdx.x * kSumBlock + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (warp >= tiles.size) return;
  const Tile tile = tiles.data[warp];
  const PlacedInstance at = problem.circuit.instances.data[tile.instance];
  for (uint32_t first = tile.begin; first < tile.end; first += 32 / kLanes) {
    const uint32_t index = first + lane / kLanes;
    const bool active = index < tile.end;
    const Sum sum = active ? problem.sums().sums.data[index] : Sum{};
    device::Fr value = device::Fr::zero();
    for (uint32_t k = sum.begin + lane % kLanes; k < sum.end; k += kLanes)
      problem.add(value, at, problem.sums().terms.data[k]);
#pragma unroll
    for (unsigned distance = kLanes / 2; distance > 0; distance /= 2) value += from_above(value, distance);
    if (active && lane % kLanes == 0) problem.store(at, sum.target, value);
  }
}

// All sums of a problem, long ones first because they take longest.
template <class Problem>
Status launch_sums(const Problem& problem, const gpu::Stream& stream) {
  constexpr unsigned kLongLanes = 8;  // with 4, 16 or 32, what takes 0.98 ms takes 0.99, 1.08 and 1.42
  const SumTables<DeviceArray>& sums = problem.sums();
  auto blocks = [](DeviceArray<Tile> tiles) { return gpu::blocks_for(32 * tiles.size, kSumBlock); };
  CUZK_TRY(gpu::launch(stream, run_sums<kLongLanes, Problem>, blocks(sums.long_tiles), kSumBlock, 0, problem,
                       sums.long_tiles));
  return gpu::launch(stream, run_sums<1, Problem>, blocks(sums.short_tiles), kSumBlock, 0, problem, sums.short_tiles);
}
#endif

}  // namespace cuzk::r1cs
