// A vector of one element, for kernels that work on scalars. Included inside the namespace of an implementation, which
// supplies multiply(x, y) and square_of(x), and what residues64.inl asks for.

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

  // Products of a single Fp2 are reduced at once; those of points are not (residues64.inl).
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

// What poseidon.inl asks for: a sum of products low + 2^256 high that is reduced once, which saves near half of each.
using FrVector = Vector<Fr>;
inline FrVector filled(const Fr& value) { return {value}; }
class Dot {
 public:
  void accumulate(const FrVector& value, const Factor& factor) {
    uint64_t product[8] = {};
    for (size_t i = 0; i < 4; i++) {
      uint64_t carry = 0;
      for (size_t j = 0; j < 4; j++) {
        product[i + j] = limbs::multiply_add(value.value.raw()[j], factor.raw()[i], product[i + j], carry);
      }
      product[i + 4] = carry;
    }
    uint64_t carry = 0;
    for (size_t i = 0; i < 4; i++) low_[i] = limbs::add_carry(low_[i], product[i], carry);
    // The product is below r^2, so its high half stays below r with the carry.
    Fr::Limbs high;
    for (size_t i = 0; i < 4; i++) high[i] = limbs::add_carry(product[i + 4], 0, carry);
    high_ += Fr::from_raw(high);
  }
  // The sum / 2^256 mod r, Montgomery's reduction: a multiple of r makes low_ a multiple of 2^256.
  FrVector canonical() const {
    Fr::Limbs t = low_;
    for (size_t i = 0; i < 4; i++) {
      uint64_t carry = 0;
      const uint64_t m = t[0] * Fr::kInv;
      limbs::multiply_add(m, Fr::kModulus[0], t[0], carry);
      for (size_t j = 1; j < 4; j++) t[j - 1] = limbs::multiply_add(m, Fr::kModulus[j], t[j], carry);
      t[3] = carry;
    }
    return {high_ + Fr::from_raw(t)};  // t is at most r, and the sum of r and a canonical value is reduced as well
  }
  FrVector plus(const FrVector& value) const { return canonical() + value; }
  static FrVector canonical(const FrVector& value) { return value; }

 private:
  Fr::Limbs low_{};
  Fr high_;
};

#include "field/kernels/residues64.inl"
