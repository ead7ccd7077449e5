#pragma once
// A prime field element in Montgomery form, constexpr throughout. Scalar arithmetic is inline and never dispatched;
// loops over many elements go through field/kernels.h.
//
// Source: Montgomery 1985; interleaved (CIOS) multiplication after Koc, Acar, Kaliski 1996.

#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

namespace cuzk {

__extension__ typedef unsigned __int128 uint128_t;
__extension__ typedef __int128 int128_t;

// Arithmetic on little-endian arrays of 64-bit limbs.
namespace limbs {

// g++ 12 makes a chain of add-with-carry from its builtins, but not from 128-bit sums: 3.2 ns against 12 ns for a sum
// in Fp.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDA_ARCH__)
#define CUZK_CARRY_BUILTINS 1
#else
#define CUZK_CARRY_BUILTINS 0
#endif

constexpr uint64_t add_carry(uint64_t a, uint64_t b, uint64_t& carry) {
#if CUZK_CARRY_BUILTINS
  if (!std::is_constant_evaluated()) {
    unsigned long long out;
    carry = __builtin_ia32_addcarryx_u64(static_cast<unsigned char>(carry), a, b, &out);
    return out;
  }
#endif
  uint128_t sum = static_cast<uint128_t>(a) + b + carry;
  carry = static_cast<uint64_t>(sum >> 64);
  return static_cast<uint64_t>(sum);
}
constexpr uint64_t sub_borrow(uint64_t a, uint64_t b, uint64_t& borrow) {
#if CUZK_CARRY_BUILTINS
  if (!std::is_constant_evaluated()) {
    unsigned long long out;
    borrow = __builtin_ia32_sbb_u64(static_cast<unsigned char>(borrow), a, b, &out);
    return out;
  }
#endif
  uint128_t difference = static_cast<uint128_t>(a) - b - borrow;
  borrow = static_cast<uint64_t>(difference >> 64) & 1;
  return static_cast<uint64_t>(difference);
}
// a*b + c + carry, which is at most 2^128 - 1; the high half goes to carry.
constexpr uint64_t multiply_add(uint64_t a, uint64_t b, uint64_t c, uint64_t& carry) {
  uint128_t value = static_cast<uint128_t>(a) * b + c + carry;
  carry = static_cast<uint64_t>(value >> 64);
  return static_cast<uint64_t>(value);
}
// The same value, in a general register.
constexpr uint64_t keep_scalar(uint64_t value) {
#if CUZK_CARRY_BUILTINS
  if (!std::is_constant_evaluated()) asm("" : "+r"(value));
#endif
  return value;
}
// Eight bytes as a limb and back; compilers make one (swapped) load or store of each.
template <bool kBigEndian>
constexpr uint64_t load(const uint8_t* bytes) {
  uint64_t limb = 0;
  for (int i = 0; i < 8; i++) limb |= static_cast<uint64_t>(bytes[i]) << (kBigEndian ? 56 - 8 * i : 8 * i);
  return limb;
}
template <bool kBigEndian>
constexpr void store(uint64_t limb, uint8_t* bytes) {
  for (int i = 0; i < 8; i++) bytes[i] = static_cast<uint8_t>(limb >> (kBigEndian ? 56 - 8 * i : 8 * i));
}
template <size_t N>
constexpr bool less(const std::array<uint64_t, N>& a, const std::array<uint64_t, N>& b) {
  for (size_t i = N; i-- > 0;) {
    if (a[i] != b[i]) return a[i] < b[i];
  }
  return false;
}
// value - p where value >= p, else value; without a branch, and in place: returning an array makes g++ 12 copy limbs
// that were stored one by one with vector loads, each a failed store forwarding.
template <size_t N>
constexpr void subtract_if_above(std::array<uint64_t, N>& value, const std::array<uint64_t, N>& p) {
  uint64_t difference[N] = {}, borrow = 0;
  for (size_t i = 0; i < N; i++) difference[i] = sub_borrow(value[i], p[i], borrow);
  uint64_t mask = 0 - borrow;
  for (size_t i = 0; i < N; i++) value[i] = keep_scalar((value[i] & mask) | (difference[i] & ~mask));
}
// 2^exponent mod p, for p below 2^(64N-1).
template <size_t N>
constexpr std::array<uint64_t, N> power_of_two(size_t exponent, const std::array<uint64_t, N>& p) {
  std::array<uint64_t, N> value{1};
  for (size_t i = 0; i < exponent; i++) {
    std::array<uint64_t, N> twice{};
    for (size_t j = 0; j < N; j++) twice[j] = value[j] << 1 | (j > 0 ? value[j - 1] >> 63 : 0);
    subtract_if_above(twice, p);
    value = twice;
  }
  return value;
}

// value^-1 mod p, zero for zero; p odd, value < p < 2^(64N-1), inv = -p^-1 mod 2^64. The same steps for every value.
//
// Pornin 2020, "Optimized binary GCD for modular inversion" (eprint 2020/972): 31 steps of the binary GCD of (value, p)
// at a time on the lowest 31 and highest 33 bits alone, then their effect (f, g) on the full numbers.
template <size_t N>
constexpr std::array<uint64_t, N> inverse(const std::array<uint64_t, N>& value, const std::array<uint64_t, N>& p,
                                          uint64_t inv) {
  constexpr int kSteps = 31;
  constexpr uint64_t kLow = (uint64_t{1} << kSteps) - 1;
  int bits = 64 * N;
  while (!(p[(bits - 1) / 64] >> ((bits - 1) % 64) & 1)) bits--;

  // a = u value mod p and b = v value mod p hold throughout; a ends as 0 and b as the GCD, which is 1.
  std::array<uint64_t, N> a = value, b = p, u{1}, v{};
  for (int done = 0; done < 2 * bits - 1; done += kSteps) {
    size_t top = N - 1;
    while (top > 0 && (a[top] | b[top]) == 0) top--;
    const int shift = std::countl_zero(a[top] | b[top] | 1);
    const auto digest = [&](const std::array<uint64_t, N>& x) {
      if (top == 0) return x[0];
      const uint64_t high = shift == 0 ? x[top] : x[top] << shift | x[top - 1] >> (64 - shift);
      return (x[0] & kLow) | (high & ~kLow);
    };
    uint64_t low_a = digest(a), low_b = digest(b);
    int64_t f0 = 1, g0 = 0, f1 = 0, g1 = 1;
    for (int i = 0; i < kSteps; i++) {  // a odd: swap if a < b, subtract; then halve a
      const uint64_t odd = 0 - (low_a & 1), swap = odd & (0 - static_cast<uint64_t>(low_a < low_b));
      const uint64_t ab = (low_a ^ low_b) & swap;
      low_a ^= ab, low_b ^= ab;
      const int64_t f = (f0 ^ f1) & static_cast<int64_t>(swap), g = (g0 ^ g1) & static_cast<int64_t>(swap);
      f0 ^= f, f1 ^= f, g0 ^= g, g1 ^= g;
      low_a = (low_a - (low_b & odd)) >> 1;
      f0 -= f1 & static_cast<int64_t>(odd), g0 -= g1 & static_cast<int64_t>(odd);
      f1 *= 2, g1 *= 2;
    }
    // (x f + y g + p k)/2^31, which is a whole number in (-2^(64N-1), 2^(64N-1)); true where it is negative.
    const auto combine = [&](std::array<uint64_t, N>& out, const auto& x, int64_t f, const auto& y, int64_t g,
                             uint64_t k) {
      int128_t sum = 0;
      uint64_t below = 0;
      for (size_t i = 0; i <= N; i++) {
        if (i < N) {
          sum += static_cast<int128_t>(x[i]) * f + static_cast<int128_t>(y[i]) * g + static_cast<int128_t>(p[i]) * k;
        }
        const uint64_t limb = static_cast<uint64_t>(sum);
        if (i > 0) out[i - 1] = below >> kSteps | limb << (64 - kSteps);
        below = limb;
        sum >>= 64;
      }
      return sum < 0;
    };
    const auto negate_if = [](bool condition, std::array<uint64_t, N>& x) {
      const uint64_t mask = 0 - static_cast<uint64_t>(condition);
      uint64_t carry = condition;
      for (uint64_t& limb : x) limb = add_carry(limb ^ mask, 0, carry);
      return condition;
    };
    std::array<uint64_t, N> next_a{}, next_b{}, next_u{}, next_v{};
    if (negate_if(combine(next_a, a, f0, b, g0, 0), next_a)) f0 = -f0, g0 = -g0;
    if (negate_if(combine(next_b, a, f1, b, g1, 0), next_b)) f1 = -f1, g1 = -g1;
    // For u and v, k makes the division exact; the result is in (-p, 2p).
    const auto combine_mod_p = [&](std::array<uint64_t, N>& out, int64_t f, int64_t g) {
      const uint64_t low = u[0] * static_cast<uint64_t>(f) + v[0] * static_cast<uint64_t>(g);
      const uint64_t mask = 0 - static_cast<uint64_t>(combine(out, u, f, v, g, low * inv & kLow));
      uint64_t carry = 0;
      for (size_t i = 0; i < N; i++) out[i] = add_carry(out[i], p[i] & mask, carry);
      subtract_if_above(out, p);
    };
    combine_mod_p(next_u, f0, g0);
    combine_mod_p(next_v, f1, g1);
    a = next_a, b = next_b, u = next_u, v = next_v;
  }
  return v;
}

}  // namespace limbs

// Params supplies:
//   kLimbs    number of 64-bit limbs N; the modulus must be below 2^(64 N - 1), so that a sum of two does not wrap
//   kModulus  the prime p, least significant limb first
// Values held are always canonical Montgomery residues a*2^(64N) mod p in [0, p).
template <class Params>
class Montgomery {
 public:
  static constexpr size_t kLimbs = Params::kLimbs;
  static constexpr size_t kBytes = 8 * kLimbs;
  using Limbs = std::array<uint64_t, kLimbs>;
  static constexpr Limbs kModulus = Params::kModulus;

