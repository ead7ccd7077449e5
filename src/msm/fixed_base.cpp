#include "msm/fixed_base.h"

#include <algorithm>

namespace cuzk::msm {

unsigned fixed_base_window_bits(size_t count) { return count < 1000 ? 4 : 10; }

template <class F>
FixedBase<F>::FixedBase(const Xyzz<F>& base, unsigned window_bits, exec::Pool&)
    : window_bits_(window_bits), windows_((255 + window_bits - 1) / window_bits) {
  Xyzz<F> unit = base;
  for (unsigned w = 0; w < windows_; w++) {
    Xyzz<F> multiple = unit;
    for (size_t d = 1; d < size_t{1} << window_bits; d++) {
      table_.push_back(multiple.to_affine());
      multiple += unit;
    }
    unit = multiple;
  }
}

template <class F>
void FixedBase<F>::mul(std::span<const Fr> scalars, std::span<Affine<F>> out, exec::Pool& pool) const {
  const size_t per_window = (size_t{1} << window_bits_) - 1;
  pool.for_each_chunk(scalars.size(), 64, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) {
      const auto limbs = scalars[i].canonical();
      Xyzz<F> sum;
      for (unsigned w = 0; w < windows_; w++) {
        const size_t low = w * window_bits_;
        uint64_t digit = limbs[low / 64] >> (low % 64);
        if (low % 64 + window_bits_ > 64 && low / 64 < 3) digit |= limbs[low / 64 + 1] << (64 - low % 64);
        digit &= per_window;
        if (digit != 0) sum += table_[w * per_window + digit - 1];
      }
      out[i] = sum.to_affine();
    }
  });
}

template class FixedBase<Fp>;
template class FixedBase<Fp2>;

}  // namespace cuzk::msm
