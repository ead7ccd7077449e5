#include "cli/context.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "mem/machine.h"

namespace cuzk::cli {

void Progress::begin(std::string what) {
  std::lock_guard lock(mutex_);
  what_ = std::move(what);
  draw("");
}

void Progress::update(uint64_t done, uint64_t total) {
  std::lock_guard lock(mutex_);
  if (!on_ || total == 0 || std::chrono::steady_clock::now() - drawn_ < std::chrono::milliseconds(100)) return;
  draw(fmt::format(" {} %", static_cast<uint64_t>(100.0 * static_cast<double>(done) / static_cast<double>(total))));
}

void Progress::end() {
  if (on_) fmt::print(stderr, "\r\033[K");
}

void Progress::draw(const std::string& tail) {
  if (!on_) return;
  fmt::print(stderr, "\r\033[K{} ...{}", what_, tail);
  std::fflush(stderr);
  drawn_ = std::chrono::steady_clock::now();
}

Context::Context(size_t threads, bool as_json, const Remote& calls)
    : pool(threads), progress(isatty(STDERR_FILENO) == 1), json(as_json), remote(calls) {}

namespace {

void print_lines(const Report& report, const std::string& prefix) {
  for (const auto& [key, value] : report.items()) {
    if (value.is_object()) {
      print_lines(value, prefix + key + ".");
    } else {
      fmt::print("{:<24} {}\n", prefix + key, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
}

}  // namespace

void Context::print(const Report& report) const {
  if (json) {
    fmt::print("{}\n", report.dump(1, ' ', false, Report::error_handler_t::replace));
  } else {
    print_lines(report, "");
  }
}

double rounded(double seconds) { return std::round(seconds * 1e6) / 1e6; }

uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

Result<mem::Reservation> reserve(uint64_t bytes) {
  CUZK_TRY_ASSIGN(const mem::MemoryLimits limits, mem::memory_limits());
  return mem::Budget({{limits.available.source, limits.available.bytes}}).try_reserve({0, bytes});
}

Result<Fr> field_from_text(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  if (Result<Fr> value = fr_from_hex(digits)) return value;
  return fail(Code::kUsage, "'{}' is not the big-endian hex of a number below r", text);
}

}  // namespace cuzk::cli
