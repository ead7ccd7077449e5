// A vector of one element, for kernels that work on scalars. Included inside the namespace of an implementation, which
// supplies multiply(x, y) and square_of(x).

#define CUZK_INLINE __attribute__((always_inline))

template <class F>
struct Vector {
  static constexpr size_t kWidth = 1;
  F value;

  static Vector load(const F* from, size_t, size_t = 1) { return {*from}; }
  void store(F* to, size_t, size_t = 1) const { *to = value; }
  Vector operator+(const Vector& o) const { return {value + o.value}; }
  Vector operator-(const Vector& o) const { return {value - o.value}; }
  Vector operator*(const Vector& o) const { return {multiply(value, o.value)}; }
  Vector square() const { return {square_of(value)}; }
  // The products are added up as they are and reduced once, which is half the work of so many multiplications.
  static Vector sum_of_products(const F* const* a, const F* const* b, size_t count) {
    constexpr size_t N = F::kLimbs;
    std::array<uint64_t, 2 * N + 1> sum{};
    const auto add_multiple = [&sum](size_t at, const auto& x, uint64_t y) {  // x y 2^(64 at)
      uint64_t high = 0, carry = 0;
      for (size_t j = 0; j < N; j++) sum[at + j] = limbs::multiply_add(x[j], y, sum[at + j], high);
      sum[at + N] = limbs::add_carry(sum[at + N], high, carry);
      for (size_t i = at + N + 1; i <= 2 * N; i++) sum[i] = limbs::add_carry(sum[i], 0, carry);
    };
    for (size_t k = 0; k < count; k++) {
      for (size_t i = 0; i < N; i++) add_multiple(i, a[8 * k]->raw(), b[8 * k]->raw()[i]);
    }
    for (size_t i = 0; i < N; i++) add_multiple(i, F::kModulus, sum[i] * F::kInv);
    typename F::Limbs low;
    std::copy_n(&sum[N], N, low.begin());
    for (int i = 0; i < 2; i++) limbs::subtract_if_above(low, F::kModulus);  // 2^256 is below 3p
    return {F::from_raw(low) + F::from_u64(sum[2 * N])};
  }

  // One element is not worth lazy reductions.
  using Wide = Vector;
  Vector sum(const Vector& o) const { return *this + o; }
  Vector difference(const Vector& o) const { return *this - o; }
  Wide product(const Vector& o) const { return *this * o; }
  Vector reduce() const { return *this; }
};

// Rows of transforms (transform.inl), canonical throughout.
using Factor = Fr;
inline Fr add(const Fr& a, const Fr& b) { return a + b; }
inline Fr subtract(const Fr& a, const Fr& b) { return a - b; }

struct Row {
  Fr column[FrTile::kColumns];

  static Row filled(const Fr& value) {
    Row out;
    std::fill_n(out.column, FrTile::kColumns, value);
    return out;
  }
  static Row load(const Fr* from, size_t stride, size_t columns) {
    Row out;
    for (size_t c = 0; c < columns; c++) out.column[c] = from[c * stride];
    return out;
  }
  void store(Fr* to, size_t stride, size_t columns) const {
    for (size_t c = 0; c < columns; c++) to[c * stride] = column[c];
  }
  Row scaled(const Row& powers) const {
    Row out;
    for (size_t c = 0; c < FrTile::kColumns; c++) out.column[c] = multiply(column[c], powers.column[c]);
    return out;
  }
  Row settled() const { return *this; }
  static void settle_all(Row*, size_t, size_t) {}
  template <class Body>
  static void for_each_part(Body body) {
    for (size_t c = 0; c < FrTile::kColumns; c++) {
      body([c](auto& row) -> auto& { return row.column[c]; });
    }
  }
  static void butterfly(Row& lo, Row& hi, const Factor* w) {
    for (size_t c = 0; c < FrTile::kColumns; c++) {
      const Fr low = lo.column[c], product = w ? multiply(*w, hi.column[c]) : hi.column[c];
      lo.column[c] = low + product;
      hi.column[c] = low - product;
    }
  }
  Row times(const Factor& w) const {
    Row out;
    for (size_t c = 0; c < FrTile::kColumns; c++) out.column[c] = multiply(w, column[c]);
    return out;
  }
};

inline Factor factor_of(const Fr& value) { return value; }

struct RowFactor {
  Row bases;

  explicit RowFactor(const Fr* values) : bases(Row::load(values, 1, FrTile::kColumns)) {}
  void square() { bases = bases.scaled(bases); }
  static Row one(const Fr& scale) { return Row::filled(scale); }
  Row times(const Row& row) const { return row.scaled(bases); }
};

// One element as well, canonical throughout.
constexpr Fp kInverseScale = Fp::one();

template <class F>
struct Residues {
  static constexpr size_t kWidth = 1;
  Vector<F> value;

  static Residues gather(const F* const* from) { return {Vector<F>::load(*from, 1)}; }
  void get(size_t, F& to) const { value.store(&to, 1); }
  void set(size_t, const F& from) { value = Vector<F>::load(&from, 1); }
  static void copy(Residues& to, size_t, const Residues& from, size_t) { to = from; }
  Residues difference(const Residues& o) const { return {value - o.value}; }
  Residues negated(unsigned bits) const {
    if (bits == 0) return *this;
    const F zero{};
    return {Vector<F>::load(&zero, 1) - value};
  }
  Residues operator*(const Residues& o) const { return {value * o.value}; }
  Residues square() const { return {value.square()}; }
  Residues minus(const Residues& o) const { return {value - o.value}; }
  Residues minus(const Residues& o, const Residues& q) const { return {value - o.value - q.value}; }
  Residues for_y() const { return *this; }
  static Residues select_bits(unsigned bits, const Residues& set, const Residues& clear) {
    return bits != 0 ? set : clear;
  }
  unsigned maybe_zero() const {
    F element;
    value.store(&element, 1);
    return element.is_zero();
  }
  unsigned maybe_zero_difference() const { return maybe_zero(); }
};
