// The bulk operations of field/kernels.h over a vector type. An implementation includes this text within its own target
// region and its own namespace, after it has defined there
//
//   template <class F> struct Vector      kWidth canonical elements of F = Fr or Fp
//     static constexpr size_t kWidth;
//     static Vector load(const F* from, size_t count, size_t stride = 1);   count <= kWidth elements, stride F's apart
//     void store(F* to, size_t count, size_t stride = 1) const;
//     operators + - * and square()
//     Vector sum(o), difference(o)        + and - whose results are below 2p only, and good for a factor alone
//     Wide product(o)                     of factors below 2p; not yet reduced
//     struct Wide                         operator - for a subtrahend of factors below p, and Vector reduce()
//     static Vector sum_of_products(const F* const* a, const F* const* b, size_t count);   of Fr: in lane i, the sum
//                                         over k < count of *a[8 k + i] * *b[8 k + i]
//
//   struct Row and the rest that field/kernels/transform.inl asks for, and what points.inl asks for
//
// so that every function below is compiled once for each implementation and none is shared between them. No include
// guard: it is meant to be included more than once.

template <>
struct Vector<Fp2> {
  using Part = Vector<Fp>;
  static constexpr size_t kWidth = Part::kWidth;
  Part c0, c1;

  static Vector load(const Fp2* from, size_t count) {
    return {Part::load(&from->c0, count, 2), Part::load(&from->c1, count, 2)};
  }
  void store(Fp2* to, size_t count) const {
    c0.store(&to->c0, count, 2);
    c1.store(&to->c1, count, 2);
  }
  Vector operator-(const Vector& o) const { return {c0 - o.c0, c1 - o.c1}; }
  Vector operator*(const Vector& o) const {  // Karatsuba, and one reduction for each coordinate
    const auto a = c0.product(o.c0), b = c1.product(o.c1), t = c0.sum(c1).product(o.c0.sum(o.c1));
    return {(a - b).reduce(), (t - a - b).reduce()};
  }
  Vector square() const { return {c0.sum(c1) * c0.difference(c1), c0 * c1.sum(c1)}; }
};

// body(first element, number of elements <= width) over all of 0 .. count - 1.
template <size_t kWidth, class Body>
void for_each(size_t count, Body body) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) body(i, kWidth);
  if (i < count) body(i, count - i);
}

template <class F>
void mul(F* out, const F* a, const F* b, size_t count) {
  using V = Vector<F>;
  for_each<V::kWidth>(count, [=](size_t i, size_t n) { (V::load(a + i, n) * V::load(b + i, n)).store(out + i, n); });
}
template <class F>
void sqr(F* out, const F* a, size_t count) {
  using V = Vector<F>;
  for_each<V::kWidth>(count, [=](size_t i, size_t n) { V::load(a + i, n).square().store(out + i, n); });
}
template <class F>
void add(F* out, const F* a, const F* b, size_t count) {
  using V = Vector<F>;
  for_each<V::kWidth>(count, [=](size_t i, size_t n) { (V::load(a + i, n) + V::load(b + i, n)).store(out + i, n); });
}
template <class F>
void sub(F* out, const F* a, const F* b, size_t count) {
  using V = Vector<F>;
  for_each<V::kWidth>(count, [=](size_t i, size_t n) { (V::load(a + i, n) - V::load(b + i, n)).store(out + i, n); });
}

// Sums go by coordinate, so an array of Fp2 is an array of twice as many Fp. (A cast, as an empty array may be at
// null.)
inline Fp* coordinates(Fp2* a) { return reinterpret_cast<Fp*>(a); }
inline const Fp* coordinates(const Fp2* a) { return reinterpret_cast<const Fp*>(a); }
inline void fp2_add(Fp2* out, const Fp2* a, const Fp2* b, size_t count) {
  add(coordinates(out), coordinates(a), coordinates(b), 2 * count);
}
inline void fp2_sub(Fp2* out, const Fp2* a, const Fp2* b, size_t count) {
  sub(coordinates(out), coordinates(a), coordinates(b), 2 * count);
}

inline void fr_scaled_difference(Fr* out, const Fr* a, const Fr* b, const Fr& scale, size_t count) {
  using V = Vector<Fr>;
  Fr scales[V::kWidth];
  std::fill_n(scales, V::kWidth, scale);
  const V factor = V::load(scales, V::kWidth);
  for_each<V::kWidth>(
      count, [=](size_t i, size_t n) { (factor * V::load(a + i, n).difference(V::load(b + i, n))).store(out + i, n); });
}

inline void fr_sums_of_products(Fr* out, const Fr* const* a, const Fr* const* b, size_t count) {
  using V = Vector<Fr>;
  for (size_t i = 0; i < 8; i += V::kWidth) V::sum_of_products(a + i, b + i, count).store(out + i, V::kWidth);
}

#include "field/kernels/residues.inl"
// builds on the loose residues of the implementation, and on it:
#include "field/kernels/points.inl"
#include "field/kernels/poseidon.inl"
#include "field/kernels/transform.inl"

constexpr Kernels table(std::string_view name) {
  return {.name = name,
          .fr_mul = mul<Fr>,
          .fr_add = add<Fr>,
          .fr_sub = sub<Fr>,
          .fr_scaled_difference = fr_scaled_difference,
          .fr_sums_of_products = fr_sums_of_products,
          .fr_row_words = sizeof(Row) / sizeof(uint64_t),
          .fr_factor_words = sizeof(Factor) / sizeof(uint64_t),
          .fr_factors = fr_factors,
          .fr_powers = fr_powers,
          .fr_evaluate = fr_evaluate,
          .fr_interpolate = fr_interpolate,
          .fr_factors_of = fr_factors_of,
          .fr_poseidon = fr_poseidon,
          .fp_mul = mul<Fp>,
          .fp_add = add<Fp>,
          .fp_sub = sub<Fp>,
          .fp_sqr = sqr<Fp>,
          .fp_sums = point_sums<Fp>(),
          .fp2_mul = mul<Fp2>,
          .fp2_add = fp2_add,
          .fp2_sub = fp2_sub,
          .fp2_sqr = sqr<Fp2>,
          .fp2_sums = point_sums<Fp2>()};
}
