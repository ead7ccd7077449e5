#include "field/text.h"

#include <gtest/gtest.h>

#include "base/testing.h"

namespace cuzk {
namespace {

constexpr const char* kModulus = "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001";  // r

TEST(FrText, RoundTrips) {
  auto random = testing::rng(71);
  for (int i = 0; i < 100; i++) {
    const Fr value = testing::random_field<Fr>(random);
    EXPECT_EQ(fr_from_hex(fr_to_hex(value)).value(), value);
  }
  EXPECT_EQ(fr_to_hex(Fr::zero()), "0");
  EXPECT_EQ(fr_to_hex(Fr::from_u64(0x1a2b)), "1a2b");
  EXPECT_EQ(fr_from_hex("0001A2b").value(), Fr::from_u64(0x1a2b));
  std::string largest = kModulus;
  largest.back() = '0';
  EXPECT_EQ(fr_from_hex(largest).value(), -Fr::one());
  EXPECT_EQ(fr_to_hex(-Fr::one()), largest);
}

TEST(FrText, Refusals) {
  for (const std::string& text : {std::string(), std::string(65, '1'), std::string("12g4"), std::string(kModulus)}) {
    EXPECT_EQ(fr_from_hex(text).error().code, Code::kInvalidInput) << text;
  }
}

}  // namespace
}  // namespace cuzk
