#include "curve/pairing.h"

#include <vector>

#include "curve/endomorphism.h"

namespace cuzk {
namespace {

// The curve parameter is z = -kAbsZ; its sign is made good by a conjugation.
constexpr int kTopBit = 63;

constexpr Fp2 kThreeB = {Fp::from_u64(12), Fp::from_u64(12)};  // 3 b' of E'
constexpr Fp kHalf = Fp::from_u64(2).inverse();

// One pair within the loop: t = (x : y : z) is a multiple of q on E', x/z and y/z its affine coordinates.
struct State {
  G1Affine p;
  G2Affine q;
  Fp2 x, y, z;
};

// A line through points of E' in the image of E' under (x, y) -> (x/w^2, y/w^3), at p and times w^3 and a factor of
// Fp2:
//   l = c0 + c1 x_p v + c4 y_p v w.
Fp12 times_line(const Fp12& f, const G1Affine& p, const Fp2& c0, const Fp2& c1, const Fp2& c4) {
  return f.mul_by_014(c0, c1 * p.x, c4 * p.y);
}

// f times the tangent at t, with t <- 2 t. With slope 3 x^2/(2 y), the line times -2 y z is
// (3 b' z^2 - y^2) + 3 x^2 x_p v - 2 y z y_p v w.
void double_step(Fp12& f, State& s) {
  Fp2 a = s.x * s.y * kHalf, b = s.y.square(), c = s.z.square(), e = c * kThreeB, e3 = e.dbl() + e;
  Fp2 g = (b + e3) * kHalf, h = (s.y + s.z).square() - b - c, xx = s.x.square(), ee = e.square();
  f = times_line(f, s.p, e - b, xx.dbl() + xx, -h);
  s.x = a * (b - e3);
  s.y = g.square() - (ee.dbl() + ee);
  s.z = b * h;
}

// f times the chord through t and q, with t <- t + q. With slope theta/lambda, the line times lambda is
// (theta x_q - lambda y_q) - theta x_p v + lambda y_p v w. t = +-q does not arise: t is k q with 1 < k < r - 1.
void add_step(Fp12& f, State& s) {
  Fp2 theta = s.y - s.q.y * s.z, lambda = s.x - s.q.x * s.z;
  Fp2 lambda2 = lambda.square(), lambda3 = lambda2 * lambda, g = s.x * lambda2;
  Fp2 h = lambda3 + s.z * theta.square() - g.dbl();
  f = times_line(f, s.p, theta * s.q.x - lambda * s.q.y, -theta, lambda);
  s.x = lambda * h;
  s.y = theta * (g - h) - lambda3 * s.y;
  s.z = s.z * lambda3;
}

// value^z for a value of the cyclotomic subgroup.
Fp12 power_z(const Fp12& value) {
  Fp12 out = value;
  for (int bit = kTopBit - 1; bit >= 0; bit--) {
    out = out.cyclotomic_square();
    if (kAbsZ >> bit & 1) out *= value;
  }
  return out.conjugate();
}

}  // namespace

Fp12 miller_loop(std::span<const PairingInput> pairs) {
  std::vector<State> states;
  states.reserve(pairs.size());
  for (const auto& [p, q] : pairs) {
    if (!p.is_infinity() && !q.is_infinity()) states.push_back({p, q, q.x, q.y, Fp2::one()});
  }
  Fp12 f = Fp12::one();
  for (int bit = kTopBit - 1; bit >= 0; bit--) {
    f = f.square();
    for (State& state : states) double_step(f, state);
    if (kAbsZ >> bit & 1) {
      for (State& state : states) add_step(f, state);
    }
  }
  return f.conjugate();
}

Fp12 final_exponentiation(const Fp12& value) {
  Fp12 m = value.conjugate() * value.inverse();  // ^(p^6 - 1)
  m = m.frobenius().frobenius() * m;             // ^(p^2 + 1): now in the cyclotomic subgroup, inverses are conjugates
  // 3 (p^4 - p^2 + 1)/r = (z - 1)^2 (z + p) (z^2 + p^2 - 1) + 3
  Fp12 a = power_z(m) * m.conjugate();
  a = power_z(a) * a.conjugate();                                       // m^((z - 1)^2)
  a = power_z(a) * a.frobenius();                                       // ^(z + p)
  a = power_z(power_z(a)) * a.frobenius().frobenius() * a.conjugate();  // ^(z^2 + p^2 - 1)
  return a * m.cyclotomic_square() * m;
}

Fp12 pairing(const G1Affine& p, const G2Affine& q) {
  const PairingInput pair{p, q};
  return final_exponentiation(miller_loop({&pair, 1}));
}

bool pairing_product_is_one(std::span<const PairingInput> pairs) {
  return final_exponentiation(miller_loop(pairs)) == Fp12::one();
}

}  // namespace cuzk
