#include <algorithm>
#include <utility>

#include "gpu/launch.cuh"
#include "ntt/cuda/butterfly.cuh"
#include "ntt/cuda/ntt.h"

namespace cuzk::ntt {
namespace {

constexpr unsigned kMaxLog2Rows = 9;
constexpr unsigned kMaxLog2Table = 18;  // log2 of the largest block whose twiddles are stored
constexpr unsigned kBlock = 128;        // threads; each holds 8 elements

// Twiddles between the steps of 8 in a tile, w_m^(low q) for q in [1, 8) and low < S = m / 8, prepared in four pieces.
// Rows of 128 places hold all S: words (q, 2 * piece + half) at place S + low, 16 bytes each, so that neighbours in
// `low` are neighbours in memory.
constexpr unsigned kStepRow = 128;
constexpr unsigned kStepWords = 7 * 8 * kStepRow;

struct Powers {
  device::Fr squares[32];  // v^(2^i)
};

__device__ __forceinline__ device::Fr from_words(const uint4& low, const uint4& high) {
  return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
}
__device__ __forceinline__ uint4 low_words(const device::Fr& value) {
  return make_uint4(value.limbs[0], value.limbs[1], value.limbs[2], value.limbs[3]);
}
__device__ __forceinline__ uint4 high_words(const device::Fr& value) {
  return make_uint4(value.limbs[4], value.limbs[5], value.limbs[6], value.limbs[7]);
}
// Data pass through the L1 cache once; the twiddles of the steps are to stay there.
__device__ __forceinline__ uint4 load_words(const uint4* from) {
  uint4 out;
  asm volatile("ld.global.L1::evict_first.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(out.x), "=r"(out.y), "=r"(out.z), "=r"(out.w)
               : "l"(from));
  return out;
}
__device__ __forceinline__ uint4 load_kept_words(const uint4* from) {
  uint4 out;
  asm("ld.global.nc.L1::evict_last.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(out.x), "=r"(out.y), "=r"(out.z), "=r"(out.w)
      : "l"(from));
  return out;
}
__device__ __forceinline__ device::Fr load(const device::Fr* from) {
  const uint4* words = reinterpret_cast<const uint4*>(from);
  return from_words(load_words(words), load_words(words + 1));
}
__device__ __forceinline__ void store(device::Fr* to, const device::Fr& value) {
  uint4* words = reinterpret_cast<uint4*>(to);
  words[0] = low_words(value);
  words[1] = high_words(value);
}
template <unsigned kBits>
__device__ __forceinline__ unsigned reversed(unsigned value) {
  return kBits == 0 ? 0 : __brev(value) >> (32 - kBits);
}

struct PassArguments {
  device::Fr* data;
  const device::Fr *source, *factor, *minuend;  // see Around; the latter two may be null
  const uint4* steps;
  // The twiddles of the pass: v^(exponent (2j + coset) q) where `computed`, else from the table (null: all are one).
  const device::Fr *table, *low_roots, *high_roots;
  bool computed, coset, scaled;
  uint32_t exponent;  // 2^32 - it when interpolating
  unsigned log2_low_roots, log2_order;
  device::Fr scale;
  unsigned log2_columns, log2_lines;  // a line is a column of a block
};

// What a thread sees of a pass: kPer elements of one line of the tile.
template <unsigned kLog2Rows>
struct Thread {
  static constexpr unsigned kRows = 1u << kLog2Rows;
  static constexpr unsigned kLog2Per = kLog2Rows < 3 ? kLog2Rows : 3, kPer = 1u << kLog2Per;
  static constexpr unsigned kThreads = kRows / kPer;     // of one line
  static constexpr unsigned kLines = kBlock / kThreads;  // of a tile
  static constexpr unsigned kSlots = kRows * kLines;
  static constexpr unsigned kSharedBytes = 2 * kSlots * sizeof(uint4);
  static constexpr unsigned kTail = kLog2Rows % 3;  // stages beside the steps of 8

  const PassArguments& pass;
  uint4* const shared;
  const unsigned line_in_tile, t;
  bool valid;
  uint32_t column;
  uint64_t origin;  // index of row 0

