#pragma once
// The extension fields of the BLS12-381 pairing, constexpr throughout:
//   Fp2 = Fp[u]/(u^2 + 1),  Fp6 = Fp2[v]/(v^3 - xi) with xi = 1 + u,  Fp12 = Fp6[w]/(w^2 - v).
//
// Source: filecoin-spec A.1, draft-irtf-cfrg-pairing-friendly-curves 4.2.1; formulas after Devegili, O hEigeartaigh,
// Scott, Dahab 2006 "Multiplication and squaring on pairing-friendly fields" and Granger, Scott 2010 (cyclotomic
// squares).

#include <concepts>
#include <utility>

#include "field/fields.h"

namespace cuzk {

// F[u]/(u^2 + 1) over a field in which -1 is no square; F may also be the device's Fp (field/cuda).
template <class F>
struct Quadratic {
  F c0, c1;  // c0 + c1 u

  static constexpr Quadratic zero() { return {}; }
  static constexpr Quadratic one() { return {F::one(), F::zero()}; }
  constexpr bool is_zero() const { return c0.is_zero() && c1.is_zero(); }
  constexpr bool operator==(const Quadratic&) const = default;

  constexpr Quadratic operator+(const Quadratic& o) const { return {c0 + o.c0, c1 + o.c1}; }
  constexpr Quadratic operator-(const Quadratic& o) const { return {c0 - o.c0, c1 - o.c1}; }
  constexpr Quadratic dbl() const { return *this + *this; }
  constexpr Quadratic operator-() const { return {-c0, -c1}; }
  constexpr Quadratic operator*(const Quadratic& o) const {
    F a = c0 * o.c0, b = c1 * o.c1;
    return {a - b, (c0 + c1) * (o.c0 + o.c1) - a - b};
  }
  constexpr Quadratic operator*(const F& s) const { return {c0 * s, c1 * s}; }
  constexpr Quadratic square() const {
    F product = c0 * c1;
    return {(c0 + c1) * (c0 - c1), product + product};
  }
  constexpr Quadratic conjugate() const { return {c0, -c1}; }  // the p-th power
  constexpr F norm() const { return c0.square() + c1.square(); }
  constexpr Quadratic inverse() const { return conjugate() * norm().inverse(); }  // zero maps to zero
  constexpr Quadratic mul_by_xi() const { return {c0 - c1, c0 + c1}; }            // times 1 + u
};
using Fp2 = Quadratic<Fp>;

// xi^((p-1)/6), the factor that w takes under the p-th power: w^p = kFrobeniusW w. Checked against pow() by a test.
inline constexpr Fp2 kFrobeniusW = {*Fp::from_canonical({0x8d0775ed92235fb8, 0xf67ea53d63e7813d, 0x7b2443d784bab9c4,
                                                         0x0fd603fd3cbd5f4f, 0xc231beb4202c0d1f, 0x1904d3bf02bb0667}),
                                    *Fp::from_canonical({0x2cf78a126ddc4af3, 0x282d5ac14d6c7ec2, 0xec0c8ec971f63c5f,
                                                         0x54a14787b6c7b36f, 0x88e9e902231f9fb8, 0x00fc3e2b36c4e032})};

struct Fp6 {
  Fp2 c0, c1, c2;  // c0 + c1 v + c2 v^2

  static constexpr Fp6 zero() { return {}; }
  static constexpr Fp6 one() { return {Fp2::one(), {}, {}}; }
  constexpr bool is_zero() const { return c0.is_zero() && c1.is_zero() && c2.is_zero(); }
  constexpr bool operator==(const Fp6&) const = default;

  constexpr Fp6 operator+(const Fp6& o) const { return {c0 + o.c0, c1 + o.c1, c2 + o.c2}; }
  constexpr Fp6 operator-(const Fp6& o) const { return {c0 - o.c0, c1 - o.c1, c2 - o.c2}; }
  constexpr Fp6 dbl() const { return *this + *this; }
  constexpr Fp6 operator-() const { return {-c0, -c1, -c2}; }
  constexpr Fp6 operator*(const Fp6& o) const {  // Karatsuba, 6 products
    Fp2 a = c0 * o.c0, b = c1 * o.c1, c = c2 * o.c2;
    return {a + ((c1 + c2) * (o.c1 + o.c2) - b - c).mul_by_xi(), (c0 + c1) * (o.c0 + o.c1) - a - b + c.mul_by_xi(),
            (c0 + c2) * (o.c0 + o.c2) - a - c + b};
  }
  constexpr Fp6 operator*(const Fp2& s) const { return {c0 * s, c1 * s, c2 * s}; }
  constexpr Fp6 square() const {  // Chung, Hasan 2007, SQR2
    Fp2 s0 = c0.square(), s1 = (c0 * c1).dbl(), s2 = (c0 - c1 + c2).square(), s3 = (c1 * c2).dbl(), s4 = c2.square();
    return {s0 + s3.mul_by_xi(), s1 + s4.mul_by_xi(), s1 + s2 + s3 - s0 - s4};
  }
  constexpr Fp6 mul_by_v() const { return {c2.mul_by_xi(), c0, c1}; }
  // Times the sparse b0 + b1 v; 5 products.
  constexpr Fp6 mul_by_01(const Fp2& b0, const Fp2& b1) const {
    Fp2 a = c0 * b0, b = c1 * b1;
    return {((c1 + c2) * b1 - b).mul_by_xi() + a, (c0 + c1) * (b0 + b1) - a - b, (c0 + c2) * b0 - a + b};
  }
  // Times the sparse b1 v; 3 products.
  constexpr Fp6 mul_by_1(const Fp2& b1) const { return {(c2 * b1).mul_by_xi(), c0 * b1, c1 * b1}; }
  constexpr Fp6 inverse() const {  // by the adjugate; zero maps to zero
    Fp2 a = c0.square() - (c1 * c2).mul_by_xi(), b = c2.square().mul_by_xi() - c0 * c1, c = c1.square() - c0 * c2;
    Fp2 norm = c0 * a + (c2 * b + c1 * c).mul_by_xi();
    return Fp6{a, b, c} * norm.inverse();
  }
};

struct Fp12 {
  Fp6 c0, c1;  // c0 + c1 w

