#pragma once
// Logging facade. Libraries below `engine` do not log; they return errors.

#include <fmt/format.h>

#include <functional>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <variant>

namespace cuzk::log {

enum class Level { kTrace, kDebug, kInfo, kWarn, kError };
std::string_view level_name(Level level);  // "trace", "debug", "info", "warn", "error"

// What a line is about, for who filters: keys of the JSON object, or NAME=VALUE after the text. Names are plain words;
// values may come from outside. What has no value, or an empty one, is left out.
using Value = std::variant<std::monostate, uint64_t, std::string_view>;
using Fields = std::initializer_list<std::pair<std::string_view, Value>>;

// Lines go to stderr, as text or as one JSON object a line; `everywhere` is in each object. May be called again at any
// time.
void configure(Level level, bool json, Fields everywhere = {});
void write(Level level, std::string_view message, Fields fields = {});

// From now on lines go there as text without time and level, from any thread, one at a time; an empty sink drops them.
// It must not log.
using Sink = std::function<void(Level level, std::string_view line)>;
void redirect(Sink sink);

template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kDebug, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kInfo, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kWarn, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kError, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void info(Fields fields, fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kInfo, fmt::format(format, std::forward<Args>(args)...), fields);
}
template <class... Args>
void warn(Fields fields, fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kWarn, fmt::format(format, std::forward<Args>(args)...), fields);
}

}  // namespace cuzk::log
