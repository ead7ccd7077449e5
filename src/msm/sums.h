#pragma once
// Points in the lanes of field/kernels.h: sums that grow side by side.

#include <cstring>

#include "curve/point.h"
#include "field/kernels.h"
#include "mem/carver.h"

namespace cuzk::msm {

// Beside the index of a point to subtract.
inline constexpr uint32_t kNegative = uint32_t{1} << 31;

static_assert(sizeof(Affine<Fp>) == 2 * sizeof(Fp) && sizeof(Affine<Fp2>) == 2 * sizeof(Fp2));

// One point in each lane; 128 to 256 bytes a point. Unset at first.
template <class F>
class Lanes {
 public:
  Lanes(mem::Carver& memory, size_t count)
      : blocks_(blocks_of(count)), memory_(memory.take<std::byte>(blocks_ * kernels_.block_bytes).data()) {}

  static size_t width() { return point_sums<F>().width; }  // of a block
  size_t blocks() const { return blocks_; }
  size_t lanes() const { return blocks_ * kernels_.width; }
  static size_t blocks_of(size_t lanes) { return (lanes + width() - 1) / width(); }
  std::byte* block(size_t i) const { return memory_ + i * kernels_.block_bytes; }

  void set(size_t lane, const Affine<F>& point) { kernels_.set(memory_, lane, &point.x); }
  Affine<F> get(size_t lane) const {
    Affine<F> out;
    kernels_.get(memory_, lane, &out.x);
    return out;
  }
  void copy(size_t lane, const Lanes& from, size_t from_lane) { kernels_.copy(memory_, lane, from.memory_, from_lane); }
  void clear() { std::memset(memory_, 0, blocks_ * kernels_.block_bytes); }  // infinity in every lane

 private:
  const PointSums<F>& kernels_ = point_sums<F>();
  size_t blocks_;
  std::byte* memory_;
};

// Lanes with what additions to them need.
template <class F>
class Sums : public Lanes<F> {
 public:
  Sums(mem::Carver& memory, size_t count)
      : Lanes<F>(memory, count),
        scratch_(memory.take<std::byte>(this->blocks() * kernels_.scratch_bytes).data()),
        operands_(memory.take<const void*>(this->blocks())),
        choice(memory.take<uint32_t>(this->lanes())),
        next(memory.take<uint32_t>(this->lanes())) {}

  // Adds the points of `choice` to the lanes of the first `blocks` blocks; see PointSums.
  void add_chosen(const Affine<F>* points, size_t blocks) {
    kernels_.add_points(this->block(0), scratch_, blocks, &points->x, choice.data(), next.data());
  }
  // Adds operand(i) to block i, for the blocks from `begin` to `end`.
  template <class Operand>
  void add_blocks(size_t begin, size_t end, Operand operand) {
    for (size_t i = begin; i < end; i++) operands_[i] = operand(i);
    kernels_.add_sums(this->block(begin), scratch_, end - begin, &operands_[begin]);
  }

 private:
  const PointSums<F>& kernels_ = point_sums<F>();
  std::byte* scratch_;
  std::span<const void*> operands_;

 public:
  std::span<uint32_t> choice, next;
};

}  // namespace cuzk::msm