  static constexpr Fp12 zero() { return {}; }
  static constexpr Fp12 one() { return {Fp6::one(), {}}; }
  constexpr bool is_zero() const { return c0.is_zero() && c1.is_zero(); }
  constexpr bool operator==(const Fp12&) const = default;

  constexpr Fp12 operator+(const Fp12& o) const { return {c0 + o.c0, c1 + o.c1}; }
  constexpr Fp12 operator-(const Fp12& o) const { return {c0 - o.c0, c1 - o.c1}; }
  constexpr Fp12 dbl() const { return *this + *this; }
  constexpr Fp12 operator-() const { return {-c0, -c1}; }
  constexpr Fp12 operator*(const Fp12& o) const {
    Fp6 a = c0 * o.c0, b = c1 * o.c1;
    return {a + b.mul_by_v(), (c0 + c1) * (o.c0 + o.c1) - a - b};
  }
  constexpr Fp12 square() const {
    Fp6 product = c0 * c1;
    return {(c0 + c1) * (c0 + c1.mul_by_v()) - product - product.mul_by_v(), product.dbl()};
  }
  constexpr Fp12 conjugate() const { return {c0, -c1}; }  // the p^6-th power; the inverse in the cyclotomic subgroup
  constexpr Fp12 inverse() const {                        // zero maps to zero
    Fp6 scale = (c0.square() - c1.square().mul_by_v()).inverse();
    return {c0 * scale, -(c1 * scale)};
  }
  // The p-th power.
  constexpr Fp12 frobenius() const {
    constexpr Fp2 k1 = kFrobeniusW, k2 = k1 * k1, k3 = k2 * k1, k4 = k2 * k2, k5 = k4 * k1;
    return {{c0.c0.conjugate(), c0.c1.conjugate() * k2, c0.c2.conjugate() * k4},
            {c1.c0.conjugate() * k1, c1.c1.conjugate() * k3, c1.c2.conjugate() * k5}};
  }
  // The square of an element of the cyclotomic subgroup (order p^4 - p^2 + 1); Granger, Scott 2010: three squares in
  // Fp4 = Fp2[s]/(s^2 - xi), with s = w^3.
  constexpr Fp12 cyclotomic_square() const {
    auto square4 = [](const Fp2& a, const Fp2& b) {  // (a + b s)^2
      Fp2 aa = a.square(), bb = b.square();
      return std::pair{aa + bb.mul_by_xi(), (a + b).square() - aa - bb};
    };
    auto [t0, t1] = square4(c0.c0, c1.c1);
    auto [t2, t3] = square4(c1.c0, c0.c2);
    auto [t4, t5] = square4(c0.c1, c1.c2);
    auto minus = [](const Fp2& t, const Fp2& z) { return (t - z).dbl() + t; };  // 3 t - 2 z
    auto plus = [](const Fp2& t, const Fp2& z) { return (t + z).dbl() + t; };   // 3 t + 2 z
    return {{minus(t0, c0.c0), minus(t2, c0.c1), minus(t4, c0.c2)},
            {plus(t5.mul_by_xi(), c1.c0), plus(t1, c1.c1), plus(t3, c1.c2)}};
  }
  // Times the sparse (b0 + b1 v) + (b4 v) w, the shape of a line of the pairing.
  constexpr Fp12 mul_by_014(const Fp2& b0, const Fp2& b1, const Fp2& b4) const {
    Fp6 a = c0.mul_by_01(b0, b1), b = c1.mul_by_1(b4);
    return {b.mul_by_v() + a, (c0 + c1).mul_by_01(b0, b1 + b4) - a - b};
  }
};

template <class F>
concept ExtensionField = std::same_as<F, Fp2> || std::same_as<F, Fp6> || std::same_as<F, Fp12>;

template <ExtensionField F>
constexpr F& operator+=(F& a, const F& b) {
  return a = a + b;
}
template <ExtensionField F>
constexpr F& operator-=(F& a, const F& b) {
  return a = a - b;
}
template <ExtensionField F>
constexpr F& operator*=(F& a, const F& b) {
  return a = a * b;
}

}  // namespace cuzk