  constexpr Montgomery() = default;  // zero

  static constexpr Montgomery zero() { return {}; }
  static constexpr Montgomery one() { return from_raw(kR); }
  static constexpr Montgomery from_u64(uint64_t value) {
    Limbs limbs{};
    limbs[0] = value;
    return from_raw(limbs) * from_raw(kR2);
  }
  // The element with this Montgomery representation, which must be below p.
  static constexpr Montgomery from_raw(const Limbs& raw) {
    Montgomery out;
    out.limbs_ = raw;
    return out;
  }
  // The element with this canonical value, or nothing where it is not below p.
  static constexpr std::optional<Montgomery> from_canonical(const Limbs& value) {
    if (!limbs::less(value, kModulus)) return std::nullopt;
    return from_raw(value) * from_raw(kR2);
  }
  // value mod p for any value; used for hashes and random bytes.
  static constexpr Montgomery from_wide(std::span<const uint64_t> value) {
    Montgomery out;
    for (size_t i = value.size(); i-- > 0;) {
      for (int bit = 63; bit >= 0; bit--) {
        out = out + out;
        if (value[i] >> bit & 1) out = out + one();
      }
    }
    return out;
  }
  static constexpr std::optional<Montgomery> from_bytes_le(std::span<const uint8_t, kBytes> bytes) {
    Limbs value{};
    for (size_t i = 0; i < kLimbs; i++) value[i] = limbs::load<false>(&bytes[8 * i]);
    return from_canonical(value);
  }
  static constexpr std::optional<Montgomery> from_bytes_be(std::span<const uint8_t, kBytes> bytes) {
    Limbs value{};
    for (size_t i = 0; i < kLimbs; i++) value[i] = limbs::load<true>(&bytes[8 * (kLimbs - 1 - i)]);
    return from_canonical(value);
  }