  __device__ __forceinline__ Thread(const PassArguments& arguments, uint4* memory)
      : pass(arguments), shared(memory), line_in_tile(threadIdx.x % kLines), t(threadIdx.x / kLines) {
    const uint64_t line = uint64_t{blockIdx.x} * kLines + line_in_tile;
    valid = line >> pass.log2_lines == 0;
    column = static_cast<uint32_t>(line) & ((1u << pass.log2_columns) - 1);
    origin = (line >> pass.log2_columns << (pass.log2_columns + kLog2Rows)) + column;
  }
  __device__ __forceinline__ uint64_t index(unsigned row) const {
    return origin + (uint64_t{row} << pass.log2_columns);
  }

  // The tile in shared memory: halves of elements in two planes, rows swapped in fours so that the 8 lanes that are
  // served together touch all banks at any stride.
  __device__ __forceinline__ unsigned slot(unsigned row) const {
    return (row ^ (row >> 3 & 3)) * kLines + line_in_tile;
  }
  __device__ __forceinline__ device::Fr get(unsigned row) const {
    return from_words(shared[slot(row)], shared[kSlots + slot(row)]);
  }
  __device__ __forceinline__ void put(unsigned row, const device::Fr& value) const {
    shared[slot(row)] = low_words(value);
    shared[kSlots + slot(row)] = high_words(value);
  }

  // A step of 8 at stride 2^s: rows first(s) + k 2^s.
  __device__ __forceinline__ unsigned low(unsigned s) const { return t & ((1u << s) - 1); }
  __device__ __forceinline__ unsigned first(unsigned s) const { return ((t >> s) << (s + 3)) + low(s); }
  __device__ __forceinline__ device::Fr times_step_twiddle(const device::Fr& x, unsigned q, unsigned s) const {
    const uint4* words = pass.steps + (q - 1) * 8 * kStepRow + (1u << s) + low(s);
    return device::fr::mul_prepared<4>(x, [&](unsigned piece) {
      return from_words(load_kept_words(words + 2 * piece * kStepRow),
                        load_kept_words(words + (2 * piece + 1) * kStepRow));
    });
  }

