#pragma once
// The transforms of ntt/ntt.h on a device: coefficients in bit-reversed order to values in natural order and back, in
// place, in three passes over memory at 2^19 to 2^27.

#include <array>
#include <vector>

#include "field/cuda/montgomery.cuh"
#include "gpu/memory.h"
#include "gpu/stream.h"
#include "ntt/ntt.h"

namespace cuzk::ntt {

// What an interpolation does besides, at no pass of its own: data = minuend - scale * interpolate(source * factor).
struct Around {
  gpu::DeviceSpan<const device::Fr> source;   // values read instead of the data; may be the data
  gpu::DeviceSpan<const device::Fr> factor;   // values that they are multiplied by
  gpu::DeviceSpan<const device::Fr> minuend;  // coefficients
  Fr scale = Fr::one();
};

// The twiddles of one size in device memory. Immutable; serves any number of streams.
//
// kCoset means the odd points of the domain of twice the size, v^(2i+1) with v = 7^((r-1)/2^(log2_size+1)), not 7 w^i
// as on the CPU: all twiddles are powers of v then, and X^n - 1 is -2 on the coset.
class DeviceDomain {
 public:
  static constexpr unsigned kMaxLog2Size = 30;

  // Device memory for the tables: 34 MB at 2^27, less than that below 2^18.
  static uint64_t bytes(unsigned log2_size);
  // Fills them; `memory` is that large, and outlives the domain. kInvalidInput for a larger size or less memory.
  static Result<DeviceDomain> make(unsigned log2_size, gpu::DeviceSpan<std::byte> memory, const gpu::Stream& stream);

  unsigned log2_size() const { return log2_size_; }
  size_t size() const { return size_t{1} << log2_size_; }

  // Elements are Montgomery residues in [0, r) before and after. kInternal where a span is not of size().
  Status evaluate(Points points, gpu::DeviceSpan<device::Fr> data, const gpu::Stream& stream) const;
  Status interpolate(Points points, gpu::DeviceSpan<device::Fr> data, const gpu::Stream& stream,
                     const Around& around = {}) const;

 private:
  enum Direction { kEvaluate, kInterpolate };
  // As on the CPU: blocks of rows x columns elements, each a row-major matrix whose columns are transformed.
  struct Pass {
    unsigned log2_rows, log2_columns;
    // By direction and points: element (q, j) times this; empty where all are one or where they are computed.
    std::array<std::array<gpu::DeviceSpan<device::Fr>, 2>, 2> twiddles;
  };

  // Takes the tables from `carver`.
  DeviceDomain(unsigned log2_size, gpu::DeviceCarver& carver);
  Status fill(const gpu::Stream& stream) const;
  Status run_pass(const Pass& pass, Direction direction, Points points, gpu::DeviceSpan<device::Fr> data,
                  const gpu::Stream& stream, const Around& around) const;

  unsigned log2_size_;
  gpu::DeviceSpan<device::Fr> low_roots_, high_roots_;        // v^i and v^(i 2^half)
  std::array<gpu::DeviceSpan<device::Fr>, 2> step_twiddles_;  // by direction
  std::vector<Pass> passes_;                                  // from natural to reversed order
};

}  // namespace cuzk::ntt
