#pragma once
// Expensive values by name, each made once however many ask at the same time. A failure is told to all who wait for it
// and then forgotten, so the next one to ask tries again.

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"

namespace cuzk::engine {

template <class T>
class SingleFlight {
 public:
  using Value = std::shared_ptr<const T>;

  // The value of `key`, from `make` where there is none yet.
  Result<Value> get(const std::string& key, const std::function<Result<Value>()>& make) {
    std::unique_lock lock(mutex_);
    if (auto found = ready_.find(key); found != ready_.end()) return found->second;
    if (auto found = flights_.find(key); found != flights_.end()) {
      std::shared_future<Result<Value>> flight = found->second;
      lock.unlock();
      return flight.get();
    }
    std::promise<Result<Value>> promise;
    flights_.emplace(key, promise.get_future().share());
    lock.unlock();
    Result<Value> made = make();
    lock.lock();
    if (made) ready_.emplace(key, *made);
    flights_.erase(key);
    lock.unlock();
    promise.set_value(made);
    return made;
  }

  struct Entry {
    std::string key;
    Value value;
    size_t users;  // holders outside this store
  };
  // The values that are ready.
  std::vector<Entry> entries() const {
    std::lock_guard lock(mutex_);
    std::vector<Entry> list;
    for (const auto& [key, value] : ready_) {
      size_t users = static_cast<size_t>(value.use_count()) - 1;
      list.push_back({key, value, users});
    }
    return list;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Value> ready_;
  std::map<std::string, std::shared_future<Result<Value>>> flights_;
};

}  // namespace cuzk::engine
