#include <algorithm>

#include "field/fields.h"
#include "r1cs/cuda/qap.h"
#include "r1cs/cuda/sums.cuh"

namespace cuzk::r1cs {
namespace {

constexpr unsigned kBlock = 256;      // threads
constexpr uint32_t kPerThread = 128;  // elements that share an inversion, or the beginning of a run of powers

__device__ device::Fr power(device::Fr base, uint32_t exponent) {
  device::Fr out = device::Fr::one();
  for (; exponent != 0; exponent >>= 1, base = base.square()) {
    if (exponent & 1) out *= base;
  }
  return out;
}

// Threads whose runs of every `threads`-th element cover `size`.
uint32_t threads_for(size_t size) { return static_cast<uint32_t>((size + kPerThread - 1) / kPerThread); }

// step = ratio^threads
__global__ void __launch_bounds__(kBlock) write_powers(device::Fr first, device::Fr ratio, device::Fr step,
                                                       uint32_t threads, gpu::DeviceSpan<device::Fr> out) {
  const uint32_t thread = blockIdx.x * kBlock + threadIdx.x;
  if (thread >= threads) return;
  device::Fr value = first * power(ratio, thread);
  for (size_t i = thread; i < out.size; i += threads, value *= step) out.data[i] = value;
}

// out[q] = scale w^q / (tau - w^q); step = w^threads. One inversion a thread, Montgomery's trick.
__global__ void __launch_bounds__(kBlock)
    write_lagrange(device::Fr tau, device::Fr root, device::Fr step, device::Fr step_inverse, device::Fr scale,
                   uint32_t threads, gpu::DeviceSpan<device::Fr> out) {
  const uint32_t thread = blockIdx.x * kBlock + threadIdx.x;
  if (thread >= threads) return;
  device::Fr point = power(root, thread), product = device::Fr::one();
  size_t q = thread;
  for (; q < out.size; q += threads, point *= step) {
    out.data[q] = product;
    product *= tau - point;
  }
  device::Fr inverse = scale * product.inverse();
  while (q > thread) {
    q -= threads;
    point *= step_inverse;
    out.data[q] = inverse * out.data[q] * point;
    inverse *= tau - point;
  }
}

constexpr unsigned kFoldLanes = 8;
// out[bound[i]] += its partial sums
__global__ void __launch_bounds__(kBlock)
    fold(const __grid_constant__ DeviceColumns columns, const device::Fr* partials, device::Fr* out) {
  const uint32_t i = (blockIdx.x * kBlock + threadIdx.x) / kFoldLanes, lane = threadIdx.x % kFoldLanes;
  const bool active = i < columns.bound.size;
  device::Fr sum = device::Fr::zero();
  if (active) {
    for (uint32_t k = columns.bound_starts.data[i] + lane; k < columns.bound_starts.data[i + 1]; k += kFoldLanes)
      sum += partials[columns.partials.data[k]];
  }
#pragma unroll
  for (unsigned distance = kFoldLanes / 2; distance > 0; distance /= 2) sum += from_above(sum, distance);
  if (active && lane == 0) out[columns.bound.data[i]] += sum;
}

// out[i] += values[i]
__global__ void __launch_bounds__(kBlock) add(gpu::DeviceSpan<const device::Fr> values, device::Fr* out) {
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i < values.size) out[i] += values.data[i];
}

__global__ void __launch_bounds__(kBlock)
    combine_all(device::Fr alpha, device::Fr beta, device::Fr factor, const device::Fr* a, const device::Fr* b,
                gpu::DeviceSpan<device::Fr> c) {
  const size_t i = blockIdx.x * size_t{kBlock} + threadIdx.x;
  if (i < c.size) c.data[i] = (beta * a[i] + alpha * b[i] + c.data[i]) * factor;
}

device::Fr on_device(const Fr& value) { return device::Fr::from_host(value); }

}  // namespace

Status powers(const Fr& first, const Fr& ratio, gpu::DeviceSpan<device::Fr> out, const gpu::Stream& stream) {
  const uint32_t threads = threads_for(out.size);
  return gpu::launch(stream, write_powers, gpu::blocks_for(threads, kBlock), kBlock, 0, on_device(first),
                     on_device(ratio), on_device(ratio.pow(threads)), threads, out);
}

Status lagrange_at(const Fr& tau, unsigned log2_size, gpu::DeviceSpan<device::Fr> out, const gpu::Stream& stream) {
  const uint64_t size = uint64_t{1} << log2_size;
  if (out.size > size) return fail(Code::kInternal, "{} points of a domain of {}", out.size, size);
  const Fr vanishing = tau.pow(size) - Fr::one();
  if (vanishing.is_zero()) return fail(Code::kInvalidInput, "tau is a point of the domain: take another seed");
  const uint32_t threads = threads_for(out.size);
  const Fr root = fr_root_of_unity(log2_size), step = root.pow(threads);
  return gpu::launch(stream, write_lagrange, gpu::blocks_for(threads, kBlock), kBlock, 0, on_device(tau),
                     on_device(root), on_device(step), on_device(step.inverse()),
                     on_device(vanishing * Fr::from_u64(size).inverse()), threads, out);
}

Status column_sums(const DeviceCircuit& circuit, const DeviceColumns& columns, unsigned m,
                   gpu::DeviceSpan<const device::Fr> row_values, gpu::DeviceSpan<device::Fr> out,
                   gpu::DeviceSpan<std::byte> scratch, const gpu::Stream& stream) {
  const size_t inputs = circuit.num_inputs, rows = circuit.num_constraints;
  if (m > 2 || row_values.size != rows + inputs || out.size != inputs + circuit.num_aux ||
      scratch.size < column_sums_scratch_bytes(columns)) {
    return fail(Code::kInternal, "matrix {}: {} rows into {} variables with {} bytes of scratch", m, row_values.size,
                out.size, scratch.size);
  }
  const auto partials = gpu::DeviceCarver(scratch).take<device::Fr>(columns.num_partials);
  CUZK_TRY(stream.clear(out));
  CUZK_TRY(stream.clear(partials));
  CUZK_TRY(launch_sums(ColumnSums{circuit, columns.sums[m], row_values.data, out.data, partials.data}, stream));
  CUZK_TRY(gpu::launch(stream, fold, gpu::blocks_for(kFoldLanes * columns.bound.size, kBlock), kBlock, 0, columns,
                       static_cast<const device::Fr*>(partials.data), out.data));
  if (m > 0) return {};
  return gpu::launch(stream, add, gpu::blocks_for(inputs, kBlock), kBlock, 0, row_values.subspan(rows), out.data);
}

Status combine(const Fr& alpha, const Fr& beta, const Fr& factor, gpu::DeviceSpan<const device::Fr> a,
               gpu::DeviceSpan<const device::Fr> b, gpu::DeviceSpan<device::Fr> c, const gpu::Stream& stream) {
  if (a.size != c.size || b.size != c.size)
    return fail(Code::kInternal, "combining {}, {} and {} values", a.size, b.size, c.size);
  return gpu::launch(stream, combine_all, gpu::blocks_for(c.size, kBlock), kBlock, 0, on_device(alpha), on_device(beta),
                     on_device(factor), a.data, b.data, c);
}

}  // namespace cuzk::r1cs
