#include "service/observer.h"

#include <algorithm>

#include "gpu/memory.h"

namespace cuzk::service {

Reading Observer::read(engine::Page jobs) const {
  Reading reading{.engine = engine_.snapshot(jobs)};
  for (const engine::Snapshot::Device& device : reading.engine.devices) {
    auto info = std::find_if(gpus_.begin(), gpus_.end(), [&](const auto& gpu) { return gpu.uuid == device.name; });
    std::optional<Reading::Gpu>& gpu = reading.gpus.emplace_back();
    if (info != gpus_.end()) gpu = {*info, free_bytes_(info->ordinal).value_or(0)};
  }
  reading.uptime_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  if (auto process = mem::process_memory()) reading.process = *process;
  if (journal_) reading.journal = journal_->condition();
  reading.pinned_bytes = gpu::pinned_bytes();
  // Pinned memory is covered by reservations of host memory, and there is none without a device.
  if (!gpus_.empty()) reading.pinned_limit_bytes = reading.engine.memory[0].limit_bytes;
  return reading;
}

Status Observer::ready() const {
  if (starting_) return fail(Code::kUnavailable, "loading what srs.preload names");
  const engine::Snapshot snapshot = engine_.snapshot(engine::kNoJobs);
  if (snapshot.draining) return fail(Code::kUnavailable, "shutting down");
  for (const auto& device : snapshot.devices) {
    if (!device.health.quarantined_until) return {};
  }
  return fail(Code::kUnavailable, "every device failed and rests for a while");
}

bool Observer::devices_are_lost(size_t quarantines) const {
  const auto devices = engine_.snapshot(engine::kNoJobs).devices;
  return quarantines > 0 && std::all_of(devices.begin(), devices.end(),
                                        [&](const auto& device) { return device.health.quarantines >= quarantines; });
}

}  // namespace cuzk::service
