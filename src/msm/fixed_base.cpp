#include "msm/fixed_base.h"

#include <cstdlib>

#include "msm/sums.h"

namespace cuzk::msm {
namespace {

template <class F>
constexpr size_t kBatch = std::is_same_v<F, Fp> ? 1024 : 512;

// Sums with memory of their own.
template <class F>
class OwnSums {
 public:
  OwnSums() : memory_(bytes()), carver_(memory_), sums(carver_, kBatch<F>) {}

 private:
  static size_t bytes() {
    mem::Carver counter;
    Sums<F>(counter, kBatch<F>);
    return counter.bytes();
  }
  std::vector<std::byte> memory_;
  mem::Carver carver_;

 public:
  Sums<F> sums;
};

}  // namespace

unsigned fixed_base_window_bits(size_t count) {
  unsigned best = 1;
  auto additions = [&](unsigned bits) {
    const Digits digits(bits);
    return digits.windows() * (static_cast<double>(count) + static_cast<double>(digits.buckets()));
  };
  for (unsigned bits = 2; bits <= 16; bits++) {
    if (additions(bits) < additions(best)) best = bits;
  }
  return best;
}

template <class F>
FixedBase<F>::FixedBase(const Xyzz<F>& base, unsigned window_bits, exec::Pool& pool)
    : digits_(window_bits), table_(digits_.windows() * digits_.buckets()) {
  Xyzz<F> unit = base;
  for (unsigned w = 0; w < digits_.windows(); w++) {
    table_[w * digits_.buckets()] = unit.to_affine();
    for (unsigned i = 0; i < window_bits; i++) unit = unit.dbl();
  }
  // From the multiples up to k those up to 2k, by adding the k-th.
  pool.for_each(digits_.windows(), [&](size_t w) {
    OwnSums<F> own;
    Sums<F>& sums = own.sums;
    const std::span<Affine<F>> multiples(&table_[w * digits_.buckets()], digits_.buckets());
    sums.clear();
    std::fill(sums.next.begin(), sums.next.end(), kNoPoint);
    for (size_t k = 1; k < multiples.size(); k *= 2) {
      for (size_t begin = 0; begin < k; begin += kBatch<F>) {
        const size_t count = std::min(kBatch<F>, k - begin);
        for (size_t i = 0; i < count; i++) sums.set(i, multiples[begin + i]);
        std::fill(sums.choice.begin(), sums.choice.end(), static_cast<uint32_t>(k - 1));
        sums.add_chosen(multiples.data(), sums.blocks_of(count));
        for (size_t i = 0; i < count; i++) multiples[k + begin + i] = sums.get(i);
      }
    }
  });
}

template <class F>
void FixedBase<F>::mul(std::span<const Fr> scalars, std::span<Affine<F>> out, exec::Pool& pool) const {
  pool.for_each_chunk(scalars.size(), 16 * kBatch<F>, [&](size_t begin, size_t end) {
    OwnSums<F> own;
    Sums<F>& sums = own.sums;
    std::vector<Digits::Prepared> prepared(kBatch<F>);
    std::vector<uint32_t> places(kBatch<F>);
    for (size_t at = begin; at < end;) {
      size_t count = 0;
      for (; at < end && count < kBatch<F>; at++) {
        if (scalars[at].is_zero()) {
          out[at] = Affine<F>::infinity();
        } else {
          prepared[count] = digits_.prepare(scalars[at]);
          places[count++] = static_cast<uint32_t>(at - begin);
        }
      }
      const auto choose = [&](size_t i, unsigned window) {
        const auto digit = static_cast<int32_t>(digits_.digit(prepared[i], window));
        if (digit == 0) return kNoPoint;
        const size_t entry = window * digits_.buckets() + static_cast<size_t>(std::abs(digit)) - 1;
        return static_cast<uint32_t>(entry) | (digit < 0 ? kNegative : 0);
      };
      sums.clear();
      for (size_t i = 0; i < count; i++) {
        const uint32_t first = choose(i, 0);
        if (first != kNoPoint) sums.set(i, first & kNegative ? -table_[first & ~kNegative] : table_[first]);
        sums.next[i] = choose(i, 1 % digits_.windows());
      }
      std::fill(sums.next.begin() + count, sums.next.end(), kNoPoint);
      for (unsigned window = 1; window < digits_.windows(); window++) {
        std::swap(sums.choice, sums.next);
        std::fill(sums.next.begin(), sums.next.end(), kNoPoint);
        if (window + 1 < digits_.windows()) {
          for (size_t i = 0; i < count; i++) sums.next[i] = choose(i, window + 1);
        }
        sums.add_chosen(table_.data(), sums.blocks_of(count));
      }
      for (size_t i = 0; i < count; i++) out[begin + places[i]] = sums.get(i);
    }
  });
}

template class FixedBase<Fp>;
template class FixedBase<Fp2>;

}  // namespace cuzk::msm
