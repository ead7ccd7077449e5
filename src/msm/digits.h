#pragma once
// Signed digits of scalars: s = sum of digit(w) * 2^(bits * w) modulo r, with digits in [-2^(bits-1), 2^(bits-1)].
//
// A scalar above r/2 counts as s - r, so 255 bits of digits suffice. Adding 2^(bits-1) at every digit but the top one
// makes each lower digit a plain bit field of the sum, less that bias: no carries from window to window.

#include <array>
#include <cstdint>

#include "field/fields.h"

namespace cuzk::msm {

class Digits {
 public:
  static constexpr unsigned kBits = 255;
  static constexpr unsigned kMaxWindowBits = 22;
  using Prepared = std::array<uint64_t, 4>;

  constexpr explicit Digits(unsigned bits) : bits_(bits), windows_((kBits + bits - 1) / bits) {
    for (unsigned w = 0; w + 1 < windows_; w++) {
      const unsigned bit = bits * w + bits - 1;
      bias_[bit / 64] |= uint64_t{1} << (bit % 64);
    }
  }
  constexpr unsigned windows() const { return windows_; }
  // Digits are at most this in magnitude.
  constexpr size_t buckets() const { return size_t{1} << (bits_ - 1); }

  constexpr Prepared prepare(const Fr& scalar) const {
    Prepared value = scalar.canonical();
    uint64_t borrow = 0, carry = 0;
    if (limbs::less(kHalf, value)) {
      for (size_t i = 0; i < 4; i++) value[i] = limbs::sub_borrow(value[i], Fr::kModulus[i], borrow);
    }
    for (size_t i = 0; i < 4; i++) value[i] = limbs::add_carry(value[i], bias_[i], carry);
    return value;
  }
  // `value` gives the limbs of a prepared scalar by index.
  template <class Value>
  constexpr int64_t digit(const Value& value, unsigned window) const {
    const unsigned low = bits_ * window, limb = low / 64, shift = low % 64;
    if (window + 1 == windows_) return static_cast<int64_t>(value[3]) >> (low - 192);
    uint64_t field = value[limb] >> shift;
    if (shift + bits_ > 64) field |= value[limb + 1] << (64 - shift);
    const uint64_t bias = uint64_t{1} << (bits_ - 1);
    return static_cast<int64_t>(field & (2 * bias - 1)) - static_cast<int64_t>(bias);
  }

 private:
  static constexpr Prepared kHalf = [] {  // (r - 1) / 2
    Prepared half{};
    for (size_t i = 0; i < 4; i++) half[i] = Fr::kModulus[i] >> 1 | (i < 3 ? Fr::kModulus[i + 1] << 63 : 0);
    return half;
  }();

  unsigned bits_, windows_;
  Prepared bias_{};
};

}  // namespace cuzk::msm
