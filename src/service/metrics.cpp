#include "service/metrics.h"

#include <fmt/format.h>

#include <initializer_list>

#include "service/wiring.h"

namespace cuzk::service {
namespace {

using engine::Histogram;
using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

double in_seconds(engine::Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

// Samples of one metric.
class Samples {
 public:
  Samples(std::string& text, std::string_view name) : text_(text), name_(name) {}

  template <class Number>
  void add(Labels labels, Number value) {
    line("", labels, {}, value);
  }
  void add_summary(Labels labels, const Histogram& histogram) {
    line("_sum", labels, {}, histogram.sum);
    line("_count", labels, {}, count(histogram));
  }
  void add_histogram(Labels labels, const Histogram& histogram) {
    uint64_t below = 0;
    for (size_t i = 0; i < Histogram::kBounds.size(); i++) {
      below += histogram.counts[i];
      line("_bucket", labels, fmt::format("{}", Histogram::kBounds[i]), below);
    }
    line("_bucket", labels, "+Inf", count(histogram));
    add_summary(labels, histogram);
  }
  static uint64_t count(const Histogram& histogram) {
    uint64_t sum = 0;
    for (uint64_t each : histogram.counts) sum += each;
    return sum;
  }

 private:
  template <class Number>
  void line(std::string_view suffix, Labels labels, std::string_view bound, Number value) {
    text_ += name_;
    text_ += suffix;
    char separator = '{';
    const auto label = [&](std::string_view name, std::string_view content) {
      text_ += separator;
      text_ += name;
      text_ += "=\"";
      for (char c : content) {
        if (c == '\n') {
          text_ += "\\n";
          continue;
        }
        if (c == '\\' || c == '"') text_ += '\\';
        text_ += c;
      }
      text_ += '"';
      separator = ',';
    };
    for (const auto& [name, content] : labels) label(name, content);
    if (!bound.empty()) label("le", bound);
    if (separator == ',') text_ += '}';
    text_ += fmt::format(" {}\n", value);
  }

  std::string& text_;
  std::string_view name_;
};

struct Metric {
  MetricName name;
  void (*collect)(const Reading&, Samples&);
};

// All kinds, asked for or not, so that a rate is known from the first proof on.
template <class Body>
void for_kinds(const Reading& reading, Body&& body) {
  for (ProofKind kind : kKinds) {
    const std::string name(kind_name(kind));
    auto known = reading.engine.kinds.find(name);
    std::string label = name;
    std::replace(label.begin(), label.end(), '-', '_');
    body(label, known == reading.engine.kinds.end() ? engine::KindCount{} : known->second);
  }
}

template <class Body>
void for_devices(const Reading& reading, Body&& body) {
  for (size_t d = 0; d < reading.engine.devices.size(); d++) body(reading.engine.devices[d], reading.gpus[d]);
}

template <class Body>
void for_params(const Reading& reading, Body&& body) {
  constexpr std::array kTiers = {"hot", "warm", "cold"};
  for (const auto& params : reading.engine.params)
    body(params, std::string_view(reading.engine.devices[params.device].name),
         kTiers[static_cast<size_t>(params.tier)]);
}

uint64_t queue_depth(const Reading& reading) {
  uint64_t depth = 0;
  for (const auto& [kind, count] : reading.engine.kinds) depth += count.waiting;
  return depth;
}

// Those before `cuzk_build_info` have the names and types that the engine before this one gave them.
constexpr Metric kMetrics[] = {
    {{"cuzk_proofs_completed_total", "counter", "", "Jobs that ended with a proof."},
     [](const Reading& r, Samples& out) { out.add({}, r.engine.completed); }},
    {{"cuzk_proofs_failed_total", "counter", "", "Jobs that failed."},
     [](const Reading& r, Samples& out) { out.add({}, r.engine.failed); }},
    {{"cuzk_uptime_seconds", "gauge", "", "Time since the service started."},
     [](const Reading& r, Samples& out) { out.add({}, r.uptime_seconds); }},
    {{"cuzk_queue_depth", "gauge", "", "Jobs that wait."},
     [](const Reading& r, Samples& out) { out.add({}, queue_depth(r)); }},
    {{"cuzk_proofs_completed", "counter", "proof_kind", "Jobs that ended with a proof, by kind."},
     [](const Reading& r, Samples& out) {
       for_kinds(r, [&](const auto& kind, const auto& count) {
         out.add({{"proof_kind", kind}}, count.totals.completed);
       });
     }},
    {{"cuzk_proofs_failed", "counter", "proof_kind", "Jobs that failed, by kind."},
     [](const Reading& r, Samples& out) {
       for_kinds(r, [&](const auto& kind, const auto& count) {
         out.add({{"proof_kind", kind}}, count.totals.failures());
       });
     }},
    {{"cuzk_proof_duration_seconds", "summary", "proof_kind", "Time from submission to proof."},
     [](const Reading& r, Samples& out) {
       for_kinds(r, [&](const auto& kind, const auto& count) {
         out.add_summary({{"proof_kind", kind}}, count.totals.duration);
       });
     }},
    {{"cuzk_running_jobs", "gauge", "", "Jobs of which a partition has begun."},
     [](const Reading& r, Samples& out) {
       uint64_t running = 0;
       for (const auto& [kind, count] : r.engine.kinds) running += count.running;
       out.add({}, running);
     }},
    {{"cuzk_gpu_workers", "gauge", "", "Workers of all devices; the processor, where it proves, is one."},
     [](const Reading& r, Samples& out) {
       uint64_t workers = 0;
       for (const auto& device : r.engine.devices) workers += device.workers;
       out.add({}, workers);
     }},

    {{"cuzk_build_info", "gauge", "version", "Always 1."},
     [](const Reading&, Samples& out) {
       out.add({{"version", CUZK_VERSION}}, 1);
     }},
    {{"cuzk_draining", "gauge", "", "1 while the service shuts down and takes no jobs."},
     [](const Reading& r, Samples& out) { out.add({}, int{r.engine.draining}); }},
    {{"cuzk_jobs_waiting", "gauge", "proof_kind", "Jobs that wait, by kind."},
     [](const Reading& r, Samples& out) {
       for_kinds(r, [&](const auto& kind, const auto& count) { out.add({{"proof_kind", kind}}, count.waiting); });
     }},
    {{"cuzk_jobs_running", "gauge", "proof_kind", "Jobs of which a partition has begun, by kind."},
     [](const Reading& r, Samples& out) {
       for_kinds(r, [&](const auto& kind, const auto& count) { out.add({{"proof_kind", kind}}, count.running); });
     }},
    {{"cuzk_queue_age_seconds", "gauge", "proof_kind", "Age of the oldest job that waits; 0 where none does."},
     [](const Reading& r, Samples& out) {
       for_kinds(r, [&](const auto& kind, const auto& count) {
         out.add({{"proof_kind", kind}}, in_seconds(count.oldest_waiting));
       });
     }},
    {{"cuzk_job_duration_seconds", "histogram", "proof_kind", "Time from submission to proof."},
     [](const Reading& r, Samples& out) {
       for_kinds(r, [&](const auto& kind, const auto& count) {
         out.add_histogram({{"proof_kind", kind}}, count.totals.duration);
       });
     }},
    {{"cuzk_stage_duration_seconds", "histogram", "proof_kind, stage",
      "Time in a stage: parse and wait once a job, the others once a partition and attempt."},
     [](const Reading& r, Samples& out) {
       for_kinds(r, [&](const auto& kind, const auto& count) {
         for (size_t stage = 0; stage < engine::kStages; stage++) {
           const Histogram& histogram = count.totals.stages[stage];
           if (Samples::count(histogram) > 0)
             out.add_histogram({{"proof_kind", kind}, {"stage", engine::kStageNames[stage]}}, histogram);
         }
       });
     }},
    {{"cuzk_stage_timeouts_total", "counter", "stage", "Stages that took too long and were given up."},
     [](const Reading& r, Samples& out) {
       for (size_t stage = 0; stage < engine::kStages; stage++)
         out.add({{"stage", engine::kStageNames[stage]}}, r.engine.overdue[stage]);
     }},
    {{"cuzk_stale_reports_total", "counter", "",
      "Stages that ended after they were given up; their results are not used."},
     [](const Reading& r, Samples& out) { out.add({}, r.engine.stale_reports); }},
    {{"cuzk_job_failures_total", "counter", "proof_kind, code", "Jobs that failed, by code of the error."},
     [](const Reading& r, Samples& out) {
       for_kinds(r, [&](const auto& kind, const auto& count) {
         for (const auto& [code, failures] : count.totals.failed)
           out.add({{"proof_kind", kind}, {"code", code_name(code)}}, failures);
       });
     }},
    {{"cuzk_jobs_cancelled_total", "counter", "proof_kind", "Jobs that were cancelled, superseded or given up."},
     [](const Reading& r, Samples& out) {
       for_kinds(r, [&](const auto& kind, const auto& count) {
         out.add({{"proof_kind", kind}}, count.totals.cancelled);
       });
     }},
    {{"cuzk_queue_places", "gauge", "priority", "Jobs of a class that the queue would still take."},
     [](const Reading& r, Samples& out) {
       for (size_t level = 0; level < engine::kPriorities; level++)
         out.add({{"priority", engine::kPriorityNames[level]}}, r.engine.free_places[level]);
     }},
    {{"cuzk_requests_refused_total", "counter", "code", "Requests that did not become jobs, by code of the error."},
     [](const Reading& r, Samples& out) {
       for (const auto& [code, count] : r.engine.refused) out.add({{"code", code_name(code)}}, count);
     }},

    {{"cuzk_memory_limit_bytes", "gauge", "pool", "What may be reserved: host, requests, each device."},
     [](const Reading& r, Samples& out) {
       for (const auto& pool : r.engine.memory) out.add({{"pool", pool.name}}, pool.limit_bytes);
     }},
    {{"cuzk_memory_reserved_bytes", "gauge", "pool", "What is reserved now."},
     [](const Reading& r, Samples& out) {
       for (const auto& pool : r.engine.memory) out.add({{"pool", pool.name}}, pool.reserved_bytes);
     }},
    {{"cuzk_memory_reserved_peak_bytes", "gauge", "pool", "The most that was ever reserved."},
     [](const Reading& r, Samples& out) {
       for (const auto& pool : r.engine.memory) out.add({{"pool", pool.name}}, pool.high_water_bytes);
     }},
    {{"cuzk_ledger_bytes", "gauge", "class", "Bytes alive, by what they are."},
     [](const Reading& r, Samples& out) {
       for (const auto& line : r.engine.ledger) out.add({{"class", line.name}}, line.bytes);
     }},
    {{"cuzk_ledger_objects", "gauge", "class", "Objects alive, by what they are."},
     [](const Reading& r, Samples& out) {
       for (const auto& line : r.engine.ledger) out.add({{"class", line.name}}, line.objects);
     }},
    {{"cuzk_ledger_peak_bytes", "gauge", "class", "The most bytes that were ever alive."},
     [](const Reading& r, Samples& out) {
       for (const auto& line : r.engine.ledger) out.add({{"class", line.name}}, line.high_water_bytes);
     }},
    {{"cuzk_pinned_memory_bytes", "gauge", "", "Page-locked host memory."},
     [](const Reading& r, Samples& out) { out.add({}, r.pinned_bytes); }},
    {{"cuzk_process_resident_bytes", "gauge", "", "Memory of the process, as the system counts it."},
     [](const Reading& r, Samples& out) { out.add({}, r.process.resident_bytes); }},
    {{"cuzk_process_resident_peak_bytes", "gauge", "", "The most that it ever was."},
     [](const Reading& r, Samples& out) { out.add({}, r.process.peak_resident_bytes); }},

    {{"cuzk_journal_bytes", "gauge", "", "About what the journal holds; absent, as those below, where there is none."},
     [](const Reading& r, Samples& out) {
       if (r.journal) out.add({}, r.journal->bytes);
     }},
    {{"cuzk_journal_jobs", "gauge", "", "Jobs in the journal that have not ended."},
     [](const Reading& r, Samples& out) {
       if (r.journal) out.add({}, r.journal->jobs);
     }},
    {{"cuzk_journal_results", "gauge", "", "Results in the journal."},
     [](const Reading& r, Samples& out) {
       if (r.journal) out.add({}, r.journal->results);
     }},
    {{"cuzk_journal_lost_total", "counter", "",
      "Events that could not be written, so that a restart would not know of them."},
     [](const Reading& r, Samples& out) {
       if (r.journal) out.add({}, r.journal->lost);
     }},

    {{"cuzk_srs_bytes", "gauge", "circuit_id, device, tier", "Parameters that were loaded; cold: evicted since."},
     [](const Reading& r, Samples& out) {
       for_params(r, [&](const auto& params, auto device, auto tier) {
         out.add({{"circuit_id", params.circuit_id}, {"device", device}, {"tier", tier}}, params.bytes);
       });
     }},
    {{"cuzk_srs_users", "gauge", "circuit_id, device", "Partitions under way that hold them."},
     [](const Reading& r, Samples& out) {
       for_params(r, [&](const auto& params, auto device, auto) {
         out.add({{"circuit_id", params.circuit_id}, {"device", device}}, params.users);
       });
     }},
    {{"cuzk_srs_load_seconds", "gauge", "circuit_id, device", "How long their last load took."},
     [](const Reading& r, Samples& out) {
       for_params(r, [&](const auto& params, auto device, auto) {
         out.add({{"circuit_id", params.circuit_id}, {"device", device}}, in_seconds(params.load_time));
       });
     }},
    {{"cuzk_srs_doubted_total", "counter", "circuit_id, device",
      "Times that they were dropped, to be loaded and checked again, because a proof made with them was wrong."},
     [](const Reading& r, Samples& out) {
       for_params(r, [&](const auto& params, auto device, auto) {
         out.add({{"circuit_id", params.circuit_id}, {"device", device}}, params.doubts);
       });
     }},

    {{"cuzk_device_running", "gauge", "device", "Device stages in progress."},
     [](const Reading& r, Samples& out) {
       for_devices(r, [&](const auto& device, const auto&) {
         out.add({{"device", device.name}}, device.running.size());
       });
     }},
    {{"cuzk_device_quarantined", "gauge", "device", "1 while a device gets no work because it failed."},
     [](const Reading& r, Samples& out) {
       for_devices(r, [&](const auto& device, const auto&) {
         out.add({{"device", device.name}}, int{device.health.quarantined_until.has_value()});
       });
     }},
    {{"cuzk_device_failures_total", "counter", "device, code",
      "Stages that failed on or for a device, by code of the error; verify_failed: a wrong proof that was caught."},
     [](const Reading& r, Samples& out) {
       for_devices(r, [&](const auto& device, const auto&) {
         for (const auto& [code, count] : device.failures)
           out.add({{"device", device.name}, {"code", code_name(code)}}, count);
       });
     }},
    {{"cuzk_gpu_memory_total_bytes", "gauge", "device", "Memory of a CUDA device."},
     [](const Reading& r, Samples& out) {
       for_devices(r, [&](const auto& device, const auto& gpu) {
         if (gpu) out.add({{"device", device.name}}, gpu->info.memory_bytes);
       });
     }},
    {{"cuzk_gpu_memory_free_bytes", "gauge", "device", "What nobody holds of it, other processes included."},
     [](const Reading& r, Samples& out) {
       for_devices(r, [&](const auto& device, const auto& gpu) {
         if (gpu) out.add({{"device", device.name}}, gpu->free_bytes);
       });
     }},
};

}  // namespace

std::string metrics_text(const Reading& reading) {
  std::string text;
  for (const auto& [name, collect] : kMetrics) {
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name.name, name.help, name.type);
    Samples samples(text, name.name);
    collect(reading, samples);
  }
  return text;
}

std::vector<MetricName> metric_names() {
  std::vector<MetricName> names;
  for (const Metric& metric : kMetrics) names.push_back(metric.name);
  return names;
}

}  // namespace cuzk::service
