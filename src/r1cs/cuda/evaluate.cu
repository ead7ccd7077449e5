#include "gpu/launch.cuh"
#include "r1cs/cuda/sums.cuh"

namespace cuzk::r1cs {
namespace {

constexpr unsigned kBlock = 256;  // threads
constexpr unsigned kValues = 2 * DeviceCircuit::kSmallLimit + 1;
constexpr int32_t kNotMine = DeviceCircuit::kSmallLimit + 1;

// Writes small values, one a lane, to 32 rows of which out[0] is the first. An element is two stores of 16 bytes, so
// two lanes write each: 32 lanes fill 16 whole rows at a time.
__device__ __forceinline__ void store_small(uint4* out, const uint4* values, int32_t sum, uint32_t lane) {
#pragma unroll
  for (unsigned half = 0; half < 2; half++) {
    const int32_t index = __shfl_sync(~0u, sum, 16 * half + lane / 2);
    if (index != kNotMine) {
      __stcs(out + 32 * half + lane, values[2 * (index + DeviceCircuit::kSmallLimit) + lane % 2]);
    }
  }
}

// The small combinations of A and B; a warp takes one tile of rows.
__global__ void __launch_bounds__(kBlock) small_rows(const __grid_constant__ RowSums problem) {
  const DeviceCircuit& circuit = problem.circuit;
  __shared__ uint4 values[2 * kValues];
  for (unsigned i = threadIdx.x; i < 2 * kValues; i += kBlock)
    values[i] = reinterpret_cast<const uint4*>(circuit.small_values.data)[i];
  __syncthreads();

  const uint32_t warp = (blockIdx.x * kBlock + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (warp >= circuit.row_tiles.size) return;
  const Tile tile = circuit.row_tiles.data[warp];
  const PlacedInstance at = circuit.instances.data[tile.instance];
  const uint32_t* starts = circuit.small_starts.data + at.small_starts;
  for (uint32_t first = tile.begin; first < tile.end; first += 32) {
    const uint32_t row = first + lane;
    int32_t a = kNotMine, b = kNotMine;
    if (row < tile.end) {
      constexpr uint32_t kFlag = DeviceCircuit::kNotSmall;
      const uint32_t begin_a = starts[2 * row], begin_b = starts[2 * row + 1], end_b = starts[2 * row + 2];
      if (!(begin_a & kFlag)) a = small_sum(circuit, problem.witness.bits.data, at, begin_a, begin_b & ~kFlag);
      if (!(begin_b & kFlag)) b = small_sum(circuit, problem.witness.bits.data, at, begin_b, end_b & ~kFlag);
    }
    const size_t out = 2 * (size_t{at.first_row} + first);
    store_small(reinterpret_cast<uint4*>(problem.a) + out, values, a, lane);
    store_small(reinterpret_cast<uint4*>(problem.b) + out, values, b, lane);
  }
}

}  // namespace

Status evaluate(const DeviceCircuit& circuit, const DeviceWitness& witness, gpu::DeviceSpan<device::Fr> a,
                gpu::DeviceSpan<device::Fr> b, const gpu::Stream& stream) {
  const size_t rows = circuit.num_constraints, used = rows + circuit.num_inputs;
  if (a.size != b.size || a.size < used)
    return fail(Code::kInternal, "{} rows into domains of {} and {}", used, a.size, b.size);
  const RowSums problem{circuit, witness, a.data, b.data};
  CUZK_TRY(launch_sums(problem, stream));
  CUZK_TRY(gpu::launch(stream, small_rows, gpu::blocks_for(32 * circuit.row_tiles.size, kBlock), kBlock, 0, problem));
  CUZK_TRY(stream.copy_on_device(a.subspan(rows), witness.scalars.first(circuit.num_inputs)));
  CUZK_TRY(stream.clear(a.subspan(used)));
  return stream.clear(b.subspan(rows));
}

}  // namespace cuzk::r1cs
