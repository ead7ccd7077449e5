// A vector of one element, for kernels that work on scalars. Included inside the namespace of an implementation, which
// supplies multiply(x, y) and square_of(x).

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

  // One element is not worth lazy reductions.
  using Wide = Vector;
  Vector sum(const Vector& o) const { return *this + o; }
  Vector difference(const Vector& o) const { return *this - o; }
  Wide product(const Vector& o) const { return *this * o; }
  Vector reduce() const { return *this; }
};
