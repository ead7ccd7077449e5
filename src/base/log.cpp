#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

namespace cuzk::log {
namespace {

std::atomic<bool> as_json = false;

spdlog::logger& logger() {
  static auto instance = spdlog::stderr_color_mt("cuzk");
  return *instance;
}

}  // namespace

void configure(Level level, bool json) {
  as_json = json;
  logger().set_level(static_cast<spdlog::level::level_enum>(level));
  logger().set_pattern(
      json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","message":%v})" : "%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v",
      spdlog::pattern_time_type::utc);
}

void write(Level level, std::string_view message) {
  auto spdlog_level = static_cast<spdlog::level::level_enum>(level);
  if (as_json) {
    logger().log(spdlog_level, "{}",
                 nlohmann::json(message).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    logger().log(spdlog_level, "{}", message);
  }
}

}  // namespace cuzk::log
