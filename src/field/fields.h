#pragma once
// The two prime fields of BLS12-381. Source: filecoin-spec A.1, draft-irtf-cfrg-pairing-friendly-curves 4.2.1.

#include "field/montgomery.h"

namespace cuzk {

struct FrParams {
  static constexpr size_t kLimbs = 4;
  static constexpr std::array<uint64_t, 4> kModulus = {0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805,
                                                       0x73eda753299d7d48};
};
struct FpParams {
  static constexpr size_t kLimbs = 6;
  static constexpr std::array<uint64_t, 6> kModulus = {0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624,
                                                       0x64774b84f38512bf, 0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a};
};

// Scalar field: order r of the pairing groups, 255 bits; r - 1 = 2^32 * odd, generator 7.
using Fr = Montgomery<FrParams>;
// Base field, 381 bits; p = 3 mod 4.
using Fp = Montgomery<FpParams>;

inline constexpr unsigned kFrTwoAdicity = 32;
inline constexpr uint64_t kFrGenerator = 7;

// A primitive 2^log2_size-th root of unity, 7^((r-1)/2^log2_size); log2_size <= 32.
constexpr Fr fr_root_of_unity(unsigned log2_size) {
  std::array<uint64_t, 4> exponent = Fr::kModulus;
  exponent[0] -= 1;
  for (unsigned i = 0; i < log2_size; i++) {
    for (size_t j = 0; j < 4; j++) exponent[j] = exponent[j] >> 1 | (j < 3 ? exponent[j + 1] << 63 : 0);
  }
  return Fr::from_u64(kFrGenerator).pow(exponent);
}

}  // namespace cuzk
