#include "field/sqrt.h"

namespace cuzk {
namespace {

constexpr Fp::Limbs kExponent = [] {  // (p - 3)/4
  Fp::Limbs e = Fp::kModulus;
  for (size_t i = 0; i < e.size(); i++) e[i] = e[i] >> 2 | (i + 1 < e.size() ? e[i + 1] << 62 : 0);
  return e;
}();
constexpr Fp kHalf = Fp::from_u64(2).inverse();

// With t = a^((p-3)/4), root = a t satisfies root^2 = chi(a) a and root t = chi(a), the quadratic character of a != 0.
struct Candidate {
  Fp root, t;
};
Candidate candidate(const Fp& a) {
  Fp t = a.pow(kExponent);
  return {a * t, t};
}

}  // namespace

std::optional<Fp> sqrt(const Fp& a) {
  Fp root = candidate(a).root;
  if (root.square() != a) return std::nullopt;
  return root;
}

// (x + y u)^2 = a means x^2 = (c0 + n)/2 for one of the roots n of the norm, and y = c1/(2x). The two values h, h' of
// (c0 +- n)/2 have the product -(c1/2)^2, so where h = -s^2 is no square, h' = (c1/(2s))^2 is, and x, y change places.
std::optional<Fp2> sqrt(const Fp2& a) {
  std::optional<Fp> n = sqrt(a.norm());
  if (!n) return std::nullopt;
  Fp h = (a.c0 + *n) * kHalf;
  if (h.is_zero()) h = a.c0;  // then c1 = 0, and h' = c0
  auto [s, t] = candidate(h);
  Fp half = a.c1 * kHalf;
  if (s.square() == h) return Fp2{s, half * t};
  return Fp2{-(half * t), s};
}

}  // namespace cuzk
