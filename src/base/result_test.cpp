#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

namespace cuzk {
namespace {

std::vector<Code> all_codes() {
  std::vector<Code> codes;
  for (int i = 0; i <= static_cast<int>(Code::kInternal); i++) codes.push_back(static_cast<Code>(i));
  return codes;
}

TEST(Code, NamesAreStableWords) {
  std::set<std::string_view> names;
  for (Code code : all_codes()) {
    EXPECT_EQ(code_name(code).find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos);
    EXPECT_TRUE(names.insert(code_name(code)).second) << code_name(code);
  }
}

TEST(Code, ExitCodesFollowTheContract) {
  for (Code code : all_codes()) {
    EXPECT_GE(exit_code(code), 1);
    // What may succeed later is neither bad input nor a negative answer.
    EXPECT_TRUE(!retryable(code) || exit_code(code) == 4) << code_name(code);
  }
  EXPECT_EQ(exit_code(Code::kVerifyFailed), 1);
  EXPECT_EQ(exit_code(Code::kUsage), 2);
  EXPECT_EQ(exit_code(Code::kInvalidInput), 3);
  EXPECT_EQ(exit_code(Code::kInvalidParams), 3);
}

Status positive(int value) {
  if (value <= 0) return fail(Code::kInvalidInput, "{} is not positive", value);
  return {};
}
Result<int> half(int value) {
  CUZK_TRY(positive(value));
  if (value % 2 != 0) return fail(Code::kUnsatisfied, "{} is odd", value);
  return value / 2;
}
Result<int> quarter(int value) {
  CUZK_TRY_ASSIGN(const int once, half(value));
  CUZK_TRY_ASSIGN(int twice, half(once));
  return twice;
}

TEST(Result, PassesErrorsUp) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(6).error().message, "3 is odd");
  EXPECT_EQ(quarter(6).error().code, Code::kUnsatisfied);
  EXPECT_EQ(quarter(-4).error().code, Code::kInvalidInput);
}

TEST(Result, ContextIsPutInFront) {
  const Error error = Error{Code::kIo, "disk full"}.within("write").within("proof");
  EXPECT_EQ(error.code, Code::kIo);
  EXPECT_EQ(error.message, "proof: write: disk full");
}

Result<std::unique_ptr<int>> owned(bool good) {
  if (!good) return fail(Code::kNotFound, "none");
  return std::make_unique<int>(5);
}
Result<int> read(bool good) {
  CUZK_TRY_ASSIGN(auto pointer, owned(good));
  return *pointer;
}

TEST(Result, CarriesValuesThatOnlyMove) {
  EXPECT_EQ(*read(true), 5);
  EXPECT_EQ(read(false).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace cuzk
