#pragma once
// Durations in a configuration.

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cuzk::service {

// "500ms", "30s", "5m", "1h"; a bare number is seconds. At most 10 years. kUsage otherwise.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

// The shortest exact form: 90000 ms -> "90s".
std::string format_duration(std::chrono::milliseconds duration);

}  // namespace cuzk::service
