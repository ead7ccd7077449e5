#include "service/units.h"

#include <charconv>

namespace cuzk::service {

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  constexpr uint64_t kLimit = uint64_t{10} * 365 * 24 * 3600 * 1000;
  uint64_t count = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  uint64_t factor = unit == "ms"                  ? 1
                    : unit == "s" || unit.empty() ? 1000
                    : unit == "m"                 ? 60'000
                    : unit == "h"                 ? 3'600'000
                                                  : 0;
  if (error != std::errc{} || factor == 0 || count > kLimit / factor) {
    return fail(Code::kUsage, "'{}' is not a duration such as \"500ms\", \"30s\", \"5m\" or \"1h\"", text);
  }
  return std::chrono::milliseconds(count * factor);
}

std::string format_duration(std::chrono::milliseconds duration) {
  constexpr std::pair<int64_t, std::string_view> kUnits[] = {{3'600'000, "h"}, {60'000, "m"}, {1000, "s"}};
  for (const auto& [factor, unit] : kUnits) {
    if (duration.count() % factor == 0) return fmt::format("{}{}", duration.count() / factor, unit);
  }
  return fmt::format("{}ms", duration.count());
}

}  // namespace cuzk::service
