#pragma once
// msm/digits.h for the scalars of the device, in 32-bit words.

#include "field/cuda/montgomery.cuh"

namespace cuzk::msm {

struct Windows {
  unsigned bits, count;
  uint32_t bias[8];  // 2^(bits-1) at every digit but the top one

  static Windows of(unsigned bits) {
    Windows out{bits, (255 + bits - 1) / bits, {}};
    for (unsigned w = 0; w + 1 < out.count; w++) {
      const unsigned bit = bits * w + bits - 1;
      out.bias[bit / 32] |= 1u << (bit % 32);
    }
    return out;
  }
  CUZK_DEVICE unsigned buckets() const { return 1u << (bits - 1); }  // digits are at most this in magnitude

  // The scalar, less r where it is above r/2, plus the bias; in words [0], [stride], ...
  CUZK_DEVICE void prepare(const device::Fr& scalar, uint32_t* words, size_t stride) const {
    constexpr device::Fr r = device::Fr::modulus();
    const device::Fr value = scalar * device::Fr{{1}};  // out of Montgomery form
    uint32_t less_r[8];
    uint64_t borrow = 0, carry = 0;
    for (unsigned i = 0; i < 8; i++) {
      const uint64_t difference = uint64_t{value.limbs[i]} - r.limbs[i] - borrow;
      less_r[i] = static_cast<uint32_t>(difference), borrow = difference >> 63;
    }
    for (unsigned i = 0; i < 8; i++) carry = (uint64_t{value.limbs[i]} + less_r[i] + carry) >> 32;
    const bool above_half = carry != 0;  // 2 value - r is not negative
    carry = 0;
    for (unsigned i = 0; i < 8; i++) {
      carry += uint64_t{above_half ? less_r[i] : value.limbs[i]} + bias[i];
      words[i * stride] = static_cast<uint32_t>(carry), carry >>= 32;
    }
  }
  CUZK_DEVICE int32_t digit(const uint32_t* words, size_t stride, unsigned window) const {
    const unsigned low = bits * window, word = low / 32, shift = low % 32;
    uint32_t field = words[word * stride] >> shift;
    if (window + 1 == count) return static_cast<int32_t>(words[7 * stride]) >> (low - 224);
    if (shift + bits > 32) field |= words[(word + 1) * stride] << (32 - shift);
    return static_cast<int32_t>(field & (2 * buckets() - 1)) - static_cast<int32_t>(buckets());
  }
};

}  // namespace cuzk::msm
