#pragma once
// What the HTTP pages show, as JSON. docs/operating.md describes every key.

#include <nlohmann/json_fwd.hpp>

#include "service/observer.h"

namespace cuzk::service {

// /status.
nlohmann::json status_report(const Reading& reading);
// /trace/ID: the stages of one job in the format of Chrome's trace viewer and of Perfetto.
nlohmann::json trace_report(const engine::Snapshot::Job& job, const std::vector<engine::Snapshot::Device>& devices);

}  // namespace cuzk::service
