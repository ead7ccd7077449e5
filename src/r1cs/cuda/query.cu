#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "gpu/launch.cuh"
#include "r1cs/cuda/query.h"

namespace cuzk::r1cs {
namespace {

using Tables = QueryTables<DeviceArray>;
constexpr unsigned kBlock = Tables::kBlockWords;  // threads, each with a word of 32 variables

// The words of this thread: variables that are present, and those of them that are bits and 1.
struct Words {
  uint32_t present = 0, ones = 0;
};
__device__ __forceinline__ Words words_of(const uint32_t* is_bit, const Tables& query, const uint32_t* bits) {
  const uint32_t word = blockIdx.x * kBlock + threadIdx.x;
  if (word >= query.present.size) return {};
  const uint32_t present = query.present.data[word];
  return {present, bits ? present & is_bit[word] & bits[word] : present};
}

// counts[block] = the ones in it.
__global__ void __launch_bounds__(kBlock)
    count_blocks(const uint32_t* is_bit, const __grid_constant__ Tables query, const uint32_t* bits, uint32_t* counts) {
  using Reduce = cub::BlockReduce<uint32_t, kBlock>;
  __shared__ typename Reduce::TempStorage storage;
  const uint32_t count = Reduce(storage).Sum(__popc(words_of(is_bit, query, bits).ones));
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

constexpr unsigned kScanBlock = 1024;
// Replaces each count by the sum of those before it. One block: there is a count for 8192 variables.
__global__ void __launch_bounds__(kScanBlock) scan_counts(uint32_t* counts, uint32_t size) {
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
}

// Calls emit(index, position, variable) for every one: its index among the ones from first_index on, its position among
// those present from first_position on. A warp goes through its words together, a lane a variable, so that neighbours
// write to neighbouring places.
template <class Emit>
__device__ __forceinline__ void for_each_one(Words words, uint32_t first_index, uint32_t first_position, Emit&& emit) {
  using Scan = cub::BlockScan<uint32_t, kBlock>;
  __shared__ typename Scan::TempStorage storage;
  uint32_t before;  // ones, and present ones in the upper half; a block has at most 8192
  Scan(storage).ExclusiveSum(__popc(words.ones) | __popc(words.present) << 16, before);
  const uint32_t lane = threadIdx.x % 32, below = (1u << lane) - 1;
  const uint32_t first_variable = 32 * (blockIdx.x * kBlock + threadIdx.x - lane);
  for (unsigned j = 0; j < 32; j++) {
    const uint32_t ones = __shfl_sync(~0u, words.ones, j), present = __shfl_sync(~0u, words.present, j);
    const uint32_t at = __shfl_sync(~0u, before, j);
    if (ones >> lane & 1) {
      emit(first_index + (at & 0xffff) + __popc(ones & below), first_position + (at >> 16) + __popc(present & below),
           first_variable + 32 * j + lane);
    }
  }
}

__global__ void __launch_bounds__(kBlock)
    write_ones(const uint32_t* is_bit, const __grid_constant__ Tables query, const uint32_t* bits,
               const uint32_t* firsts, gpu::DeviceSpan<uint32_t> positions) {
  for_each_one(words_of(is_bit, query, bits), firsts[blockIdx.x], query.ranks.data[blockIdx.x],
               [&](uint32_t index, uint32_t position, uint32_t) {
                 if (index < positions.size) positions.data[index] = position;
               });
}

__global__ void __launch_bounds__(kBlock)
    keep_aux(const __grid_constant__ Tables query, const device::Fr* values, device::Fr* out) {
  for_each_one(words_of(nullptr, query, nullptr), 0, query.ranks.data[blockIdx.x],
               [&](uint32_t, uint32_t position, uint32_t variable) { out[position] = values[variable]; });
}

// The inputs that are present have the first positions.
__global__ void keep_inputs(const __grid_constant__ Tables query, uint32_t num_inputs, const device::Fr* values,
                            device::Fr* out) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= num_inputs || i >= query.positions.size || query.scalars.data[i] >= num_inputs) return;
  out[query.positions.data[i]] = values[query.scalars.data[i]];
}

unsigned blocks_of(const Tables& query) { return gpu::blocks_for(query.present.size, kBlock); }

}  // namespace

Status list_ones(const DeviceCircuit& circuit, Query query, const DeviceWitness& witness,
                 gpu::DeviceSpan<uint32_t> positions, gpu::DeviceSpan<std::byte> scratch, const gpu::Stream& stream) {
  const Tables& tables = circuit.queries[static_cast<size_t>(query)];
  const unsigned blocks = blocks_of(tables);
  gpu::DeviceCarver carver(scratch);
  const gpu::DeviceSpan<uint32_t> counts = carver.take<uint32_t>(blocks);
  if (carver.bytes() > scratch.size) return fail(Code::kInternal, "{} bytes of scratch", scratch.size);
  const uint32_t *is_bit = circuit.is_bit.data, *bits = witness.bits.data;
  CUZK_TRY(gpu::launch(stream, count_blocks, blocks, kBlock, 0, is_bit, tables, bits, counts.data));
  CUZK_TRY(gpu::launch(stream, scan_counts, blocks > 0, kScanBlock, 0, counts.data, blocks));
  return gpu::launch(stream, write_ones, blocks, kBlock, 0, is_bit, tables, bits, counts.data, positions);
}

Status keep_present(const DeviceCircuit& circuit, Query query, gpu::DeviceSpan<const device::Fr> values,
                    gpu::DeviceSpan<device::Fr> out, const gpu::Stream& stream) {
  const Tables& tables = circuit.queries[static_cast<size_t>(query)];
  const uint32_t inputs = circuit.num_inputs;
  if (values.size != size_t{inputs} + circuit.num_aux || out.size != tables.num_positions)
    return fail(Code::kInternal, "{} of {} values", out.size, values.size);
  CUZK_TRY(gpu::launch(stream, keep_inputs, gpu::blocks_for(inputs, kBlock), kBlock, 0, tables, inputs, values.data,
                       out.data));
  return gpu::launch(stream, keep_aux, blocks_of(tables), kBlock, 0, tables, values.data + inputs, out.data);
}

}  // namespace cuzk::r1cs
