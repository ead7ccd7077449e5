#include "curve/cuda/encoding.h"
#include "curve/cuda/point.cuh"
#include "gpu/launch.cuh"

namespace cuzk::device {
namespace {

constexpr unsigned kThreads = 128;

// --- file form and native form. The words of a file are big-endian, and coordinates begin with the highest.

__device__ __forceinline__ uint32_t swap_bytes(uint32_t word) { return __byte_perm(word, 0, 0x0123); }

__device__ __forceinline__ Fp read_coordinate(const Fp* at) {
  const Fp words = load(at);
  Fp out;
#pragma unroll
  for (unsigned i = 0; i < Fp::kLimbs; i++) out.limbs[i] = swap_bytes(words.limbs[Fp::kLimbs - 1 - i]);
  return out;
}
__device__ __forceinline__ void write_coordinate(Fp* at, const Fp& value) {
  const Fp canonical = value * Fp{{1}};
  Fp words;
#pragma unroll
  for (unsigned i = 0; i < Fp::kLimbs; i++) words.limbs[i] = swap_bytes(canonical.limbs[Fp::kLimbs - 1 - i]);
  store(at, words);
}
// Places of the coordinates x, y or x.c0, x.c1, y.c0, y.c1 in a file, where Fp2 has c1 first.
template <class Point>
constexpr unsigned kCoordinates = sizeof(Point) / sizeof(Fp);
template <class Point>
__device__ __forceinline__ unsigned place(unsigned coordinate) {
  return kCoordinates<Point> == 2 ? coordinate : coordinate ^ 1;
}

__device__ __forceinline__ bool below_modulus(const Fp& value) {
  constexpr Fp p = Fp::modulus();
  uint64_t borrow = 0;
#pragma unroll
  for (unsigned i = 0; i < Fp::kLimbs; i++) borrow = (uint64_t{value.limbs[i]} - p.limbs[i] - borrow) >> 63;
  return borrow != 0;
}

// From file form to native form, in place. A set flag makes the first coordinate too large, so infinity and other forms
// are refused with it; (0, 0) is how infinity is held, but in a file a point off the curve.
template <class Point>
__global__ __launch_bounds__(kThreads) void decode(Point* points, uint64_t count, bool check_curve, uint64_t ordinal,
                                                   uint64_t* fault) {
  const uint64_t i = blockIdx.x * uint64_t{kThreads} + threadIdx.x;
  if (i >= count) return;
  Fp* const at = reinterpret_cast<Fp*>(points + i);
  constexpr unsigned kCount = kCoordinates<Point>;
  constexpr Fp r2 = Fp::from_host(cuzk::Fp::from_raw(cuzk::Fp::kR2));
  Fp coordinates[kCount];
  bool good = true;
#pragma unroll
  for (unsigned c = 0; c < kCount; c++) {
    const Fp value = read_coordinate(at + place<Point>(c));
    good = good && below_modulus(value);
    coordinates[c] = value * r2;
  }
#pragma unroll
  for (unsigned c = 0; c < kCount; c++) store(at + c, coordinates[c]);
  const Point point = load(points + i);
  good = good && !point.is_infinity() && (!check_curve || on_curve(point));
  if (!good) keep_lowest(fault, ordinal + i);
}

// 8 warps a multiprocessor test 23.8 M points/s on an H200, 12 warps 21.6; G2 has registers for 8: 13.9 M.
constexpr unsigned kG1CheckThreads = 256;
__global__ __launch_bounds__(kG1CheckThreads, 1) void check_subgroup(const G1Affine* points, uint64_t count,
                                                                     uint64_t ordinal, uint64_t* fault) {
  __shared__ Jacobian<Fp> kept[kG1CheckThreads];
  const uint64_t i = blockIdx.x * uint64_t{kG1CheckThreads} + threadIdx.x;
  if (i < count && !in_subgroup(points + i, kept + threadIdx.x)) keep_lowest(fault, ordinal + i);
}
__global__ __launch_bounds__(kThreads) void check_subgroup(const G2Affine* points, uint64_t count, uint64_t ordinal,
                                                           uint64_t* fault) {
  const uint64_t i = blockIdx.x * uint64_t{kThreads} + threadIdx.x;
  if (i < count && !in_subgroup(points + i)) keep_lowest(fault, ordinal + i);
}

// From native form to file form in pinned memory of the host, which a block writes in whole lines.
template <class Point>
__global__ __launch_bounds__(kThreads) void encode(const Point* points, uint64_t count, uint4* out) {
  __shared__ Point encoded[kThreads];
  const uint64_t first = blockIdx.x * uint64_t{kThreads}, i = first + threadIdx.x;
  if (i < count) {
    const Fp* const from = reinterpret_cast<const Fp*>(points + i);
    Fp* const to = reinterpret_cast<Fp*>(encoded + threadIdx.x);
#pragma unroll
    for (unsigned c = 0; c < kCoordinates<Point>; c++) write_coordinate(to + place<Point>(c), load(from + c));
  }
  __syncthreads();
  constexpr unsigned kVectors = sizeof(Point) / sizeof(uint4);
  const unsigned vectors = static_cast<unsigned>(min(uint64_t{kThreads}, count - first)) * kVectors;
  for (unsigned v = threadIdx.x; v < vectors; v += kThreads)
    out[first * kVectors + v] = reinterpret_cast<const uint4*>(encoded)[v];
}

}  // namespace

template <class Point>
Status decode_points(gpu::DeviceSpan<Point> points, bool full, uint64_t ordinal, gpu::DeviceSpan<uint64_t> fault,
                     const gpu::Stream& stream) {
  CUZK_TRY(gpu::launch(stream, decode<Point>, gpu::blocks_for(points.size, kThreads), kThreads, 0, points.data,
                       uint64_t{points.size}, full, ordinal, fault.data));
  if (!full) return {};
  void (*const kernel)(const Point*, uint64_t, uint64_t, uint64_t*) = check_subgroup;
  const unsigned threads = std::is_same_v<Point, G1Affine> ? kG1CheckThreads : kThreads;
  return gpu::launch(stream, kernel, gpu::blocks_for(points.size, threads), threads, 0, points.data,
                     uint64_t{points.size}, ordinal, fault.data);
}

template <class Point>
Status encode_points(gpu::DeviceSpan<const Point> points, std::span<std::byte> out, const gpu::Stream& stream) {
  if (out.size() < points.size * sizeof(Point)) return fail(Code::kInternal, "{} bytes for points", out.size());
  return gpu::launch(stream, encode<Point>, gpu::blocks_for(points.size, kThreads), kThreads, 0, points.data,
                     uint64_t{points.size}, reinterpret_cast<uint4*>(out.data()));
}

template Status decode_points(gpu::DeviceSpan<G1Affine>, bool, uint64_t, gpu::DeviceSpan<uint64_t>, const gpu::Stream&);
template Status decode_points(gpu::DeviceSpan<G2Affine>, bool, uint64_t, gpu::DeviceSpan<uint64_t>, const gpu::Stream&);
template Status encode_points(gpu::DeviceSpan<const G1Affine>, std::span<std::byte>, const gpu::Stream&);
template Status encode_points(gpu::DeviceSpan<const G2Affine>, std::span<std::byte>, const gpu::Stream&);

}  // namespace cuzk::device
