#include "field/kernels.h"

#include <array>
#include <cstdlib>
#include <vector>

#include "field/kernels/implementations.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace cuzk {
namespace {

struct Implementation {
  const Kernels* table;
  const char* needs;  // processor features, in words
  bool (*runs_here)();
};

#if defined(__x86_64__)
// By cpuid, as compilers differ in the names that __builtin_cpu_supports knows.
struct Features {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  explicit Features(unsigned leaf) { __get_cpuid_count(leaf, 0, &eax, &ebx, &ecx, &edx); }
};
bool has_bmi2_and_adx() {
  const Features f(7);
  return (f.ebx & bit_BMI2) && (f.ebx & bit_ADX);
}
bool has_avx512_ifma() {
  const Features f(7);
  if (!(f.ebx & bit_AVX512F) || !(f.ebx & bit_AVX512IFMA) || !(Features(1).ecx & bit_OSXSAVE)) return false;
  unsigned low, high;  // which registers the operating system saves: 0xe6 is xmm, ymm, and the three parts of AVX-512
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & 0xe6) == 0xe6;
}
#endif

// Best first.
constexpr Implementation kImplementations[] = {
#if defined(__x86_64__)
    {&kIfmaKernels, "AVX-512 IFMA", has_avx512_ifma},
    {&kAdxKernels, "BMI2 and ADX", has_bmi2_and_adx},
#endif
    {&kPortableKernels, "nothing", [] { return true; }},
};

std::string names(std::span<const Kernels* const> tables) {
  std::string out;
  for (const Kernels* table : tables) out += fmt::format("{}{}", out.empty() ? "" : ", ", table->name);
  return out;
}

}  // namespace

template <>
void make_canonical(Fp& value) {
  Fp::Limbs words = value.raw();
  while (!limbs::less(words, Fp::kModulus)) limbs::subtract_if_above(words, Fp::kModulus);
  value = Fp::from_raw(words);
}
template <>
void make_canonical(Fp2& value) {
  make_canonical(value.c0);
  make_canonical(value.c1);
}

template <class F>
void negate(F& value) {
  value = -value;
}
template void negate(Fp&);
template void negate(Fp2&);

template <class F>
Addition classify_addition(F (&first)[2], F (&second)[2], F (&slope)[2]) {
  for (F* value : {&first[0], &first[1], &second[0], &second[1]}) make_canonical(*value);
  const auto infinite = [](const F(&point)[2]) { return point[0].is_zero() && point[1].is_zero(); };
  slope[0] = slope[1] = F::one();
  if (infinite(first)) {
    first[0] = second[0], first[1] = second[1];
  } else if (infinite(second)) {
  } else if (first[0] != second[0]) {
    return Addition::kPlain;
  } else if (first[1] == second[1] && !first[1].is_zero()) {
    const F square = first[0].square();
    slope[0] = square + square + square;
    slope[1] = first[1] + first[1];
    return Addition::kDoubling;
  } else {
    first[0] = first[1] = F::zero();
  }
  return Addition::kKnown;
}
template Addition classify_addition(Fp (&)[2], Fp (&)[2], Fp (&)[2]);
template Addition classify_addition(Fp2 (&)[2], Fp2 (&)[2], Fp2 (&)[2]);

template <class F>
void invert_products(F* products, size_t count, const Fp& scale) {
  constexpr size_t kMost = 16;
  F before[kMost];  // before[i] = products[0] ... products[i - 1]
  F all = F::one();
  for (size_t i = 0; i < count; i++) {
    make_canonical(products[i]);
    before[i] = all;
    all *= products[i];
  }
  F inverse = all.inverse() * scale;
  for (size_t i = count; i-- > 0;) {
    const F product = products[i];
    products[i] = inverse * before[i];
    inverse *= product;
  }
}
template void invert_products(Fp*, size_t, const Fp&);
template void invert_products(Fp2*, size_t, const Fp&);

std::span<const Kernels* const> kernels_available() {
  static const std::vector<const Kernels*> kAvailable = [] {
    std::vector<const Kernels*> out;
    for (const Implementation& one : kImplementations) {
      if (one.runs_here()) out.push_back(one.table);
    }
    return out;
  }();
  return kAvailable;
}

Result<const Kernels*> select_kernels(std::string_view name) {
  if (name.empty()) return kernels_available().front();
  for (const Implementation& one : kImplementations) {
    if (one.table->name != name) continue;
    if (one.runs_here()) return one.table;
    return fail(Code::kUsage, "this processor cannot run the kernels '{}', which need {}; it can run: {}", name,
                one.needs, names(kernels_available()));
  }
  if (const Kernels* emulated = &kEmulatedIfmaKernels; emulated && emulated->name == name) return emulated;
  return fail(Code::kUsage, "there are no kernels named '{}'; this processor can run: {}", name,
              names(kernels_available()));
}

Result<const Kernels*> select_kernels_from_environment() {
  const char* name = std::getenv(kKernelsVariable);
  auto chosen = select_kernels(name ? name : "");
  if (!chosen) return tl::unexpected(std::move(chosen).error().within(kKernelsVariable));
  return chosen;
}

const Kernels& kernels() {
  static const Kernels& chosen = *select_kernels_from_environment().value_or(kernels_available().front());
  return chosen;
}

}  // namespace cuzk
