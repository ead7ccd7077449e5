#pragma once
// The keys of a circuit in native form. Notation of Groth 2016, "On the Size of Pairing-based Non-interactive
// Arguments", section 3.2; which points are present is filecoin-spec A.12.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "curve/bls12_381.h"
#include "mem/buffer.h"
#include "r1cs/circuit.h"

namespace cuzk::groth16 {

struct VerifyingKey {
  G1Affine alpha_g1, beta_g1;
  G2Affine beta_g2, gamma_g2;
  G1Affine delta_g1;
  G2Affine delta_g2;
  std::vector<G1Affine> ic;  // one an input, ONE first

  bool operator==(const VerifyingKey&) const = default;
};

// The points of a section, in an array, in reserved memory or in a mapped file. Copies share them.
template <class Point>
class Points {
 public:
  Points() = default;
  Points(std::vector<Point> points) {
    auto array = std::make_shared<const std::vector<Point>>(std::move(points));
    points_ = *array;
    memory_ = std::move(array);
  }
  // As many as the buffer holds.
  Points(mem::Buffer points) {
    auto array = std::make_shared<const mem::Buffer>(std::move(points));
    points_ = array->template as<const Point>();
    memory_ = std::move(array);
  }
  // Of memory that somebody else knows how to free.
  Points(std::span<const Point> points, std::shared_ptr<const void> memory)
      : points_(points), memory_(std::move(memory)) {}

  const Point* data() const { return points_.data(); }
  size_t size() const { return points_.size(); }
  auto begin() const { return points_.begin(); }
  auto end() const { return points_.end(); }
  const Point& operator[](size_t i) const { return points_[i]; }
  bool operator==(const Points& o) const { return std::equal(begin(), end(), o.begin(), o.end()); }

 private:
  std::span<const Point> points_;
  std::shared_ptr<const void> memory_;
};

struct Parameters {
  VerifyingKey vk;
  Points<G1Affine> h;     // tau^k (tau^m - 1) / delta
  Points<G1Affine> l;     // every auxiliary variable
  Points<G1Affine> a;     // every input, then the auxiliary variables that occur in A
  Points<G1Affine> b_g1;  // the inputs, then the auxiliary variables, that occur in B
  Points<G2Affine> b_g2;  // the same in G2
};

// How many points each section holds.
struct Lengths {
  uint64_t ic = 0, h = 0, l = 0, a = 0, b_g1 = 0, b_g2 = 0;

  uint64_t native_bytes() const { return (ic + h + l + a + b_g1) * sizeof(G1Affine) + b_g2 * sizeof(G2Affine); }
  bool operator==(const Lengths&) const = default;
};

// What a circuit wants (filecoin-spec A.12), and what a key has.
Lengths lengths_of(const r1cs::Circuit& circuit);
Lengths lengths_of(const Parameters& parameters);

}  // namespace cuzk::groth16
