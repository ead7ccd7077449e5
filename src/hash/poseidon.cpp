#include "hash/poseidon.h"

#include <algorithm>
#include <cassert>

namespace cuzk::hash {
namespace {

using Vector = std::vector<Fr>;

unsigned partial_rounds(unsigned arity) {
  switch (arity) {
    case 2: return 55;
    case 4: return 56;
    default: return 57;
  }
}

// The self-shrinking 80-bit Grain LFSR of B.2; bit 0 of the register is the oldest.
class Grain {
 public:
  explicit Grain(unsigned width, unsigned rounds) {
    constexpr unsigned kPrimeField = 1, kPowerSbox = 1, kFieldBits = 255;
    append(kPrimeField, 2);
    append(kPowerSbox, 4);
    append(kFieldBits, 12);
    append(width, 12);
    append(kPoseidonFullRounds, 10);
    append(rounds, 10);
    append((1u << 30) - 1, 30);
    for (int i = 0; i < 160; i++) step();
  }

  // The next 255 filtered bits, most significant first, as an element; draws above the modulus are dropped.
  Fr next() {
    for (;;) {
      Fr::Limbs value{};
      for (int i = 254; i >= 0; i--) value[i / 64] |= filtered_bit() << (i % 64);
      if (auto element = Fr::from_canonical(value)) return *element;
    }
  }

 private:
  void append(unsigned value, int bits) {
    while (bits-- > 0) push(value >> bits & 1);
  }
  void push(uint64_t bit) { state_ = state_ >> 1 | static_cast<uint128_t>(bit) << 79; }
  uint64_t step() {
    auto tap = [this](int i) { return static_cast<uint64_t>(state_ >> i) & 1; };
    const uint64_t bit = tap(62) ^ tap(51) ^ tap(38) ^ tap(23) ^ tap(13) ^ tap(0);
    push(bit);
    return bit;
  }
  uint64_t filtered_bit() {
    for (;;) {
      const uint64_t keep = step(), bit = step();
      if (keep) return bit;
    }
  }

  uint128_t state_ = 0;
};

// A square matrix, row-major.
class Matrix {
 public:
  explicit Matrix(size_t n) : n_(n), cells_(n * n) {}
  static Matrix identity(size_t n) {
    Matrix out(n);
    for (size_t i = 0; i < n; i++) out(i, i) = Fr::one();
    return out;
  }
  size_t size() const { return n_; }
  Fr& operator()(size_t i, size_t j) { return cells_[i * n_ + j]; }
  const Fr& operator()(size_t i, size_t j) const { return cells_[i * n_ + j]; }
  const Vector& cells() const { return cells_; }

  Vector operator*(const Vector& v) const {
    Vector out(n_);
    for (size_t i = 0; i < n_; i++) {
      for (size_t j = 0; j < n_; j++) out[i] += (*this)(i, j) * v[j];
    }
    return out;
  }
  Matrix operator*(const Matrix& other) const {
    Matrix out(n_);
    for (size_t i = 0; i < n_; i++) {
      for (size_t j = 0; j < n_; j++) {
        for (size_t k = 0; k < n_; k++) out(i, j) += (*this)(i, k) * other(k, j);
      }
    }
    return out;
  }
  // Gauss-Jordan. Every leading minor of a Cauchy matrix is itself one, hence invertible, so no pivot is ever zero.
  Matrix inverse() const {
    Matrix left = *this, right = identity(n_);
    for (size_t column = 0; column < n_; column++) {
      const Fr scale = left(column, column).inverse();
      for (size_t j = 0; j < n_; j++) left(column, j) *= scale, right(column, j) *= scale;
      for (size_t i = 0; i < n_; i++) {
        if (i == column) continue;
        const Fr factor = left(i, column);
        for (size_t j = 0; j < n_; j++) {
          left(i, j) -= factor * left(column, j);
          right(i, j) -= factor * right(column, j);
        }
      }
    }
    return right;
  }