  constexpr const Limbs& raw() const { return limbs_; }
  constexpr Limbs canonical() const { return reduce(limbs_); }
  constexpr void to_bytes_le(std::span<uint8_t, kBytes> bytes) const {
    const Limbs value = canonical();
    for (size_t i = 0; i < kLimbs; i++) limbs::store<false>(value[i], &bytes[8 * i]);
  }
  constexpr void to_bytes_be(std::span<uint8_t, kBytes> bytes) const {
    const Limbs value = canonical();
    for (size_t i = 0; i < kLimbs; i++) limbs::store<true>(value[i], &bytes[8 * (kLimbs - 1 - i)]);
  }

  constexpr bool is_zero() const { return limbs_ == Limbs{}; }
  constexpr bool operator==(const Montgomery&) const = default;

  constexpr Montgomery operator+(const Montgomery& other) const {
    Montgomery sum;
    uint64_t carry = 0;
    for (size_t i = 0; i < kLimbs; i++) sum.limbs_[i] = limbs::add_carry(limbs_[i], other.limbs_[i], carry);
    sum.subtract_if_above();
    return sum;
  }
  constexpr Montgomery operator-(const Montgomery& other) const {
    Montgomery difference;
    uint64_t borrow = 0;
    for (size_t i = 0; i < kLimbs; i++) difference.limbs_[i] = limbs::sub_borrow(limbs_[i], other.limbs_[i], borrow);
    uint64_t mask = 0 - borrow, carry = 0;
    for (size_t i = 0; i < kLimbs; i++) {
      difference.limbs_[i] = limbs::add_carry(difference.limbs_[i], kModulus[i] & mask, carry);
    }
    return difference;
  }
  constexpr Montgomery operator-() const { return zero() - *this; }
  constexpr Montgomery operator*(const Montgomery& other) const {
    if constexpr (kLimbs > 4) return multiply_called(*this, other);
    return multiply(*this, other);
  }
  constexpr Montgomery& operator+=(const Montgomery& other) { return *this = *this + other; }
  constexpr Montgomery& operator-=(const Montgomery& other) { return *this = *this - other; }
  constexpr Montgomery& operator*=(const Montgomery& other) { return *this = *this * other; }
  constexpr Montgomery square() const { return *this * *this; }
  constexpr Montgomery dbl() const { return *this + *this; }

