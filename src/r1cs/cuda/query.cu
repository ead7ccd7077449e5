#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "gpu/launch.cuh"
#include "r1cs/cuda/query.h"

namespace cuzk::r1cs {
namespace {

constexpr unsigned kBlock = DeviceCircuit::kBlockWords;  // threads, each with a word of 32 variables

// What the kernels read: bitmaps of the auxiliary variables, and ranks of the blocks.
struct Variables {
  DeviceArray<uint32_t> present, is_bit;
  const uint32_t *bits, *ranks, *field_ranks;
  uint32_t num_inputs;
};
Variables variables_of(const DeviceCircuit& circuit, Query query, const uint32_t* bits) {
  const QueryTables<DeviceArray>& tables = circuit.queries[static_cast<size_t>(query)];
  return {tables.present, circuit.is_bit, bits, tables.ranks.data, circuit.field_ranks.data, circuit.num_inputs};
}
unsigned blocks_of(const Variables& variables) { return gpu::blocks_for(variables.present.size, kBlock); }

// The words of this thread: variables that are present, field elements, and those selected for a list.
struct Words {
  uint32_t present = 0, fields = 0, selected = 0;
};
enum class Select { kOnes, kFields, kPresent };
template <Select kSelect>
__device__ __forceinline__ Words words_of(const Variables& variables) {
  const uint32_t word = blockIdx.x * kBlock + threadIdx.x;
  if (word >= variables.present.size) return {};
  const uint32_t present = variables.present.data[word], bit = variables.is_bit.data[word];
  return {present, ~bit,
          kSelect == Select::kOnes     ? present & bit & variables.bits[word]
          : kSelect == Select::kFields ? present & ~bit
                                       : present};
}

// counts[block] = the selected variables in it.
template <Select kSelect>
__global__ void __launch_bounds__(kBlock) count_blocks(const __grid_constant__ Variables variables, uint32_t* counts) {
  using Reduce = cub::BlockReduce<uint32_t, kBlock>;
  __shared__ typename Reduce::TempStorage storage;
  const uint32_t count = Reduce(storage).Sum(__popc(words_of<kSelect>(variables).selected));
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

constexpr unsigned kScanBlock = 1024;
// Replaces each count by the sum of those before it, and writes the sum of all. One block: a count is of 8192
// variables.
__global__ void __launch_bounds__(kScanBlock) scan_counts(uint32_t* counts, uint32_t size, uint32_t* all) {
  using Scan = cub::BlockScan<uint32_t, kScanBlock>;
  __shared__ typename Scan::TempStorage storage;
  uint32_t before = 0;
  for (uint32_t first = 0; first < size; first += kScanBlock) {
    const uint32_t i = first + threadIdx.x;
    uint32_t sum, total;
    Scan(storage).ExclusiveSum(i < size ? counts[i] : 0, sum, total);
    if (i < size) counts[i] = before + sum;
    before += total;
    __syncthreads();
  }
  if (all != nullptr && threadIdx.x == 0) *all = before;
}

struct Selected {
  uint32_t index;     // among the selected variables of the block
  uint32_t position;  // among the present ones
  uint32_t field;     // field elements before it
  uint32_t variable;
};
// Calls emit(Selected) for every selected variable. A warp goes through its words together, a lane a variable, so that
// neighbours write to neighbouring places.
template <class Emit>
__device__ __forceinline__ void for_each_selected(const Variables& variables, Words words, Emit&& emit) {
  using Scan = cub::BlockScan<uint64_t, kBlock>;
  __shared__ typename Scan::TempStorage storage;
  // Three counts in one, as a block has 8192 variables.
  const auto count = [](uint32_t word) { return static_cast<uint64_t>(__popc(word)); };
  uint64_t before;
  Scan(storage).ExclusiveSum(count(words.selected) | count(words.present) << 16 | count(words.fields) << 32, before);
  const uint32_t lane = threadIdx.x % 32, below = (1u << lane) - 1;
  const uint32_t first_variable = 32 * (blockIdx.x * kBlock + threadIdx.x - lane);
  const uint32_t first_position = variables.ranks[blockIdx.x], first_field = variables.field_ranks[blockIdx.x];
  for (unsigned j = 0; j < 32; j++) {
    const uint32_t selected = __shfl_sync(~0u, words.selected, j);
    if (selected == 0) continue;
    const uint32_t present = __shfl_sync(~0u, words.present, j), fields = __shfl_sync(~0u, words.fields, j);
    const uint64_t at = __shfl_sync(~0u, before, j);
    if (!(selected >> lane & 1)) continue;
    emit(Selected{static_cast<uint32_t>(at & 0xffff) + __popc(selected & below),
                  first_position + static_cast<uint32_t>(at >> 16 & 0xffff) + __popc(present & below),
                  first_field + static_cast<uint32_t>(at >> 32) + __popc(fields & below),
                  first_variable + 32 * j + lane});
  }
}

__global__ void __launch_bounds__(kBlock) write_ones(const __grid_constant__ Variables variables,
                                                     const uint32_t* firsts, gpu::DeviceSpan<uint32_t> positions) {
  const uint32_t first = firsts[blockIdx.x];
  for_each_selected(variables, words_of<Select::kOnes>(variables), [&](const Selected& one) {
    if (first + one.index < positions.size) positions.data[first + one.index] = one.position;
  });
}

__global__ void __launch_bounds__(kBlock) write_fields(const __grid_constant__ Variables variables,
                                                       const uint32_t* firsts, uint32_t* positions, uint32_t* scalars) {
  const uint32_t first = firsts[blockIdx.x];
  for_each_selected(variables, words_of<Select::kFields>(variables), [&](const Selected& field) {
    positions[first + field.index] = field.position;
    scalars[first + field.index] = variables.num_inputs + field.field;
  });
}

__global__ void __launch_bounds__(kBlock)
    keep_aux(const __grid_constant__ Variables variables, const device::Fr* values, device::Fr* out) {
  for_each_selected(variables, words_of<Select::kPresent>(variables),
                    [&](const Selected& kept) { out[kept.position] = values[kept.variable]; });
}

// Inputs that are present have the first positions.
__global__ void list_inputs(DeviceArray<uint32_t> inputs, uint32_t* positions, uint32_t* scalars) {
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i < inputs.size) positions[i] = i, scalars[i] = inputs.data[i];
}
__global__ void keep_inputs(DeviceArray<uint32_t> inputs, const device::Fr* values, device::Fr* out) {
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i < inputs.size) out[i] = values[inputs.data[i]];
}

// Where the selected variables of each block begin in their list, in `scratch`.
template <Select kSelect>
Result<gpu::DeviceSpan<uint32_t>> firsts_of(const Variables& variables, gpu::DeviceSpan<uint32_t> count,
                                            gpu::DeviceSpan<std::byte> scratch, const gpu::Stream& stream) {
  gpu::DeviceCarver carver(scratch);
  const unsigned blocks = blocks_of(variables);
  const gpu::DeviceSpan<uint32_t> firsts = carver.take<uint32_t>(blocks);
  if (carver.bytes() > scratch.size)
    return fail(Code::kInternal, "{} bytes of scratch where {} are needed", scratch.size, carver.bytes());
  CUZK_TRY(gpu::launch(stream, count_blocks<kSelect>, blocks, kBlock, 0, variables, firsts.data));
  CUZK_TRY(gpu::launch(stream, scan_counts, 1, kScanBlock, 0, firsts.data, blocks, count.data));
  return firsts;
}

}  // namespace