 private:
  size_t n_;
  Vector cells_;
};

Matrix cauchy(size_t width) {
  Matrix out(width);
  for (size_t i = 0; i < width; i++) {
    for (size_t j = 0; j < width; j++) out(i, j) = Fr::from_u64(i + j + width).inverse();
  }
  return out;
}

// B.5: constants moved backwards through the linear layers, so that a partial round adds one.
Vector compress(const Vector& round_constants, const Matrix& inverse, unsigned partial) {
  const size_t width = inverse.size();
  auto round = [&](size_t j) {
    return Vector(round_constants.begin() + j * width, round_constants.begin() + (j + 1) * width);
  };
  constexpr unsigned kHalf = kPoseidonFullRounds / 2;
  Vector out = round(0);
  auto append = [&out](const Vector& v) { out.insert(out.end(), v.begin(), v.end()); };
  for (size_t j = 1; j < kHalf; j++) append(inverse * round(j));

  Vector partial_constants(partial), accumulator = round(kHalf + partial);
  for (size_t k = partial; k-- > 0;) {
    Vector moved = inverse * accumulator;
    partial_constants[k] = moved[0];
    moved[0] = Fr::zero();
    accumulator = round(kHalf + k);
    for (size_t i = 0; i < width; i++) accumulator[i] += moved[i];
  }
  append(inverse * accumulator);
  append(partial_constants);
  for (size_t j = 1; j < kHalf; j++) append(inverse * round(kHalf + partial + j));
  return out;
}

PoseidonConstants make_constants(unsigned arity) {
  const unsigned width = arity + 1, partial = partial_rounds(arity);
  const Matrix mds = cauchy(width);
  Matrix minor(arity);
  for (size_t i = 0; i < arity; i++) {
    for (size_t j = 0; j < arity; j++) minor(i, j) = mds(i + 1, j + 1);
  }
  const Matrix minor_inverse = minor.inverse();

  PoseidonConstants out{arity,
                        width,
                        partial,
                        compress(poseidon_round_constants(arity), mds.inverse(), partial),
                        mds.cells(),
                        {},
                        std::vector<SparseMatrix>(partial)};
  // B.6, from the last partial round to the first: w_hat = (M00, minor^-(i+1) w), v_rest = minor^i v, with v = w.
  const Vector first_row(mds.cells().begin() + 1, mds.cells().begin() + width);
  Vector w = first_row, v = first_row;
  Matrix power = minor;  // minor^(i+1)
  for (size_t k = partial; k-- > 0;) {
    w = minor_inverse * w;
    out.sparse[k].w_hat = {mds(0, 0)};
    out.sparse[k].w_hat.insert(out.sparse[k].w_hat.end(), w.begin(), w.end());
    out.sparse[k].v_rest = v;
    v = minor * v;
    power = power * minor;
  }
  Matrix pre_sparse(width);
  pre_sparse(0, 0) = mds(0, 0);
  for (size_t i = 0; i < arity; i++) {
    pre_sparse(0, i + 1) = v[i];
    pre_sparse(i + 1, 0) = first_row[i];
    for (size_t j = 0; j < arity; j++) pre_sparse(i + 1, j + 1) = power(i, j);
  }
  out.pre_sparse = pre_sparse.cells();
  return out;
}

// make(arity), once for each arity and each type of `make`.
template <class Make>
const auto& made_once(unsigned arity, Make make) {
  assert(std::ranges::count(kPoseidonArities, arity) == 1);
  switch (arity) {
    case 2: {
      static const auto made = make(2);
      return made;
    }
    case 4: {
      static const auto made = make(4);
      return made;
    }
    case 8: {
      static const auto made = make(8);
      return made;
    }
    default: {
      static const auto made = make(11);
      return made;
    }
  }
}

}  // namespace

std::vector<Fr> poseidon_round_constants(unsigned arity) {
  const unsigned width = arity + 1, partial = partial_rounds(arity);
  Grain grain(width, partial);
  Vector out((kPoseidonFullRounds + partial) * width);
  std::generate(out.begin(), out.end(), [&grain] { return grain.next(); });
  return out;
}

const PoseidonConstants& poseidon_constants(unsigned arity) { return made_once(arity, make_constants); }

Poseidon::Poseidon(unsigned arity, const Kernels& kernels) : kernels_(kernels) {
  const PoseidonConstants& constants = poseidon_constants(arity);
  const size_t width = constants.width;
  const auto append = [](std::vector<Fr>& to, const std::vector<Fr>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(added_, constants.compressed_round_constants);
  added_.resize(added_.size() + width);  // nothing after the last S-boxes
  std::vector<Fr> matrices;
  append(matrices, constants.mds);
  append(matrices, constants.pre_sparse);
  for (const SparseMatrix& sparse : constants.sparse) append(matrices, sparse.w_hat), append(matrices, sparse.v_rest);
  factors_.resize(matrices.size() * kernels.fr_factor_words);
  kernels.fr_factors_of(factors_.data(), matrices.data(), matrices.size());
  const size_t matrix_words = width * width * kernels.fr_factor_words;
  plan_ = {.width = constants.width,
           .partial_rounds = constants.partial_rounds,
           .first_constants = added_.data() + 1,
           .constants = added_.data() + width + 1,
           .mds = factors_.data(),
           .pre_sparse = factors_.data() + matrix_words,
           .sparse = factors_.data() + 2 * matrix_words};
}

void Poseidon::hash(const Fr& tag, std::span<const Fr* const> preimages, std::span<Fr* const> variables,
                    std::span<Fr> digests) const {
  assert(digests.size() == preimages.size() && (variables.empty() || variables.size() == preimages.size()));
  const Fr first = tag + added_[0];
  kernels_.fr_poseidon(plan_, first.square().square() * first + added_[plan_.width], preimages.data(),
                       variables.empty() ? nullptr : variables.data(), digests.data(), preimages.size());
}

const Poseidon& poseidon_hasher(unsigned arity) {
  return made_once(arity, [](unsigned n) { return Poseidon(n, kernels()); });
}

// B.7: the optimised form.
Fr poseidon(std::span<const Fr> preimage, const Fr& tag) {
  const Fr* const start = preimage.data();
  Fr digest;
  poseidon_hasher(static_cast<unsigned>(preimage.size())).hash(tag, {&start, 1}, {}, {&digest, 1});
  return digest;
}

Fr poseidon(std::span<const Fr> preimage) {
  return poseidon(preimage, merkle_tag(static_cast<unsigned>(preimage.size())));
}

}  // namespace cuzk::hash
