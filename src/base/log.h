#pragma once
// Logging facade. Libraries below `engine` do not log; they return errors.

#include <fmt/format.h>

#include <string_view>

namespace cuzk::log {

enum class Level { kTrace, kDebug, kInfo, kWarn, kError };

// Lines go to stderr, as text or as one JSON object a line.
void configure(Level level, bool json);
void write(Level level, std::string_view message);

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
void debug(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kDebug, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace cuzk::log
