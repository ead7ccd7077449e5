#include "msm/fixed_base.h"

#include <cstdlib>

#include "msm/batch_add.h"

namespace cuzk::msm {
namespace {

constexpr size_t kBatch = 1024;

// A batch adder with memory of its own.
template <class F>
class OwnBatchAdd {
 public:
  OwnBatchAdd() : memory_(bytes()), carver_(memory_), add(carver_, kBatch) {}

 private:
  static size_t bytes() {
    Carver counter;
    BatchAdd<F>(counter, kBatch);
    return counter.bytes();
  }
  std::vector<std::byte> memory_;
  Carver carver_;

 public:
  BatchAdd<F> add;
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
    OwnBatchAdd<F> batch;
    const std::span<Affine<F>> multiples(&table_[w * digits_.buckets()], digits_.buckets());
    for (size_t k = 1; k < multiples.size(); k *= 2) {
      for (size_t begin = 0; begin < k; begin += kBatch) {
        const size_t count = std::min(kBatch, k - begin);
        for (size_t i = 0; i < count; i++) {
          batch.add.set_first(i, multiples[begin + i]);
          batch.add.set_second(i, multiples[k - 1]);
        }
        batch.add.run(count);
        for (size_t i = 0; i < count; i++) multiples[k + begin + i] = batch.add.first(i);
      }
    }
  });
}

template <class F>
void FixedBase<F>::mul(std::span<const Fr> scalars, std::span<Affine<F>> out, exec::Pool& pool) const {
  pool.for_each_chunk(scalars.size(), 16 * kBatch, [&](size_t begin, size_t end) {
    OwnBatchAdd<F> batch;
    std::vector<Digits::Prepared> prepared(kBatch);
    std::vector<uint32_t> places(kBatch);
    std::vector<int32_t> chosen(kBatch);
    // set(i, entry of the window) for every scalar; the tables are larger than the caches.
    auto for_entries = [&](size_t count, unsigned window, auto&& set) {
      const auto entry = [entries = &table_[window * digits_.buckets()]](int32_t digit) -> const Affine<F>& {
        return entries[std::max(std::abs(digit), 1) - 1];
      };
      for (size_t i = 0; i < count; i++) chosen[i] = static_cast<int32_t>(digits_.digit(prepared[i], window));
      for (size_t i = 0; i < count; i++) {
        constexpr size_t kAhead = 24;
        if (i + kAhead < count) prefetch(entry(chosen[i + kAhead]));
        if (chosen[i] == 0) {
          set(i, Affine<F>::infinity());
        } else {
          set(i, chosen[i] < 0 ? -entry(chosen[i]) : entry(chosen[i]));
        }
      }
    };
    for (size_t at = begin; at < end;) {
      size_t count = 0;
      for (; at < end && count < kBatch; at++) {
        if (scalars[at].is_zero()) {
          out[at] = Affine<F>::infinity();
        } else {
          prepared[count] = digits_.prepare(scalars[at]);
          places[count++] = static_cast<uint32_t>(at - begin);
        }
      }
      for_entries(count, 0, [&](size_t i, const Affine<F>& entry) { batch.add.set_first(i, entry); });
      for (unsigned window = 1; window < digits_.windows(); window++) {
        for_entries(count, window, [&](size_t i, const Affine<F>& entry) { batch.add.set_second(i, entry); });
        batch.add.run(count);
      }
      for (size_t i = 0; i < count; i++) out[begin + places[i]] = batch.add.first(i);
    }
  });
}

template class FixedBase<Fp>;
template class FixedBase<Fp2>;

}  // namespace cuzk::msm
