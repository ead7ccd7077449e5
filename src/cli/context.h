#pragma once
// What every subcommand works with: threads, output, progress, the clock.

#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "base/files.h"
#include "cli/cli.h"
#include "exec/pool.h"
#include "field/text.h"
#include "mem/budget.h"

namespace cuzk::cli {

// Fields in the order they were added.
using Report = nlohmann::ordered_json;

// One line on stderr that tells what is being done, on a terminal only.
class Progress {
 public:
  explicit Progress(bool on) : on_(on) {}
  ~Progress() { end(); }

  void begin(std::string what);
  // Callable from any thread; redraws at most ten times a second.
  void update(uint64_t done, uint64_t total);
  void end();

 private:
  void draw(const std::string& tail);

  const bool on_;
  std::mutex mutex_;
  std::string what_;
  std::chrono::steady_clock::time_point drawn_;
};

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

struct Context {
  exec::Pool pool;
  Progress progress;
  bool json;
  const Remote& remote;

  Context(size_t threads, bool as_json, const Remote& calls);

  // Prints the report on stdout: a JSON object, or a line a field.
  void print(const Report& report) const;
};

// Seconds, to the microsecond.
double rounded(double seconds);
uint64_t peak_rss_bytes();
// Of what this machine has left now; kTooLarge where that is less.
Result<mem::Reservation> reserve(uint64_t bytes);

// fr_from_hex of an argument, which may start with 0x; kUsage where it is no number below r.
Result<Fr> field_from_text(std::string_view text);

}  // namespace cuzk::cli
