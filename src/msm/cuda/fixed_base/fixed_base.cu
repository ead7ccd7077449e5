#include <vector>

#include "curve/cuda/block_inverse.cuh"
#include "gpu/launch.cuh"
#include "msm/cuda/fixed_base/fixed_base.h"
#include "msm/cuda/fixed_base/windows.cuh"

namespace cuzk::msm {
namespace {

using device::block_inverse;
using device::load;
using device::store;

constexpr unsigned kThreads = 128;
// Points a thread; kTile additions share an inversion. With 64, 32, 16, 8 an H200 makes 261, 239, 213, 175 M points/s
// in G1 (20-bit windows) and 63, 59, 53, 45 in G2; sums in XYZZ coordinates give 122 in G1.
constexpr unsigned kPerThread = 64, kTile = kThreads * kPerThread;

template <class F>
struct Memory {
  gpu::DeviceSpan<Affine<F>> table;  // window-major; entry d - 1 of window w is d * 2^(w * window_bits) * base
  gpu::DeviceSpan<F> products;       // of denominators; kTile a block, as the following
  gpu::DeviceSpan<uint32_t> words;   // of prepared scalars

  Memory(const FixedBasePlan& plan, gpu::DeviceCarver& carver) {
    const Windows windows = Windows::of(plan.window_bits);
    table = carver.take<Affine<F>>(size_t{windows.count} * windows.buckets());
    products = carver.take<F>(size_t{plan.blocks} * kTile);
    words = carver.take<uint32_t>(size_t{plan.blocks} * kTile * 8);
  }
};

// The entries of all windows from the first of each: d * unit by double and add, 16 products a bit of d.
template <class F>
__global__ __launch_bounds__(kThreads) void make_table(Affine<F>* table, const Affine<F>* units, unsigned bits,
                                                       uint64_t size) {
  __shared__ F heap[2 * kThreads];
  const uint64_t i = blockIdx.x * uint64_t{kThreads} + threadIdx.x;
  Xyzz<F> sum = Xyzz<F>::infinity();
  if (i < size) {
    const Affine<F>* const unit = units + (i >> (bits - 1));
    const uint32_t d = static_cast<uint32_t>(i & ((1u << (bits - 1)) - 1)) + 1;
#pragma unroll 1
    for (int bit = static_cast<int>(bits) - 1; bit >= 0; bit--) {
      sum = sum.dbl();
      if (d >> bit & 1) sum = sum + load(unit);
    }
  }
  const bool infinite = sum.is_infinity();
  const F inverse = block_inverse<kThreads>(infinite ? F::one() : sum.zz * sum.zzz, heap);
  if (i < size)
    store(table + i, infinite ? Affine<F>::infinity() : Affine<F>{sum.x * sum.zzz * inverse, sum.y * sum.zz * inverse});
}

// a + b (a - b where `negative`) needs 1/denominator(a, b). The y are fetched in rare cases only.
template <class F>
__device__ __forceinline__ F denominator(const Affine<F>* a, const Affine<F>* b, bool negative) {
  const F x1 = load(&a->x), x2 = load(&b->x), x = x2 - x1;
  if (!x.is_zero() && !x1.is_zero() && !x2.is_zero()) return x;
  const F y1 = load(&a->y), y2 = load(&b->y);
  if ((x1.is_zero() && y1.is_zero()) || (x2.is_zero() && y2.is_zero())) return F::one();
  if (!x.is_zero()) return x;
  const F y = negative ? y1 - y2 : y1 + y2;
  return y.is_zero() ? F::one() : y;
}
template <class F>
__device__ __forceinline__ Affine<F> add(const Affine<F>& a, const Affine<F>& b, const F& inverse) {
  if (a.is_infinity()) return b;
  if (b.is_infinity()) return a;
  F numerator = b.y - a.y;
  if (a.x == b.x) {
    if ((a.y + b.y).is_zero()) return Affine<F>::infinity();
    const F square = a.x.square();
    numerator = square.dbl() + square;
  }
  const F slope = numerator * inverse, x = slope.square() - a.x - b.x;
  return {x, slope * (a.x - x) - a.y};
}

// Each block takes kTile points through all windows, one addition to each point a window. Thread t has points t, t +
// kThreads, ... of the tile.
template <class F>
__global__ __launch_bounds__(kThreads) void multiply(const Affine<F>* table, Windows windows, const device::Fr* scalars,
                                                     uint64_t count, Affine<F>* out, F* products, uint32_t* words) {
  __shared__ F heap[2 * kThreads];
  products += blockIdx.x * size_t{kTile} + threadIdx.x;
  words += blockIdx.x * size_t{kTile} * 8 + threadIdx.x;
  for (uint64_t tile = blockIdx.x * uint64_t{kTile}; tile < count; tile += gridDim.x * uint64_t{kTile}) {
    const uint64_t first = tile + threadIdx.x;
    const unsigned own =
        first >= count ? 0 : static_cast<unsigned>(min(uint64_t{kPerThread}, (count - first - 1) / kThreads + 1));
    Affine<F>* const sums = out + first;
    const auto digit = [&](unsigned k, unsigned window) {
      return windows.digit(words + size_t{k} * 8 * kThreads, kThreads, window);
    };
    const auto entry = [&](int32_t chosen, unsigned window) {
      return table + size_t{window} * windows.buckets() + (abs(chosen) - 1);
    };
    const auto signed_entry = [&](int32_t chosen, unsigned window) {
      if (chosen == 0) return Affine<F>::infinity();
      const Affine<F> point = load(entry(chosen, window));
      return chosen < 0 ? -point : point;
    };
#pragma unroll 1
    for (unsigned k = 0; k < own; k++) {
      windows.prepare(load(scalars + first + size_t{k} * kThreads), words + size_t{k} * 8 * kThreads, kThreads);
      store(sums + size_t{k} * kThreads, signed_entry(digit(k, 0), 0));
    }
#pragma unroll 1
    for (unsigned window = 1; window < windows.count; window++) {
      F product = F::one();
#pragma unroll 1
      for (unsigned k = 0; k < own; k++) {
        const int32_t chosen = digit(k, window);
        if (chosen == 0) continue;
        store(products + k * kThreads, product);
        product = product * denominator(sums + size_t{k} * kThreads, entry(chosen, window), chosen < 0);
      }
      F inverse = block_inverse<kThreads>(product, heap);
#pragma unroll 1
      for (unsigned k = own; k-- > 0;) {
        const int32_t chosen = digit(k, window);
        if (chosen == 0) continue;
        Affine<F>* const sum = sums + size_t{k} * kThreads;
        const F here = inverse * load(products + k * kThreads);
        inverse = inverse * denominator(sum, entry(chosen, window), chosen < 0);
        store(sum, add(load(sum), signed_entry(chosen, window), here));
      }
    }
  }
}

}  // namespace

FixedBasePlan plan_fixed_base_windows(unsigned window_bits, bool g2, const gpu::DeviceInfo& device) {
  const unsigned resident = g2 ? 2 : 4;  // blocks a multiprocessor, by registers
  FixedBasePlan plan{window_bits, device.multiprocessors * resident, 0};
  gpu::DeviceCarver counter;
  if (g2) {
    Memory<device::Fp2>(plan, counter);
  } else {
    Memory<device::Fp>(plan, counter);
  }
  plan.bytes = counter.bytes();
  return plan;
}

FixedBasePlan plan_fixed_base(uint64_t count, bool g2, const gpu::DeviceInfo& device) {
  // In additions, of 7 products.
  const auto cost = [&](unsigned bits) {
    const Windows windows = Windows::of(bits);
    return windows.count * (static_cast<double>(count) + 16.0 / 7 * bits * windows.buckets());
  };
  unsigned best = 4;
  for (unsigned bits = 5; bits <= 20; bits++) {
    if (cost(bits) < cost(best)) best = bits;
  }
  return plan_fixed_base_windows(best, g2, device);
}

template <class F>
Result<DeviceFixedBase<F>> DeviceFixedBase<F>::make(const FixedBasePlan& plan, const Xyzz<F>& base,
                                                    gpu::DeviceSpan<std::byte> memory, const gpu::Stream& stream) {
  if (memory.size < plan.bytes) return fail(Code::kInternal, "{} bytes for a plan of {}", memory.size, plan.bytes);
  gpu::DeviceCarver carver(memory);
  const Memory<device::TwinOf<F>> arrays(plan, carver);
  const Windows windows = Windows::of(plan.window_bits);
  std::vector<Affine<F>> units;
  Xyzz<F> unit = base;
  for (unsigned w = 0; w < windows.count; w++) {
    units.push_back(unit.to_affine());
    for (unsigned i = 0; i < windows.bits; i++) unit = unit.dbl();
  }
  const auto device_units = arrays.products.template as<Affine<F>>().first(units.size());
  CUZK_TRY(stream.upload(device_units, std::span<const Affine<F>>(units)));
  CUZK_TRY(gpu::launch(stream, make_table<device::TwinOf<F>>, gpu::blocks_for(arrays.table.size, kThreads), kThreads, 0,
                       arrays.table.data, device_units.template as<Point>().data, windows.bits,
                       uint64_t{arrays.table.size}));
  DeviceFixedBase out;
  out.plan_ = plan;
  out.memory_ = memory;
  return out;
}

template <class F>
Status DeviceFixedBase<F>::mul(gpu::DeviceSpan<const device::Fr> scalars, gpu::DeviceSpan<Point> out,
                               const gpu::Stream& stream) const {
  if (scalars.size != out.size) return fail(Code::kInternal, "{} scalars for {} points", scalars.size, out.size);
  gpu::DeviceCarver carver(memory_);
  const Memory<device::TwinOf<F>> arrays(plan_, carver);
  const unsigned blocks = std::min(plan_.blocks, gpu::blocks_for(scalars.size, kTile));
  return gpu::launch(stream, multiply<device::TwinOf<F>>, blocks, kThreads, 0, arrays.table.data,
                     Windows::of(plan_.window_bits), scalars.data, uint64_t{scalars.size}, out.data,
                     arrays.products.data, arrays.words.data);
}

template class DeviceFixedBase<Fp>;
template class DeviceFixedBase<Fp2>;

}  // namespace cuzk::msm