  // Rows of this thread on the way in or out, when the pass's twiddles apply. Where those are computed, the rows belong
  // to q_0 + k rows / kPer, so that the twiddles are a geometric progression.
  __device__ __forceinline__ unsigned outer_row(unsigned k) const {
    return pass.computed ? kPer * t + reversed<kLog2Per>(k) : t + k * kThreads;
  }
  __device__ __forceinline__ bool has_twiddles() const { return pass.computed || pass.table || pass.scaled; }
  __device__ __forceinline__ device::Fr root(uint32_t exponent) const {
    exponent &= (1u << pass.log2_order) - 1;
    return load(pass.low_roots + (exponent & ((1u << pass.log2_low_roots) - 1))) *
           load(pass.high_roots + (exponent >> pass.log2_low_roots));
  }
  __device__ __forceinline__ device::Fr stored_twiddle(unsigned row) const {
    const uint32_t q = reversed<kLog2Rows>(row);
    return load(pass.table + (uint64_t{q} << pass.log2_columns) + column);
  }
  // f(row, twiddle), one after another: a pass has to fit the instruction cache. Memory is read one row ahead.
  template <class F>
  __device__ __forceinline__ void for_each_row(const F& f) const {
    device::Fr twiddle = pass.scale, next;
    if (pass.computed) {
      const uint32_t exponent = pass.exponent * (2 * column + pass.coset);
      twiddle = root(exponent * reversed<kLog2Rows - kLog2Per>(t));
      next = root(exponent * kThreads);  // their ratio
      if (pass.scaled) twiddle *= pass.scale;
    } else if (pass.table) {
      next = stored_twiddle(outer_row(0));
    }
#pragma unroll 1
    for (unsigned k = 0; k < kPer; k++) {
      if (pass.table) {
        twiddle = next;
        if (k + 1 < kPer) next = stored_twiddle(outer_row(k + 1));
        if (pass.scaled) twiddle *= pass.scale;
      }
      f(outer_row(k), twiddle);
      if (pass.computed) twiddle *= next;
    }
  }
};

// The stages that the steps of 8 leave over, on kPer adjacent rows.
template <unsigned kTail, unsigned kPer>
__device__ __forceinline__ void transform_tail(device::Fr (&x)[kPer]) {
#pragma unroll
  for (unsigned k = 0; k < kPer; k += 1u << kTail) {
    if constexpr (kTail == 1) butterfly(x[k], x[k + 1]);
    if constexpr (kTail == 2) transform4(x[k], x[k + 1], x[k + 2], x[k + 3]);
  }
}

// Values to coefficients: the transform with 1/w is the one with w read backwards, output -k for k.
template <unsigned kLog2Rows>
__global__ void __launch_bounds__(kBlock, 4) interpolate_pass(const PassArguments arguments) {
  using Pass = Thread<kLog2Rows>;
  constexpr unsigned kPer = Pass::kPer, kTail = Pass::kTail;
  extern __shared__ uint4 memory[];
  const Pass thread(arguments, memory);

  device::Fr x[kPer] = {};
  const auto inner_row = [&](unsigned k) { return thread.t + k * Pass::kThreads; };
  if (thread.valid) {
#pragma unroll
    for (unsigned k = 0; k < kPer; k++) x[k] = load(arguments.source + thread.index(inner_row(k)));
  }
  if (arguments.factor && thread.valid) {
    device::Fr next = load(arguments.factor + thread.index(inner_row(0)));
#pragma unroll
    for (unsigned k = 0; k < kPer; k++) thread.put(inner_row(k), x[k]);
#pragma unroll 1
    for (unsigned k = 0; k < kPer; k++) {
      const device::Fr factor = next;
      if (k + 1 < kPer) next = load(arguments.factor + thread.index(inner_row(k + 1)));
      thread.put(inner_row(k), thread.get(inner_row(k)) * factor);
    }
#pragma unroll
    for (unsigned k = 0; k < kPer; k++) x[k] = thread.get(inner_row(k));
  }

  if constexpr (kLog2Rows >= 3) {
#pragma unroll 1
    for (unsigned s = kLog2Rows - 3;; s -= 3) {
      const unsigned first = thread.first(s);
      if (s != kLog2Rows - 3) {
#pragma unroll
        for (unsigned k = 0; k < 8; k++) x[k] = thread.get(first + (k << s));
      }
      transform8(x);
      thread.put(first, x[0]);
#pragma unroll
      for (unsigned q = 1; q < 8; q++) {
        const device::Fr& y = x[8 - q];
        thread.put(first + (reversed<3>(q) << s), s > 0 ? thread.times_step_twiddle(y, q, s) : y);
      }
      __syncthreads();
      if (s < 3) break;
    }
  }
  if constexpr (kTail > 0) {
    if constexpr (kLog2Rows >= 3) {
#pragma unroll
      for (unsigned k = 0; k < kPer; k++) x[k] = thread.get(kPer * thread.t + k);
    }
    transform_tail<kTail>(x);
#pragma unroll
    for (unsigned k = 0; k < kPer; k++) {
      constexpr unsigned kMask = (1u << kTail) - 1;
      const unsigned q = (0u - k) & kMask;
      thread.put(kPer * thread.t + (k & ~kMask) + reversed<kTail>(k & kMask), x[(k & ~kMask) + q]);
    }
    __syncthreads();
  }
  if constexpr (kLog2Rows == 0) thread.put(0, x[0]);

  thread.for_each_row([&](unsigned row, const device::Fr& twiddle) {
    const uint64_t index = thread.index(row);
    device::Fr minuend, y = thread.get(row);
    if (arguments.minuend && thread.valid) minuend = load(arguments.minuend + index);
    if (thread.has_twiddles()) {
      y = y * twiddle;
    } else {
      y.subtract_modulus();
    }
    if (arguments.minuend) y = minuend - y;
    if (thread.valid) store(arguments.data + index, y);
  });
}

// Coefficients to values: the same steps, each inverted, in the other order.
template <unsigned kLog2Rows>
__global__ void __launch_bounds__(kBlock, 4) evaluate_pass(const PassArguments arguments) {
  using Pass = Thread<kLog2Rows>;
  constexpr unsigned kPer = Pass::kPer, kTail = Pass::kTail;
  extern __shared__ uint4 memory[];
  const Pass thread(arguments, memory);

  device::Fr x[kPer] = {};
  if (thread.valid) {
#pragma unroll
    for (unsigned k = 0; k < kPer; k++) x[k] = load(arguments.source + thread.index(thread.outer_row(k)));
  }
#pragma unroll
  for (unsigned k = 0; k < kPer; k++) thread.put(thread.outer_row(k), x[k]);
  if (thread.has_twiddles()) {
    thread.for_each_row([&](unsigned row, const device::Fr& twiddle) { thread.put(row, thread.get(row) * twiddle); });
  }
  __syncthreads();

  if constexpr (kTail > 0) {
    constexpr unsigned kMask = (1u << kTail) - 1;
#pragma unroll
    for (unsigned k = 0; k < kPer; k++) x[k] = thread.get(kPer * thread.t + (k & ~kMask) + reversed<kTail>(k & kMask));
    transform_tail<kTail>(x);
    if constexpr (kLog2Rows >= 3) {
#pragma unroll
      for (unsigned k = 0; k < kPer; k++) thread.put(kPer * thread.t + k, x[k]);
      __syncthreads();
    }
  }
  if constexpr (kLog2Rows >= 3) {
#pragma unroll 1
    for (unsigned s = kTail;; s += 3) {
      const unsigned first = thread.first(s);
      x[0] = thread.get(first);
#pragma unroll
      for (unsigned q = 1; q < 8; q++) {
        x[q] = thread.get(first + (reversed<3>(q) << s));
        if (s > 0) x[q] = thread.times_step_twiddle(x[q], q, s);
      }
      transform8(x);
      if (s == kLog2Rows - 3) break;
#pragma unroll
      for (unsigned k = 0; k < 8; k++) thread.put(first + (k << s), x[k]);
      __syncthreads();
    }
  }
  if (!thread.valid) return;
#pragma unroll
  for (unsigned k = 0; k < kPer; k++) {
    x[k].subtract_modulus();
    store(arguments.data + thread.index(thread.t + k * Pass::kThreads), x[k]);
  }
}

using PassKernel = void (*)(PassArguments);
struct PassKernels {
  PassKernel kernels[2];  // by direction
  unsigned lines, shared_bytes;
};
template <unsigned... kLog2Rows>
PassKernels pass_kernels(unsigned log2_rows, std::integer_sequence<unsigned, kLog2Rows...>) {
  const PassKernels all[] = {{{evaluate_pass<kLog2Rows>, interpolate_pass<kLog2Rows>},
                              Thread<kLog2Rows>::kLines,
                              Thread<kLog2Rows>::kSharedBytes}...};
  return all[log2_rows];
}

// v^exponent
__device__ device::Fr power(const Powers& powers, uint32_t exponent) {
  device::Fr out = device::Fr::one();
  for (unsigned i = 0; exponent >> i != 0; i++) {
    if (exponent >> i & 1) out *= powers.squares[i];
  }
  return out;
}

// to[i] = v^(i << shift)
__global__ void fill_roots(const Powers powers, device::Fr* to, uint32_t count, unsigned shift) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = power(powers, i << shift);
}

// to[q * columns + j] = v^(exponent (2j + coset) q)
__global__ void fill_twiddles(const Powers powers, device::Fr* to, unsigned log2_columns, uint32_t count,
                              uint32_t exponent, bool coset, uint32_t order_mask) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const uint32_t q = i >> log2_columns, j = i & ((1u << log2_columns) - 1);
  to[i] = power(powers, exponent * (2 * j + coset) * q & order_mask);
}

