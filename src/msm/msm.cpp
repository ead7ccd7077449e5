#include "msm/msm.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace cuzk::msm {
namespace {

constexpr unsigned kScalarBits = 255;

}  // namespace

Plan plan(const Shape& shape, size_t threads) {
  Plan out{shape, threads, 1, 0, 0};
  double best = 0;
  for (unsigned bits = 2; bits <= 18; bits++) {
    const unsigned windows = (kScalarBits + bits - 1) / bits;
    const double cost = windows * (static_cast<double>(shape.points) + 3.0 * static_cast<double>(1u << (bits - 1)));
    if (out.windows == 0 || cost < best) {
      best = cost;
      out.window_bits = bits;
      out.windows = windows;
    }
  }
  return out;
}

template <class F>
Result<Xyzz<F>> run(const Plan& plan, std::span<const Affine<F>> bases, std::span<const Fr> scalars,
                    std::span<std::byte> workspace, exec::Pool& pool) {
  if (bases.size() != plan.shape.points || scalars.size() != plan.shape.points) {
    return fail(Code::kInvalidInput, "{} bases and {} scalars for a plan of {} points", bases.size(), scalars.size(),
                plan.shape.points);
  }
  if (workspace.size() < plan.workspace_bytes) {
    return fail(Code::kResourceExhausted, "workspace of {} bytes, the plan needs {}", workspace.size(),
                plan.workspace_bytes);
  }
  const unsigned bits = plan.window_bits;
  std::vector<Xyzz<F>> sums(plan.windows + 1);
  pool.for_each(plan.windows, [&](size_t window) {
    std::vector<Xyzz<F>> buckets(size_t{1} << bits);
    const size_t low = window * bits;
    for (size_t i = 0; i < bases.size(); i++) {
      const auto limbs = scalars[i].canonical();
      uint64_t digit = limbs[low / 64] >> (low % 64);
      if (low % 64 + bits > 64 && low / 64 < 3) digit |= limbs[low / 64 + 1] << (64 - low % 64);
      digit &= (uint64_t{1} << bits) - 1;
      if (digit != 0) buckets[digit] += bases[i];
    }
    Xyzz<F> running;
    for (size_t b = buckets.size() - 1; b > 0; b--) {
      running += buckets[b];
      sums[window] += running;
    }
  });
  Xyzz<F> out;
  for (size_t window = plan.windows; window-- > 0;) {
    for (unsigned i = 0; i < bits; i++) out = out.dbl();
    out += sums[window];
  }
  return out;
}

template <class F>
uint64_t sum_workspace_bytes(size_t) {
  return 0;
}

template <class F>
Result<Xyzz<F>> sum_selected(std::span<const Affine<F>> bases, std::span<const uint64_t> bitmap, std::span<std::byte>,
                             exec::Pool&) {
  if (bitmap.size() != (bases.size() + 63) / 64) {
    return fail(Code::kInvalidInput, "{} bitmap words for {} points", bitmap.size(), bases.size());
  }
  Xyzz<F> out;
  for (size_t word = 0; word < bitmap.size(); word++) {
    for (uint64_t left = bitmap[word]; left != 0; left &= left - 1) {
      const size_t index = 64 * word + static_cast<size_t>(std::countr_zero(left));
      if (index >= bases.size())
        return fail(Code::kInvalidInput, "bit {} of the bitmap is past {} points", index, bases.size());
      out += bases[index];
    }
  }
  return out;
}

template Result<Xyzz<Fp>> run(const Plan&, std::span<const Affine<Fp>>, std::span<const Fr>, std::span<std::byte>,
                              exec::Pool&);
template Result<Xyzz<Fp2>> run(const Plan&, std::span<const Affine<Fp2>>, std::span<const Fr>, std::span<std::byte>,
                               exec::Pool&);
template uint64_t sum_workspace_bytes<Fp>(size_t);
template uint64_t sum_workspace_bytes<Fp2>(size_t);
template Result<Xyzz<Fp>> sum_selected(std::span<const Affine<Fp>>, std::span<const uint64_t>, std::span<std::byte>,
                                       exec::Pool&);
template Result<Xyzz<Fp2>> sum_selected(std::span<const Affine<Fp2>>, std::span<const uint64_t>, std::span<std::byte>,
                                        exec::Pool&);

}  // namespace cuzk::msm
