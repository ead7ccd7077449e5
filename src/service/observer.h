#pragma once
// What the service says of itself. GetStatus, GetMetrics, /status and /metrics are forms of one reading.

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "engine/engine.h"
#include "gpu/device.h"
#include "mem/machine.h"
#include "service/journal.h"

namespace cuzk::service {

struct Reading {
  engine::Snapshot engine;
  struct Gpu {
    gpu::DeviceInfo info;
    uint64_t free_bytes = 0;  // by the driver, so what other processes hold is not free; 0 where it cannot tell
  };
  std::vector<std::optional<Gpu>> gpus;  // by the engine's number of the device; none for the processor
  double uptime_seconds = 0;
  mem::ProcessMemory process{};
  uint64_t pinned_bytes = 0, pinned_limit_bytes = 0;
  std::optional<Journal::Condition> journal;  // where there is one
};

class Observer {
 public:
  using FreeBytes = std::function<Result<uint64_t>(int ordinal)>;

  // `gpus` are those that the engine knows by their UUID; the journal may be none. Engine and
  // journal outlive the observer.
  explicit Observer(engine::Engine& engine, std::vector<gpu::DeviceInfo> gpus = {},
                    FreeBytes free_bytes = gpu::free_bytes, const Journal* journal = nullptr)
      : engine_(engine), gpus_(std::move(gpus)), free_bytes_(std::move(free_bytes)), journal_(journal) {}

  Reading read(engine::Page jobs = engine::kNoJobs) const;
  // Whether new jobs would be taken and have a device to run on; kUnavailable says why not.
  Status ready() const;
  // While the service starts, it is not ready.
  void set_starting(bool starting) { starting_ = starting; }
  // Whether every device failed again after each of so many quarantines in a row; never where that is 0.
  bool devices_are_lost(size_t quarantines) const;
  // One job, as long as the engine knows it; kNotFound.
  Result<engine::Snapshot::Job> job(const std::string& id) const { return engine_.view(id); }

 private:
  engine::Engine& engine_;
  const std::vector<gpu::DeviceInfo> gpus_;
  const FreeBytes free_bytes_;
  const Journal* const journal_;
  std::atomic<bool> starting_ = false;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace cuzk::service