struct StepMultipliers {
  device::Fr pieces[4];
};

// exponents[s] is that of w_m for m = 2^(s+3), or zero where the domain is smaller.
struct StepExponents {
  uint32_t by_stride[7];
};
__global__ void fill_steps(const Powers powers, const StepMultipliers multipliers, const StepExponents exponents,
                           uint4* to, uint32_t order_mask) {
  const unsigned q = blockIdx.x + 1, place = threadIdx.x;
  if (place == 0) return;
  const unsigned s = 31 - __clz(place), low = place - (1u << s);
  const device::Fr twiddle = power(powers, exponents.by_stride[s] * low * q & order_mask);
  for (unsigned piece = 0; piece < 4; piece++) {
    const device::Fr multiple = twiddle * multipliers.pieces[piece];
    to[((q - 1) * 8 + 2 * piece) * kStepRow + place] = low_words(multiple);
    to[((q - 1) * 8 + 2 * piece + 1) * kStepRow + place] = high_words(multiple);
  }
}

}  // namespace

DeviceDomain::DeviceDomain(unsigned log2_size, gpu::DeviceCarver& carver) : log2_size_(log2_size) {
  const unsigned half = (log2_size + 1) / 2;
  low_roots_ = carver.take<device::Fr>(size_t{1} << half);
  high_roots_ = carver.take<device::Fr>(size_t{1} << (log2_size + 1 - half));
  for (auto& table : step_twiddles_) table = carver.take<device::Fr>(kStepWords / 2);

  const unsigned pass_count = std::max(1u, (log2_size + kMaxLog2Rows - 1) / kMaxLog2Rows);
  unsigned left = log2_size;
  for (unsigned p = 0; p < pass_count; p++) {
    Pass pass{};
    pass.log2_rows = (left + pass_count - p - 1) / (pass_count - p);
    const unsigned log2_block = left;
    left -= pass.log2_rows;
    pass.log2_columns = left;
    for (auto& direction : pass.twiddles) {
      for (const Points points : {Points::kSubgroup, Points::kCoset}) {
        if (log2_block > kMaxLog2Table || (left == 0 && points == Points::kSubgroup)) continue;
        direction[static_cast<size_t>(points)] = carver.take<device::Fr>(size_t{1} << log2_block);
      }
    }
    passes_.push_back(pass);
  }
}

