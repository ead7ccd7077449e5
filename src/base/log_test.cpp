#include "base/log.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace cuzk {
namespace {

std::vector<std::string> logged(log::Level level, bool json) {
  ::testing::internal::CaptureStderr();
  log::configure(level, json);
  log::debug("one {}", 1);
  log::info("a \"quoted\"\nline");
  log::warn("{}", "\xff not UTF-8");
  log::error("{{}}");
  std::istringstream text(::testing::internal::GetCapturedStderr());
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

TEST(Log, WritesOneJsonObjectALine) {
  const auto lines = logged(log::Level::kDebug, true);
  ASSERT_EQ(lines.size(), 4u);
  const std::string levels[] = {"debug", "info", "warning", "error"};
  const std::string messages[] = {"one 1", "a \"quoted\"\nline", "\uFFFD not UTF-8", "{}"};
  for (size_t i = 0; i < 4; i++) {
    const auto object = nlohmann::json::parse(lines[i]);
    EXPECT_EQ(object["level"], levels[i]);
    EXPECT_EQ(object["message"], messages[i]);
    EXPECT_TRUE(object["time"].get<std::string>().ends_with("Z"));
  }
}

TEST(Log, GoesWhereItIsRedirectedTo) {
  struct Line {
    log::Level level;
    std::string text;
  };
  static std::vector<Line> lines;
  EXPECT_EXIT(
      {
        log::configure(log::Level::kInfo, true);
        log::redirect([](log::Level level, std::string_view text) { lines.push_back({level, std::string(text)}); });
        log::debug("below the level");
        log::warn({{"job", "a"}}, "{} line", 1);
        const bool told = lines.size() == 1 && lines[0].level == log::Level::kWarn && lines[0].text == "1 line job='a'";
        log::redirect({});
        log::error("dropped");
        std::_Exit(told && lines.size() == 1 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "^$");
}

TEST(Log, FieldsAreKeysOrFollowTheText) {
  const auto lines = [](bool json) {
    ::testing::internal::CaptureStderr();
    log::configure(log::Level::kInfo, json, {{"host", "100%v \"h\""}});
    log::warn({{"job", "a \"b\"\n\xff"}, {"partition", uint64_t{7}}, {"device", ""}, {"code", log::Value()}},
              "failed {}", 1);
    return ::testing::internal::GetCapturedStderr();
  };
  const auto object = nlohmann::json::parse(lines(true));
  EXPECT_EQ(object["message"], "failed 1");
  EXPECT_EQ(object["job"], "a \"b\"\n\uFFFD");
  EXPECT_EQ(object["partition"], 7);
  EXPECT_EQ(object["host"], "100%v \"h\"");
  EXPECT_FALSE(object.contains("device") || object.contains("code"));
  EXPECT_TRUE(lines(false).ends_with("failed 1 job='a \"b\"?\xff' partition=7\n"));
}

TEST(Log, LeavesOutWhatIsBelowItsLevel) {
  const auto lines = logged(log::Level::kError, false);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].ends_with("{}"));
}

}  // namespace
}  // namespace cuzk
