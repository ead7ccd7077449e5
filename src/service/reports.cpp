#include "service/reports.h"

#include <nlohmann/json.hpp>
#include <set>

#include "service/wiring.h"

namespace cuzk::service {
namespace {

using engine::Clock;
using engine::Snapshot;
using engine::Span;
using engine::Stage;
using nlohmann::json;

double in_seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }
int64_t in_us(Clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

std::string_view state_name(engine::Scheduler::Step step) {
  using Step = engine::Scheduler::Step;
  switch (step) {
    case Step::kWaiting: return "pending";
    case Step::kSynthesising: return "synthesizing";
    case Step::kReady: return "synth_done";
    case Step::kStarting:
    case Step::kStarted:
    case Step::kFinishing: return "gpu";
    case Step::kDropping: return "failed";
    case Step::kDone: return "done";
  }
  return "pending";
}

// Time in these stages so far, all attempts; null before the first.
json time_in_ms(const Snapshot::Job& job, uint32_t partition, const std::set<Stage>& stages) {
  std::optional<Clock::duration> sum;
  for (const Span& span : job.spans) {
    if (span.partition == partition && stages.count(span.stage))
      sum = sum.value_or(Clock::duration{}) + span.length(job.seen);
  }
  if (!sum) return nullptr;
  return in_us(*sum) / 1000;
}

json pipeline(const Snapshot::Job& job) {
  json partitions = json::array();
  size_t done = 0;
  for (uint32_t i = 0; i < job.partitions.size(); i++) {
    done += job.partitions[i] == engine::Scheduler::Step::kDone;
    partitions.push_back({{"index", i},
                          {"state", state_name(job.partitions[i])},
                          {"synth_ms", time_in_ms(job, i, {Stage::kSynthesise})},
                          {"gpu_ms", time_in_ms(job, i, {Stage::kStart, Stage::kFinish})}});
  }
  constexpr std::array kStates = {"parsing", "waiting", "running", "completed", "failed", "cancelled"};
  return {{"job_id", job.id},
          {"proof_kind", job.kind},
          {"state", kStates[static_cast<size_t>(job.state)]},
          {"error", job.error ? json(fmt::format("{}: {}", code_name(job.error->code), job.error->message)) : json()},
          {"started_secs_ago", in_seconds(job.seen - job.submitted)},
          {"total_secs", job.ended ? json(in_seconds(*job.ended - job.submitted)) : json()},
          {"gpu_secs", in_seconds(job.cost.gpu)},
          {"cpu_secs", in_seconds(job.cost.cpu)},
          {"total_partitions", job.partitions.size()},
          {"partitions_done", done},
          {"partitions", std::move(partitions)}};
}

// One row a worker. Stages in progress are given to the workers of their device in order of their begin; there are more
// than workers while a PoSt has a lane of its own.
json gpu_workers(const Reading& reading) {
  json rows = json::array();
  for (size_t d = 0; d < reading.engine.devices.size(); d++) {
    const Snapshot::Device& device = reading.engine.devices[d];
    for (size_t i = 0; i < std::max(device.workers, device.running.size()); i++) {
      json row = {
          {"worker_id", rows.size()}, {"gpu_ordinal", reading.gpus[d] ? json(reading.gpus[d]->info.ordinal) : json()},
          {"device", device.name},    {"state", "idle"},
          {"current_job", nullptr},   {"current_partition", nullptr},
          {"busy_secs", nullptr}};
      if (i < device.running.size()) {
        row["state"] = "proving";
        row["current_job"] = device.running[i].id;
        row["current_partition"] = device.running[i].partition;
        row["busy_secs"] = in_seconds(reading.engine.time - device.running[i].since);
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

json allocations(const Snapshot& snapshot) {
  json srs = json::array(), pce = json::array();
  const auto row = [](const auto& each) {
    return json{{"circuit_id", each.circuit_id},
                {"bytes", each.bytes},
                {"last_used_secs_ago", in_seconds(each.idle)},
                {"evictable", each.users == 0}};
  };
  for (const auto& each : snapshot.params) {
    if (each.tier == engine::Tier::kCold) continue;
    srs.push_back(row(each));
    srs.back()["device"] = snapshot.devices[each.device].name;
  }
  for (const auto& each : snapshot.circuits) pce.push_back(row(each));
  return {{"srs", std::move(srs)}, {"pce", std::move(pce)}};
}

json counters(const Snapshot& snapshot) {
  json completed = json::object(), failed = json::object(), places = json::object();
  for (size_t level = 0; level < engine::kPriorities; level++)
    places[std::string(engine::kPriorityNames[level])] = snapshot.free_places[level];
  uint64_t waiting = 0;
  for (ProofKind kind : kKinds) {
    const std::string name(kind_name(kind));
    auto count = snapshot.kinds.find(name);
    const bool known = count != snapshot.kinds.end();
    completed[name] = known ? count->second.totals.completed : 0;
    failed[name] = known ? count->second.totals.failures() : 0;
    waiting += known ? count->second.waiting : 0;
  }
  return {{"total_completed", snapshot.completed},
          {"total_failed", snapshot.failed},
          {"completed_by_kind", std::move(completed)},
          {"failed_by_kind", std::move(failed)},
          {"queue_depth", waiting},
          {"queue_places", std::move(places)}};
}

uint64_t alive(const Snapshot& snapshot, engine::Class which) {
  return snapshot.ledger[static_cast<size_t>(which)].objects;
}

}  // namespace

json status_report(const Reading& reading) {
  const Snapshot& snapshot = reading.engine;
  const auto& host = snapshot.memory[0];
  json pipelines = json::array();
  for (const auto* jobs : {&snapshot.jobs, &snapshot.ended}) {
    for (const Snapshot::Job& job : *jobs) pipelines.push_back(pipeline(job));
  }
  return {{"uptime_secs", reading.uptime_seconds},
          {"memory",
           {{"total_bytes", host.limit_bytes},
            {"used_bytes", host.reserved_bytes},
            {"available_bytes", host.limit_bytes - host.reserved_bytes},
            {"resident_bytes", reading.process.resident_bytes},
            {"peak_resident_bytes", reading.process.peak_resident_bytes}}},
          {"synthesis", {{"max_concurrent", snapshot.partition_workers}, {"active", snapshot.synthesising}}},
          {"pipelines", std::move(pipelines)},
          {"pipelines_total", snapshot.jobs_in_all},
          {"gpu_workers", gpu_workers(reading)},
          {"allocations", allocations(snapshot)},
          {"counters", counters(snapshot)},
          {"buffers",
           {{"synth_in_flight", snapshot.synthesising},
            {"provers_in_flight", alive(snapshot, engine::Class::kEvaluations)},
            {"aux_in_flight", alive(snapshot, engine::Class::kWitness)},
            {"shells_in_flight", alive(snapshot, engine::Class::kPending)},
            {"pending_handles", alive(snapshot, engine::Class::kPending)}}}};
}

json trace_report(const Snapshot::Job& job, const std::vector<Snapshot::Device>& devices) {
  json events = json::array();
  // The job on the first row, partition i on row i + 1.
  const auto name_row = [&](uint32_t row, const std::string& name) {
    events.push_back({{"ph", "M"}, {"pid", 1}, {"tid", row}, {"name", "thread_name"}, {"args", {{"name", name}}}});
  };
  name_row(0, "job");
  for (uint32_t i = 0; i < job.partitions.size(); i++) name_row(i + 1, fmt::format("partition {}", i));
  for (const Span& span : job.spans) {
    json arguments = {{"good", span.good}, {"running", !span.end}};
    if (span.partition != engine::kWholeJob) arguments["attempt"] = span.attempt;
    if (span.device != engine::kNoDevice) arguments["device"] = devices[span.device].name;
    events.push_back({{"ph", "X"},
                      {"pid", 1},
                      {"tid", span.partition == engine::kWholeJob ? 0 : span.partition + 1},
                      {"cat", job.kind},
                      {"name", engine::kStageNames[static_cast<size_t>(span.stage)]},
                      {"ts", in_us(span.begin - job.submitted)},
                      {"dur", in_us(span.length(job.seen))},
                      {"args", std::move(arguments)}});
  }
  return {{"displayTimeUnit", "ms"}, {"otherData", {{"job_id", job.id}}}, {"traceEvents", std::move(events)}};
}

}  // namespace cuzk::service