Status list_ones(const DeviceCircuit& circuit, Query query, const DeviceWitness& witness,
                 gpu::DeviceSpan<uint32_t> positions, gpu::DeviceSpan<uint32_t> count,
                 gpu::DeviceSpan<std::byte> scratch, const gpu::Stream& stream) {
  const Variables variables = variables_of(circuit, query, witness.bits.data);
  CUZK_TRY_ASSIGN(const auto firsts, firsts_of<Select::kOnes>(variables, count, scratch, stream));
  return gpu::launch(stream, write_ones, blocks_of(variables), kBlock, 0, variables, firsts.data, positions);
}

Status list_scalars(const DeviceCircuit& circuit, Query query, gpu::DeviceSpan<uint32_t> positions,
                    gpu::DeviceSpan<uint32_t> scalars, gpu::DeviceSpan<std::byte> scratch, const gpu::Stream& stream) {
  const QueryTables<DeviceArray>& tables = circuit.queries[static_cast<size_t>(query)];
  if (positions.size != tables.num_scalars || scalars.size != tables.num_scalars) {
    return fail(Code::kInternal, "{} scalars into lists of {} and {}", tables.num_scalars, positions.size,
                scalars.size);
  }
  const Variables variables = variables_of(circuit, query, nullptr);
  const size_t inputs = tables.inputs.size;
  CUZK_TRY(gpu::launch(stream, list_inputs, gpu::blocks_for(inputs, kBlock), kBlock, 0, tables.inputs, positions.data,
                       scalars.data));
  CUZK_TRY_ASSIGN(const auto firsts, firsts_of<Select::kFields>(variables, {}, scratch, stream));
  return gpu::launch(stream, write_fields, blocks_of(variables), kBlock, 0, variables, firsts.data,
                     positions.data + inputs, scalars.data + inputs);
}

Status keep_present(const DeviceCircuit& circuit, Query query, gpu::DeviceSpan<const device::Fr> values,
                    gpu::DeviceSpan<device::Fr> out, const gpu::Stream& stream) {
  const QueryTables<DeviceArray>& tables = circuit.queries[static_cast<size_t>(query)];
  if (values.size != size_t{circuit.num_inputs} + circuit.num_aux || out.size != tables.num_positions)
    return fail(Code::kInternal, "{} of {} values", out.size, values.size);
  const Variables variables = variables_of(circuit, query, nullptr);
  CUZK_TRY(gpu::launch(stream, keep_inputs, gpu::blocks_for(tables.inputs.size, kBlock), kBlock, 0, tables.inputs,
                       values.data, out.data));
  return gpu::launch(stream, keep_aux, blocks_of(variables), kBlock, 0, variables, values.data + circuit.num_inputs,
                     out.data);
}

}  // namespace cuzk::r1cs
