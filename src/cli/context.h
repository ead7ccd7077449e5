#pragma once
// What every subcommand works with: threads, output, progress, the clock.

#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "base/bytes.h"
#include "cli/cli.h"
#include "exec/pool.h"
#include "field/fields.h"

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

Result<Bytes> read_file(const std::string& path);
// Written beside it and renamed, so that a reader sees all or nothing.
Status write_file(const std::string& path, ByteSpan bytes);

// Big-endian hex without leading zeros, and back; kUsage where it is no number below r.
std::string to_text(const Fr& value);
Result<Fr> field_from_text(const std::string& text);

}  // namespace cuzk::cli
