#include <gtest/gtest.h>

#include "field/fields.h"
namespace cuzk {
TEST(Fr, RootOfUnityIsTheSpecs) {
  constexpr Fr root = fr_root_of_unity(32);
  std::array<uint64_t, 4> want{0x3829971f439f0d2b, 0xb63683508c2280b9, 0xd09b681922c813b4, 0x16a2a19edfe81f20};
  EXPECT_EQ(root.canonical(), want);
  EXPECT_EQ(root * root.inverse(), Fr::one());
  EXPECT_EQ(Fp::from_u64(7) * Fp::from_u64(9), Fp::from_u64(63));
}
}  // namespace cuzk
