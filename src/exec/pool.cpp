#include "exec/pool.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "exec/meter.h"

namespace cuzk::exec {
namespace {

size_t usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return static_cast<size_t>(std::max(1, CPU_COUNT(&set)));
  return std::max(1u, std::thread::hardware_concurrency());
}

thread_local unsigned level_of_thread = 0;
thread_local Meter* meter_of_thread = nullptr;

int64_t thread_time_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec;
}

// One call of for_each_chunk. Threads take pieces by counter; the last to leave wakes the caller.
struct Loop {
  size_t count, grain;
  const std::function<void(size_t, size_t)>* body;
  unsigned level = level_of_thread;
  Meter* meter = meter_of_thread;
  std::atomic<size_t> next{0};
  size_t helpers = 0;  // threads inside it, guarded by the pool's mutex
  std::once_flag failed;
  std::exception_ptr failure;  // the first one

  bool exhausted() const { return next.load(std::memory_order_relaxed) >= count; }
  bool piece() {
    const size_t begin = next.fetch_add(grain);
    if (begin >= count) return false;
    try {
      (*body)(begin, std::min(count, begin + grain));
    } catch (...) {
      next = count;
      std::call_once(failed, [&] { failure = std::current_exception(); });
    }
    return true;
  }
};

}  // namespace

Meter::Meter() : begin_ns_(thread_time_ns()), before_(std::exchange(meter_of_thread, this)) {}
Meter::~Meter() {
  meter_of_thread = before_;
  if (before_) before_->elsewhere_ns_ += elsewhere_ns_;
}
std::chrono::nanoseconds Meter::spent() const {
  return std::chrono::nanoseconds(thread_time_ns() - begin_ns_ + elsewhere_ns_);
}

// What a thread does while this lives counts for the meter of another; there may be none.
class Metered {
 public:
  explicit Metered(Meter* meter) : meter_(meter), begin_ns_(meter ? thread_time_ns() : 0) { meter_of_thread = meter; }
  ~Metered() {
    if (meter_) meter_->elsewhere_ns_ += thread_time_ns() - begin_ns_;
    meter_of_thread = nullptr;
  }
  Metered(const Metered&) = delete;
  Metered& operator=(const Metered&) = delete;

 private:
  Meter* const meter_;
  const int64_t begin_ns_;
};

struct Pool::State {
  std::mutex mutex;
  std::condition_variable work_ready, loop_done, less_urgent;
  std::deque<Loop*> loops;
  bool stopping = false;
  std::array<size_t, kMostUrgent + 1> urgencies{};  // that live, by level
  std::atomic<unsigned> least{0};                   // level that may run now
  std::vector<std::jthread> threads;

  void count(unsigned level, int change) {
    std::lock_guard lock(mutex);
    urgencies[level] += static_cast<size_t>(change);
    unsigned highest = kMostUrgent;
    while (highest > 0 && urgencies[highest] == 0) highest--;
    least = highest;
    less_urgent.notify_all();
    work_ready.notify_all();
  }
  bool may_run(unsigned level) const { return level >= least.load(std::memory_order_relaxed); }
  // The caller's part of a loop.
  void work(Loop& loop) {
    do {
      if (may_run(loop.level)) continue;
      std::unique_lock lock(mutex);
      less_urgent.wait(lock, [&] { return may_run(loop.level); });
    } while (loop.piece());
  }
  Loop* most_urgent() const {
    Loop* best = nullptr;
    for (Loop* loop : loops) {
      if (may_run(loop->level) && !loop->exhausted() && (!best || loop->level > best->level)) best = loop;
    }
    return best;
  }
  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      Loop* loop = nullptr;
      work_ready.wait(lock, [&] { return stopping || (loop = most_urgent()); });
      if (stopping) return;
      loop->helpers++;
      lock.unlock();
      level_of_thread = loop->level;
      {
        const Metered metered(loop->meter);
        while (may_run(loop->level) && loop->piece()) {
        }
      }
      lock.lock();
      if (--loop->helpers == 0) loop_done.notify_all();
    }
  }
};

Pool::Urgency::Urgency(Pool& pool, unsigned level) : pool_(pool), level_(level), before_(level_of_thread) {
  level_of_thread = level_;
  pool_.state_->count(level_, 1);
}
Pool::Urgency::~Urgency() {
  pool_.state_->count(level_, -1);
  level_of_thread = before_;
}

Pool::Pool(size_t threads) : state_(std::make_unique<State>()) {
  if (threads == 0) threads = usable_cores();
  for (size_t i = 1; i < threads; i++) state_->threads.emplace_back([state = state_.get()] { state->run(); });
}

Pool::~Pool() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->work_ready.notify_all();
}

size_t Pool::threads() const { return state_->threads.size() + 1; }

void Pool::for_each_chunk(size_t count, size_t grain, const std::function<void(size_t, size_t)>& body) {
  grain = std::max<size_t>(1, grain);
  Loop loop{count, grain, &body};
  if (count <= grain || state_->threads.empty()) {
    state_->work(loop);
  } else {
    std::unique_lock lock(state_->mutex);
    state_->loops.push_back(&loop);
    lock.unlock();
    state_->work_ready.notify_all();
    state_->work(loop);
    lock.lock();
    std::erase(state_->loops, &loop);
    state_->loop_done.wait(lock, [&] { return loop.helpers == 0; });
  }
  if (loop.failure) std::rethrow_exception(loop.failure);
}

void Pool::for_each(size_t count, const std::function<void(size_t)>& body) {
  for_each_chunk(count, 1, [&](size_t begin, size_t) { body(begin); });
}

}  // namespace cuzk::exec