uint64_t DeviceDomain::bytes(unsigned log2_size) {
  gpu::DeviceCarver carver;
  DeviceDomain(std::min(log2_size, kMaxLog2Size), carver);
  return carver.bytes();
}

Result<DeviceDomain> DeviceDomain::make(unsigned log2_size, gpu::DeviceSpan<std::byte> memory,
                                        const gpu::Stream& stream) {
  if (log2_size > kMaxLog2Size) return fail(Code::kInvalidInput, "a domain of 2^{} points is too large", log2_size);
  if (memory.size < bytes(log2_size)) {
    return fail(Code::kInvalidInput, "the tables of 2^{} points need {} bytes, not {}", log2_size, bytes(log2_size),
                memory.size);
  }
  gpu::DeviceCarver carver(memory);
  DeviceDomain domain(log2_size, carver);
  CUZK_TRY(domain.fill(stream));
  return domain;
}

Status DeviceDomain::fill(const gpu::Stream& stream) const {
  Powers powers{};
  Fr square = fr_root_of_unity(log2_size_ + 1);
  for (unsigned i = 0; i <= log2_size_; i++, square = square.square())
    powers.squares[i] = device::Fr::from_host(square);
  const uint32_t order_mask = (uint32_t{2} << log2_size_) - 1;

  const auto launch = [&](auto kernel, size_t threads, auto... arguments) {
    return gpu::launch(stream, kernel, gpu::blocks_for(threads, kBlock), kBlock, 0, powers, arguments...);
  };
  const unsigned half = (log2_size_ + 1) / 2;
  CUZK_TRY(launch(fill_roots, low_roots_.size, low_roots_.data, static_cast<uint32_t>(low_roots_.size), 0u));
  CUZK_TRY(launch(fill_roots, high_roots_.size, high_roots_.data, static_cast<uint32_t>(high_roots_.size), half));

  StepMultipliers multipliers;
  for (unsigned i = 0; i < 4; i++) multipliers.pieces[i] = device::Fr::from_host(device::fr::multiplier(4, i));
  for (const Direction direction : {kEvaluate, kInterpolate}) {
    const uint32_t sign = direction == kEvaluate ? 1 : ~uint32_t{0};
    StepExponents exponents{};
    for (unsigned s = 0; s < 7 && s + 3 <= log2_size_; s++)
      exponents.by_stride[s] = sign * (2u << (log2_size_ - s - 3));
    CUZK_TRY(gpu::launch(stream, fill_steps, 7, kStepRow, 0, powers, multipliers, exponents,
                         step_twiddles_[direction].as<uint4>().data, order_mask));
    for (const Pass& pass : passes_) {
      for (const Points points : {Points::kSubgroup, Points::kCoset}) {
        const auto table = pass.twiddles[direction][static_cast<size_t>(points)];
        const uint32_t exponent = sign << (log2_size_ - pass.log2_rows - pass.log2_columns);
        CUZK_TRY(launch(fill_twiddles, table.size, table.data, pass.log2_columns, static_cast<uint32_t>(table.size),
                        exponent, points == Points::kCoset, order_mask));
      }
    }
  }
  return {};
}

