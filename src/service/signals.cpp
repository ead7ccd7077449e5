#include "service/signals.h"

#include <signal.h>

namespace cuzk::service {
namespace {

sigset_t held() {
  sigset_t set;
  sigemptyset(&set);
  for (int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
  return set;
}

}  // namespace

void hold_signals() {
  const sigset_t set = held();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGHUP, SIG_DFL);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

std::optional<int> next_signal(std::optional<std::chrono::milliseconds> timeout) {
  const sigset_t set = held();
  int number = 0;
  if (timeout) {
    const timespec wait{timeout->count() / 1000, timeout->count() % 1000 * 1'000'000};
    number = sigtimedwait(&set, nullptr, &wait);
  } else {
    number = sigwaitinfo(&set, nullptr);
  }
  return number > 0 ? std::optional(number) : std::nullopt;
}

void let_signals_through() {
  signal(SIGHUP, SIG_IGN);
  const sigset_t set = held();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace cuzk::service