  // this^exponent; the exponent is least significant limb first.
  constexpr Montgomery pow(std::span<const uint64_t> exponent) const {
    Montgomery out = one();
    for (size_t i = exponent.size(); i-- > 0;) {
      for (int bit = 63; bit >= 0; bit--) {
        out = out.square();
        if (exponent[i] >> bit & 1) out *= *this;
      }
    }
    return out;
  }
  constexpr Montgomery pow(uint64_t exponent) const { return pow(std::span<const uint64_t>(&exponent, 1)); }
  // The multiplicative inverse; zero maps to zero. The inverse of the representation a R, times R^3 R^-1.
  constexpr Montgomery inverse() const {
    return from_raw(limbs::inverse(limbs_, kModulus, kInv)) * (from_raw(kR2) * from_raw(kR2));
  }

  // Order of the canonical values.
  constexpr bool less_than(const Montgomery& other) const { return limbs::less(canonical(), other.canonical()); }

  static constexpr uint64_t kInv = [] {  // -p^-1 mod 2^64 by Newton's iteration
    uint64_t inverse = 1;
    for (int i = 0; i < 6; i++) inverse *= 2 - kModulus[0] * inverse;
    return 0 - inverse;
  }();
  static constexpr Limbs kR = limbs::power_of_two(64 * kLimbs, kModulus);       // 2^(64N) mod p
  static constexpr Limbs kR2 = limbs::power_of_two(2 * 64 * kLimbs, kModulus);  // 2^(128N) mod p

 private:
  constexpr void subtract_if_above() { limbs::subtract_if_above(limbs_, kModulus); }
  // a*b*2^(-64N) mod p. As p < 2^(64N-1) the running value stays below 2p and needs no extra limb.
  static constexpr Montgomery multiply(const Montgomery& x, const Montgomery& y) {
    Montgomery out;
    const Limbs &a = x.limbs_, &b = y.limbs_;
    Limbs& t = out.limbs_;
    for (size_t i = 0; i < kLimbs; i++) {
      uint64_t carry = 0, fold = 0;
      t[0] = limbs::multiply_add(a[0], b[i], t[0], carry);
      const uint64_t m = t[0] * kInv;
      limbs::multiply_add(m, kModulus[0], t[0], fold);
      for (size_t j = 1; j < kLimbs; j++) {
        t[j] = limbs::multiply_add(a[j], b[i], t[j], carry);
        t[j - 1] = limbs::multiply_add(m, kModulus[j], t[j], fold);
      }
      t[kLimbs - 1] = carry + fold;
    }
    out.subtract_if_above();
    return out;
  }
  // Long products are called, not inlined: as fast, and a tenth of the text in extension fields and points.
  [[gnu::noinline]] static constexpr Montgomery multiply_called(const Montgomery& x, const Montgomery& y) {
    return multiply(x, y);
  }
  static constexpr Limbs reduce(const Limbs& value) { return multiply(from_raw(value), from_raw({1})).limbs_; }

  Limbs limbs_{};
};

}  // namespace cuzk
