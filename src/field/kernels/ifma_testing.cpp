// The vector code of field/kernels/ifma.cpp with its lanes in plain C++, so that tests run it on every machine.

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "field/kernels/implementations.h"

namespace cuzk {
namespace ifma_emulated {
namespace {

#define CUZK_INLINE

struct Lanes {
  uint64_t lane[8];
};
struct Mask {
  bool lane[8];
};

// A lane each from the same lane of the arguments.
template <class Operation, class... In>
auto each(Operation operation, const In&... in) {
  using Word = decltype(operation(in.lane[0]...));
  std::conditional_t<std::is_same_v<Word, bool>, Mask, Lanes> out;
  for (size_t i = 0; i < 8; i++) out.lane[i] = operation(in.lane[i]...);
  return out;
}

Lanes broadcast(uint64_t value) {
  return each([value](uint64_t) { return value; }, Lanes{});
}
Lanes zeros() { return {}; }
Lanes add(Lanes a, Lanes b) { return each(std::plus<uint64_t>(), a, b); }
Lanes subtract(Lanes a, Lanes b) { return each(std::minus<uint64_t>(), a, b); }
Lanes bit_and(Lanes a, Lanes b) { return each(std::bit_and<uint64_t>(), a, b); }
Lanes bit_or(Lanes a, Lanes b) { return each(std::bit_or<uint64_t>(), a, b); }
Lanes or_and(Lanes a, Lanes b, Lanes c) { return bit_and(bit_or(a, b), c); }
Lanes shift_left(Lanes a, unsigned bits) {
  return each([bits](uint64_t x) { return x << bits; }, a);
}
Lanes shift_right(Lanes a, unsigned bits) {
  return each([bits](uint64_t x) { return x >> bits; }, a);
}
Lanes shift_right_signed(Lanes a, unsigned bits) {
  return each([bits](uint64_t x) { return static_cast<uint64_t>(static_cast<int64_t>(x) >> bits); }, a);
}
constexpr uint128_t product52(uint64_t a, uint64_t b) {
  constexpr uint64_t kLow = (uint64_t{1} << 52) - 1;
  return static_cast<uint128_t>(a & kLow) * (b & kLow);
}
Lanes madd_low(Lanes sum, Lanes a, Lanes b) {
  const auto low = [](uint64_t s, uint64_t x, uint64_t y) {
    return s + (static_cast<uint64_t>(product52(x, y)) << 12 >> 12);
  };
  return each(low, sum, a, b);
}
Lanes madd_high(Lanes sum, Lanes a, Lanes b) {
  const auto high = [](uint64_t s, uint64_t x, uint64_t y) { return s + static_cast<uint64_t>(product52(x, y) >> 52); };
  return each(high, sum, a, b);
}
Mask is_negative(Lanes a) {
  return each([](uint64_t x) { return static_cast<int64_t>(x) < 0; }, a);
}
bool all_negative(Lanes a) {
  return std::all_of(a.lane, a.lane + 8, [](uint64_t x) { return static_cast<int64_t>(x) < 0; });
}
Lanes select(Mask mask, Lanes set, Lanes clear) {
  return each([](bool m, uint64_t x, uint64_t y) { return m ? x : y; }, mask, set, clear);
}

Lanes add_where(Mask mask, Lanes a, Lanes b) { return select(mask, add(a, b), a); }
Mask is_zero(Lanes a) {
  return each([](uint64_t x) { return x == 0; }, a);
}
Mask mask_of(uint8_t bits) {
  Mask out;
  for (size_t i = 0; i < 8; i++) out.lane[i] = bits >> i & 1;
  return out;
}
uint8_t bits_of(Mask mask) {
  unsigned bits = 0;
  for (size_t i = 0; i < 8; i++) bits |= static_cast<unsigned>(mask.lane[i]) << i;
  return static_cast<uint8_t>(bits);
}

template <class T>
const T* in_memory(const T* constants) {
  return constants;
}

template <size_t kWords>
void load(const uint64_t* from, size_t pitch, Lanes* out) {
  for (size_t i = 0; i < 8; i++) {
    for (size_t word = 0; word < kWords; word++) out[word].lane[i] = from[i * pitch + word];
  }
}
template <size_t kWords>
void store(uint64_t* to, size_t pitch, const Lanes* in) {
  for (size_t i = 0; i < 8; i++) {
    for (size_t word = 0; word < kWords; word++) to[i * pitch + word] = in[word].lane[i];
  }
}
constexpr auto load4 = load<4>, load2 = load<2>;
constexpr auto store4 = store<4>, store2 = store<2>;

template <size_t kWords>
void gather(const uint64_t* const* from, Lanes* out) {
  for (size_t i = 0; i < 8; i++) {
    for (size_t word = 0; word < kWords; word++) out[word].lane[i] = from[i][word];
  }
}
constexpr auto gather4 = gather<4>, gather6 = gather<6>;

#include "field/kernels/radix52.inl"

}  // namespace
}  // namespace ifma_emulated

constexpr Kernels kEmulatedIfmaKernels = ifma_emulated::table("ifma-emulated");

}  // namespace cuzk
