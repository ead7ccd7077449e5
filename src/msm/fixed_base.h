#pragma once
// Many multiples of one point, for setup: tables of signed windows, results by batched affine addition.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "curve/bls12_381.h"
#include "exec/pool.h"
#include "msm/digits.h"

namespace cuzk::msm {

// The window width that makes `count` multiplications cheapest, the making of the tables included; in [1, 16].
unsigned fixed_base_window_bits(size_t count);

// Immutable once made. Instantiated for Fp and Fp2.
template <class F>
class FixedBase {
 public:
  // Any base; window_bits in [1, 22]. The tables hold ceil(255 / window_bits) * 2^(window_bits - 1) points.
  FixedBase(const Xyzz<F>& base, unsigned window_bits, exec::Pool& pool);

  // out[i] = scalars[i] * base; both of one length. Allocates about 0.4 MiB (G2: 0.8) for each thread.
  void mul(std::span<const Fr> scalars, std::span<Affine<F>> out, exec::Pool& pool) const;

  size_t bytes() const { return table_.size() * sizeof(Affine<F>); }

 private:
  Digits digits_;
  std::vector<Affine<F>> table_;  // window-major; entry d - 1 of window w is d * 2^(w * window_bits) * base
};

}  // namespace cuzk::msm
