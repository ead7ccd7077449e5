#pragma once
// Points of a short Weierstrass curve y^2 = x^3 + b (a = 0) over a field F.
//
// Formulas: hyperelliptic.org EFD, shortw/xyzz (Sutherland 2008): madd-2008-s 8M+2S, add-2008-s 12M+2S, dbl-2008-s-1
// 6M+4S.

#include <cstdint>
#include <span>

namespace cuzk {

// An affine point; infinity is (0, 0), which is on no curve with b != 0. 96 bytes in G1, 192 in G2.
template <class F>
struct Affine {
  F x, y;

  static constexpr Affine infinity() { return {}; }
  constexpr bool is_infinity() const { return x.is_zero() && y.is_zero(); }
  constexpr Affine operator-() const { return {x, -y}; }
  constexpr bool operator==(const Affine&) const = default;
};

// x = X/ZZ, y = Y/ZZZ with ZZ^3 = ZZZ^2; infinity has ZZ = 0. Complete: every case is handled.
template <class F>
struct Xyzz {
  F x, y, zz, zzz;

  static constexpr Xyzz infinity() { return {}; }
  static constexpr Xyzz from_affine(const Affine<F>& p) {
    if (p.is_infinity()) return infinity();
    return {p.x, p.y, F::one(), F::one()};
  }
  constexpr bool is_infinity() const { return zz.is_zero(); }
  constexpr Xyzz operator-() const { return {x, -y, zz, zzz}; }

  constexpr Xyzz dbl() const {
    F u = y.dbl(), v = u.square(), w = u * v, s = x * v;
    F xx = x.square(), m = xx.dbl() + xx;
    F x3 = m.square() - s.dbl();
    return {x3, m * (s - x3) - w * y, v * zz, w * zzz};  // infinity stays infinity, as zz is zero
  }
  constexpr Xyzz operator+(const Xyzz& o) const {
    if (is_infinity()) return o;
    if (o.is_infinity()) return *this;
    F u1 = x * o.zz, s1 = y * o.zzz, p = o.x * zz - u1, r = o.y * zzz - s1;
    if (p.is_zero()) return r.is_zero() ? dbl() : infinity();
    F pp = p.square(), ppp = p * pp, q = u1 * pp;
    F x3 = r.square() - ppp - q.dbl();
    return {x3, r * (q - x3) - s1 * ppp, zz * o.zz * pp, zzz * o.zzz * ppp};
  }
  constexpr Xyzz operator+(const Affine<F>& o) const {
    if (o.is_infinity()) return *this;
    if (is_infinity()) return from_affine(o);
    F p = o.x * zz - x, r = o.y * zzz - y;
    if (p.is_zero()) return r.is_zero() ? dbl() : infinity();
    F pp = p.square(), ppp = p * pp, q = x * pp;
    F x3 = r.square() - ppp - q.dbl();
    return {x3, r * (q - x3) - y * ppp, zz * pp, zzz * ppp};
  }
  constexpr Xyzz& operator+=(const Xyzz& o) { return *this = *this + o; }
  constexpr Xyzz& operator+=(const Affine<F>& o) { return *this = *this + o; }

  constexpr Affine<F> to_affine() const {
    if (is_infinity()) return Affine<F>::infinity();
    F inverse = (zz * zzz).inverse();
    return {x * zzz * inverse, y * zz * inverse};
  }
  constexpr bool operator==(const Xyzz& o) const {
    if (is_infinity() || o.is_infinity()) return is_infinity() == o.is_infinity();
    return x * o.zz == o.x * zz && y * o.zzz == o.y * zzz;
  }
};

// scalar * p by double and add; the scalar is least significant limb first. Not constant time: no secret passes here
// but the trapdoors of development parameters.
template <class F>
constexpr Xyzz<F> scalar_mul(const Xyzz<F>& p, std::span<const uint64_t> scalar) {
  Xyzz<F> out = Xyzz<F>::infinity();
  for (size_t i = scalar.size(); i-- > 0;) {
    for (int bit = 63; bit >= 0; bit--) {
      out = out.dbl();
      if (scalar[i] >> bit & 1) out += p;
    }
  }
  return out;
}

}  // namespace cuzk
