#pragma once
// What tests share: a printed and settable seed, and where the reference vectors are. Used by tests and benchmarks
// only.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

namespace cuzk::testing {

// The seed of this run: CUZK_TEST_SEED, else a fixed one; printed once.
inline uint64_t seed() {
  static const uint64_t value = [] {
    const char* text = std::getenv("CUZK_TEST_SEED");
    uint64_t chosen = text ? std::strtoull(text, nullptr, 0) : 20261130;
    std::printf("CUZK_TEST_SEED=%llu\n", static_cast<unsigned long long>(chosen));
    return chosen;
  }();
  return value;
}

// A generator for one test; `stream` keeps tests independent of each other.
inline std::mt19937_64 rng(uint64_t stream = 0) { return std::mt19937_64(seed() * 0x9e3779b97f4a7c15 + stream); }

// A uniform element of a prime field.
template <class Field>
Field random_field(std::mt19937_64& random) {
  std::array<uint64_t, Field::kLimbs + 1> wide;
  for (uint64_t& limb : wide) limb = random();
  return Field::from_wide(wide);
}

// Folder of the reference vectors: CUZK_VECTORS, else shared/vectors beside the repository. Empty where there is none.
// Tests that need it call GTEST_SKIP() then; CI sets CUZK_REQUIRE_VECTORS=1, which turns the absence into a failure.
inline std::filesystem::path vectors() {
  const char* text = std::getenv("CUZK_VECTORS");
  std::filesystem::path path = text ? text : CUZK_SOURCE_DIR "/../shared/vectors";
  if (std::filesystem::exists(path / "README.md")) return path;
  if (std::getenv("CUZK_REQUIRE_VECTORS")) {
    std::fprintf(stderr, "no reference vectors at %s, but CUZK_REQUIRE_VECTORS is set\n", path.c_str());
    std::exit(1);
  }
  return {};
}

}  // namespace cuzk::testing

// At the head of a test that reads the reference vectors.
#define CUZK_SKIP_WITHOUT_VECTORS() \
  if (::cuzk::testing::vectors().empty()) GTEST_SKIP() << "no reference vectors: set CUZK_VECTORS"
