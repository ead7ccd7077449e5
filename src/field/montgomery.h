#pragma once
// A prime field element in Montgomery form, constexpr throughout. Scalar arithmetic is inline and never dispatched; loops
// over many elements go through field/kernels.h.
//
// Source: Montgomery 1985; interleaved (CIOS) multiplication after Koc, Acar, Kaliski 1996.

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

namespace cuzk {

__extension__ typedef unsigned __int128 uint128_t;

// Arithmetic on little-endian arrays of 64-bit limbs.
namespace limbs {

// g++ 12 makes a chain of add-with-carry from its builtins, but not from 128-bit sums: 3.2 ns against 12 ns for a sum in Fp.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
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
template <size_t N>
constexpr bool less(const std::array<uint64_t, N>& a, const std::array<uint64_t, N>& b) {
  for (size_t i = N; i-- > 0;) {
    if (a[i] != b[i]) return a[i] < b[i];
  }
  return false;
}
// value - p where value >= p, else value; without a branch, and in place: returning an array makes g++ 12 copy limbs that
// were stored one by one with vector loads, each a failed store forwarding.
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

}  // namespace limbs

// Params supplies:
//   kLimbs    number of 64-bit limbs N; the modulus must be below 2^(64 N - 1), so that sums of two elements do not wrap
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
    for (size_t i = 0; i < kBytes; i++) value[i / 8] |= static_cast<uint64_t>(bytes[i]) << (8 * (i % 8));
    return from_canonical(value);
  }
  static constexpr std::optional<Montgomery> from_bytes_be(std::span<const uint8_t, kBytes> bytes) {
    Limbs value{};
    for (size_t i = 0; i < kBytes; i++)
      value[(kBytes - 1 - i) / 8] |= static_cast<uint64_t>(bytes[i]) << (8 * ((kBytes - 1 - i) % 8));
    return from_canonical(value);
  }

  constexpr const Limbs& raw() const { return limbs_; }
  constexpr Limbs canonical() const { return reduce(limbs_); }
  constexpr void to_bytes_le(std::span<uint8_t, kBytes> bytes) const {
    Limbs value = canonical();
    for (size_t i = 0; i < kBytes; i++) bytes[i] = static_cast<uint8_t>(value[i / 8] >> (8 * (i % 8)));
  }
  constexpr void to_bytes_be(std::span<uint8_t, kBytes> bytes) const {
    Limbs value = canonical();
    for (size_t i = 0; i < kBytes; i++) bytes[kBytes - 1 - i] = static_cast<uint8_t>(value[i / 8] >> (8 * (i % 8)));
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
  // The multiplicative inverse; zero maps to zero. Exponent p - 2 (Fermat).
  constexpr Montgomery inverse() const {
    Limbs exponent = kModulus;
    exponent[0] -= 2;  // p is odd and above 2, so no borrow
    return pow(exponent);
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
