// docs/operating.md lists what the program knows, in its words.

#include <gtest/gtest.h>

#include <fstream>

#include "service/config.h"
#include "service/metrics.h"

namespace cuzk::service {
namespace {

// The page's block between `<!-- NAME -->` and `<!-- end NAME -->`; paste what this wants where it fails.
void expect_block(const std::string& name, const std::string& wanted) {
  std::ifstream file(CUZK_SOURCE_DIR "/docs/operating.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::string begin = "<!-- " + name + " -->\n", end = "<!-- end " + name + " -->";
  const size_t from = page.find(begin), to = page.find(end);
  ASSERT_TRUE(from != page.npos && to != page.npos) << name;
  EXPECT_EQ(page.substr(from + begin.size(), to - from - begin.size()), wanted);
}

TEST(Docs, ListEverySetting) {
  std::string table = "| setting | default | SIGHUP changes it | meaning |\n| --- | --- | --- | --- |\n";
  for (const SettingInfo& setting : list_settings()) {
    table += fmt::format("| `{}` | `{}` | {} | {} |\n", setting.key, setting.fallback,
                         setting.needs_restart ? "no" : "yes", setting.meaning);
  }
  expect_block("settings", table);
}

TEST(Docs, ListEveryMetric) {
  std::string table = "| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n";
  for (const MetricName& metric : metric_names())
    table += fmt::format("| `{}` | {} | {} | {} |\n", metric.name, metric.type, metric.labels, metric.help);
  expect_block("metrics", table);
}

}  // namespace
}  // namespace cuzk::service
