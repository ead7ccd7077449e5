#pragma once
// Many independent checks at once, of which the first failure counts.

#include <atomic>
#include <functional>
#include <mutex>

#include "base/result.h"
#include "exec/pool.h"

namespace cuzk::filecoin {

// check(i) for i in [0, count), spread over the pool: the failure of the lowest i, whichever is found first.
inline Status first_failure(exec::Pool& pool, size_t count, const std::function<Status(size_t)>& check) {
  std::atomic<size_t> lowest = count;
  std::mutex mutex;
  Status result;
  pool.for_each(count, [&](size_t i) {
    if (i > lowest.load()) return;
    Status status = check(i);
    if (status) return;
    std::lock_guard lock(mutex);
    if (i > lowest) return;
    lowest = i;
    result = std::move(status);
  });
  return result;
}

}  // namespace cuzk::filecoin
