// The bulk operations of field/kernels.h over a vector type. An implementation includes this text within its own target
// region and its own namespace, after it has defined there
//
//   template <class F> struct Vector      kWidth elements of F = Fr or Fp
//     static constexpr size_t kWidth;
//     static Vector load(const F* from, size_t count, size_t stride);   count <= kWidth elements, stride F's apart
//     void store(F* to, size_t count, size_t stride) const;
//     operators + - * and square()
//
// so that every function below is compiled once for each implementation and none is shared between them. No include guard:
// it is meant to be included more than once.

struct Fp2Vector {
  static constexpr size_t kWidth = Vector<Fp>::kWidth;
  Vector<Fp> c0, c1;

  static Fp2Vector load(const Fp2* from, size_t count) {
    return {Vector<Fp>::load(&from->c0, count, 2), Vector<Fp>::load(&from->c1, count, 2)};
  }
  void store(Fp2* to, size_t count) const {
    c0.store(&to->c0, count, 2);
    c1.store(&to->c1, count, 2);
  }
  Fp2Vector operator*(const Fp2Vector& o) const {
    Vector<Fp> a = c0 * o.c0, b = c1 * o.c1;
    return {a - b, (c0 + c1) * (o.c0 + o.c1) - a - b};
  }
  Fp2Vector square() const {
    Vector<Fp> product = c0 * c1;
    return {(c0 + c1) * (c0 - c1), product + product};
  }
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
  for_each<Vector<F>::kWidth>(count, [=](size_t i, size_t n) {
    (Vector<F>::load(a + i, n, 1) * Vector<F>::load(b + i, n, 1)).store(out + i, n, 1);
  });
}
template <class F>
void sqr(F* out, const F* a, size_t count) {
  for_each<Vector<F>::kWidth>(count,
                              [=](size_t i, size_t n) { Vector<F>::load(a + i, n, 1).square().store(out + i, n, 1); });
}
template <class F>
void add(F* out, const F* a, const F* b, size_t count) {
  for_each<Vector<F>::kWidth>(count, [=](size_t i, size_t n) {
    (Vector<F>::load(a + i, n, 1) + Vector<F>::load(b + i, n, 1)).store(out + i, n, 1);
  });
}
template <class F>
void sub(F* out, const F* a, const F* b, size_t count) {
  for_each<Vector<F>::kWidth>(count, [=](size_t i, size_t n) {
    (Vector<F>::load(a + i, n, 1) - Vector<F>::load(b + i, n, 1)).store(out + i, n, 1);
  });
}

inline void fp2_mul(Fp2* out, const Fp2* a, const Fp2* b, size_t count) {
  for_each<Fp2Vector::kWidth>(
      count, [=](size_t i, size_t n) { (Fp2Vector::load(a + i, n) * Fp2Vector::load(b + i, n)).store(out + i, n); });
}
inline void fp2_sqr(Fp2* out, const Fp2* a, size_t count) {
  for_each<Fp2Vector::kWidth>(count, [=](size_t i, size_t n) { Fp2Vector::load(a + i, n).square().store(out + i, n); });
}
// Sums go by coordinate, so an array of Fp2 is an array of twice as many Fp. (A cast, as an empty array may be at null.)
inline Fp* coordinates(Fp2* a) { return reinterpret_cast<Fp*>(a); }
inline const Fp* coordinates(const Fp2* a) { return reinterpret_cast<const Fp*>(a); }
inline void fp2_add(Fp2* out, const Fp2* a, const Fp2* b, size_t count) {
  add(coordinates(out), coordinates(a), coordinates(b), 2 * count);
}
inline void fp2_sub(Fp2* out, const Fp2* a, const Fp2* b, size_t count) {
  sub(coordinates(out), coordinates(a), coordinates(b), 2 * count);
}

inline void fr_butterfly_dit(Fr* lo, Fr* hi, const Fr* w, size_t count) {
  using V = Vector<Fr>;
  for_each<V::kWidth>(count, [=](size_t i, size_t n) {
    V a = V::load(lo + i, n, 1), b = V::load(hi + i, n, 1) * V::load(w + i, n, 1);
    (a + b).store(lo + i, n, 1);
    (a - b).store(hi + i, n, 1);
  });
}
inline void fr_butterfly_dif(Fr* lo, Fr* hi, const Fr* w, size_t count) {
  using V = Vector<Fr>;
  for_each<V::kWidth>(count, [=](size_t i, size_t n) {
    V a = V::load(lo + i, n, 1), b = V::load(hi + i, n, 1);
    (a + b).store(lo + i, n, 1);
    ((a - b) * V::load(w + i, n, 1)).store(hi + i, n, 1);
  });
}

constexpr Kernels table(std::string_view name) {
  return {.name = name,
          .fr_mul = mul<Fr>,
          .fr_add = add<Fr>,
          .fr_sub = sub<Fr>,
          .fr_butterfly_dit = fr_butterfly_dit,
          .fr_butterfly_dif = fr_butterfly_dif,
          .fp_mul = mul<Fp>,
          .fp_add = add<Fp>,
          .fp_sub = sub<Fp>,
          .fp_sqr = sqr<Fp>,
          .fp2_mul = fp2_mul,
          .fp2_add = fp2_add,
          .fp2_sub = fp2_sub,
          .fp2_sqr = fp2_sqr};
}
