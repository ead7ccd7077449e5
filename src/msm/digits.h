#pragma once
// Signed digits of scalars: s = sum of digit(w) * 2^(bits * w) modulo r, with digits in [-2^(bits-1), 2^(bits-1)].
//
// A scalar above r/2 counts as s - r, so 255 bits of digits suffice. Adding 2^(bits-1) at every digit but the top one
// makes each lower digit a plain bit field of the sum, less that bias: no carries from window to window.

#include <algorithm>
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
  // Where one window's digit lies in prepared scalars.
  struct Window {
    unsigned low, high, shift;  // the limbs that hold it, from a bit of the low one on
    uint64_t mask;
    int64_t bias;
    bool top;

    constexpr int64_t digit(uint64_t low_limb, uint64_t high_limb) const {
      if (top) return static_cast<int64_t>(low_limb) >> shift;
      return static_cast<int64_t>((low_limb >> shift | high_limb << 1 << (63 - shift)) & mask) - bias;
    }
  };
  constexpr Window window(unsigned index) const {
    const unsigned bit = bits_ * index;
    if (index + 1 == windows_) return {.low = 3, .high = 3, .shift = bit - 192, .mask = 0, .bias = 0, .top = true};
    const uint64_t bias = uint64_t{1} << (bits_ - 1);
    return {.low = bit / 64,
            .high = std::min(bit / 64 + 1, 3u),
            .shift = bit % 64,
            .mask = 2 * bias - 1,
            .bias = static_cast<int64_t>(bias),
            .top = false};
  }
  constexpr int64_t digit(const Prepared& value, unsigned index) const {
    const Window at = window(index);
    return at.digit(value[at.low], value[at.high]);
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