Status DeviceDomain::evaluate(Points points, gpu::DeviceSpan<device::Fr> data, const gpu::Stream& stream) const {
  if (data.size != size()) return fail(Code::kInternal, "{} elements for a domain of {}", data.size, size());
  for (size_t p = passes_.size(); p-- > 0;) CUZK_TRY(run_pass(passes_[p], kEvaluate, points, data, stream, {}));
  return {};
}

Status DeviceDomain::interpolate(Points points, gpu::DeviceSpan<device::Fr> data, const gpu::Stream& stream,
                                 const Around& around) const {
  for (const size_t size : {data.size, around.source.size, around.factor.size, around.minuend.size}) {
    if (size != this->size() && (size != 0 || data.size != this->size()))
      return fail(Code::kInternal, "{} elements for a domain of {}", size, this->size());
  }
  for (const Pass& pass : passes_) CUZK_TRY(run_pass(pass, kInterpolate, points, data, stream, around));
  return {};
}

Status DeviceDomain::run_pass(const Pass& pass, Direction direction, Points points, gpu::DeviceSpan<device::Fr> data,
                              const gpu::Stream& stream, const Around& around) const {
  const unsigned log2_block = pass.log2_rows + pass.log2_columns;
  const bool first = &pass == &passes_.front(), last = &pass == &passes_.back();
  const Fr scale = direction == kInterpolate && first ? around.scale * Fr::from_u64(size()).inverse() : Fr::one();
  PassArguments arguments{};
  arguments.data = data.data;
  arguments.source = first && around.source.size != 0 ? around.source.data : data.data;
  arguments.factor = first ? around.factor.data : nullptr;
  arguments.minuend = last ? around.minuend.data : nullptr;
  arguments.steps = step_twiddles_[direction].as<uint4>().data;
  arguments.table = pass.twiddles[direction][static_cast<size_t>(points)].data;
  arguments.low_roots = low_roots_.data;
  arguments.high_roots = high_roots_.data;
  arguments.computed = log2_block > kMaxLog2Table;
  arguments.coset = points == Points::kCoset;
  arguments.scaled = scale != Fr::one();
  arguments.exponent = (direction == kEvaluate ? 1 : ~uint32_t{0}) << (log2_size_ - log2_block);
  arguments.log2_low_roots = (log2_size_ + 1) / 2;
  arguments.log2_order = log2_size_ + 1;
  arguments.scale = device::Fr::from_host(scale);
  arguments.log2_columns = pass.log2_columns;
  arguments.log2_lines = log2_size_ - pass.log2_rows;

  const PassKernels kernels = pass_kernels(pass.log2_rows, std::make_integer_sequence<unsigned, kMaxLog2Rows + 1>());
  const PassKernel kernel = kernels.kernels[direction];
  const gpu::Current current(stream.ordinal());
  CUZK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(kernels.shared_bytes)));
  return gpu::launch(stream, kernel, gpu::blocks_for(uint64_t{1} << arguments.log2_lines, kernels.lines), kBlock,
                     kernels.shared_bytes, arguments);
}

}  // namespace cuzk::ntt
