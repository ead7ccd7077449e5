#include "exec/pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace cuzk::exec {
namespace {

size_t usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return static_cast<size_t>(std::max(1, CPU_COUNT(&set)));
  return std::max(1u, std::thread::hardware_concurrency());
}

// One call of for_each_chunk. Threads take pieces by counter; the last to leave wakes the caller.
struct Loop {
  size_t count, grain;
  const std::function<void(size_t, size_t)>* body;
  std::atomic<size_t> next{0};
  size_t helpers = 0;  // threads inside work(), guarded by the pool's mutex

  bool exhausted() const { return next.load(std::memory_order_relaxed) >= count; }
  void work() {
    for (size_t begin = next.fetch_add(grain); begin < count; begin = next.fetch_add(grain)) {
      (*body)(begin, std::min(count, begin + grain));
    }
  }
};

}  // namespace

struct Pool::State {
  std::mutex mutex;
  std::condition_variable work_ready, loop_done;
  std::deque<Loop*> loops;
  bool stopping = false;
  std::vector<std::jthread> threads;

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      work_ready.wait(lock, [&] { return stopping || !loops.empty(); });
      if (stopping) return;
      Loop* loop = loops.front();
      if (loop->exhausted()) {
        loops.pop_front();
        continue;
      }
      loop->helpers++;
      lock.unlock();
      loop->work();
      lock.lock();
      if (--loop->helpers == 0) loop_done.notify_all();
    }
  }
};

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
  if (count <= grain || state_->threads.empty()) {
    for (size_t begin = 0; begin < count; begin += grain) body(begin, std::min(count, begin + grain));
    return;
  }
  Loop loop{count, grain, &body};
  {
    std::lock_guard lock(state_->mutex);
    state_->loops.push_back(&loop);
  }
  state_->work_ready.notify_all();
  loop.work();
  std::unique_lock lock(state_->mutex);
  std::erase(state_->loops, &loop);
  state_->loop_done.wait(lock, [&] { return loop.helpers == 0; });
}

void Pool::for_each(size_t count, const std::function<void(size_t)>& body) {
  for_each_chunk(count, 1, [&](size_t begin, size_t) { body(begin); });
}

}  // namespace cuzk::exec
