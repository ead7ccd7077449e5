#pragma once
// The signals of the daemon, taken one at a time on the thread that runs it.

#include <chrono>
#include <optional>

namespace cuzk::service {

// Holds SIGTERM, SIGINT and SIGHUP back from this thread and all that are started later, and ignores SIGPIPE
// and SIGXFSZ: a write tells of it.
void hold_signals();
// The next one that was held back; nullopt after `timeout`, where there is one.
std::optional<int> next_signal(std::optional<std::chrono::milliseconds> timeout);
// SIGTERM and SIGINT end the process at once, and SIGHUP is ignored, until they are held back again.
void let_signals_through();

}  // namespace cuzk::service
