#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

namespace cuzk::log {
namespace {

std::atomic<bool> as_json = false;
std::mutex redirection_mutex;
std::optional<Sink> redirection;

std::string in_json(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Nothing from outside may begin a line of its own.
std::string in_line(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return line;
}

std::string text_of(Fields fields, bool json) {
  std::string line;
  for (const auto& [name, value] : fields) {
    const auto* number = std::get_if<uint64_t>(&value);
    const auto* text = std::get_if<std::string_view>(&value);
    if (!number && (!text || text->empty())) continue;
    if (json) {
      line += fmt::format(R"(,"{}":{})", name, number ? std::to_string(*number) : in_json(*text));
    } else {
      line += fmt::format(" {}={}", name, number ? std::to_string(*number) : "'" + in_line(*text) + "'");
    }
  }
  return line;
}

spdlog::logger& logger() {
  static auto instance = spdlog::stderr_color_mt("cuzk");
  return *instance;
}

}  // namespace

std::string_view level_name(Level level) {
  constexpr std::array<std::string_view, 5> kNames = {"trace", "debug", "info", "warn", "error"};
  return kNames[static_cast<size_t>(level)];
}

void configure(Level level, bool json, Fields everywhere) {
  as_json = json;
  logger().set_level(static_cast<spdlog::level::level_enum>(level));
  std::string constant;
  for (char c : text_of(everywhere, true)) constant += c == '%' ? "%%" : std::string(1, c);
  logger().set_pattern(json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","message":%v)" + constant + "}"
                            : "%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v",
                       spdlog::pattern_time_type::utc);
}

void write(Level level, std::string_view message, Fields fields) {
  const auto rank = static_cast<spdlog::level::level_enum>(level);
  if (!logger().should_log(rank)) return;
  {
    std::lock_guard lock(redirection_mutex);
    if (redirection && *redirection) (*redirection)(level, std::string(message) + text_of(fields, false));
    if (redirection) return;
  }
  const bool json = as_json;
  logger().log(rank, "{}{}", json ? in_json(message) : std::string(message), text_of(fields, json));
}

void redirect(Sink sink) {
  std::lock_guard lock(redirection_mutex);
  redirection = std::move(sink);
}

}  // namespace cuzk::log
