#include "cli/commands.h"
#include "engine/simulator.h"

namespace cuzk::cli {
namespace {

using engine::Footprint;
using engine::Profile;

// Reads a JSON object whose keys are all known; a key that is left out keeps its default. The first fault is kept.
class Reader {
 public:
  Reader(const nlohmann::json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) fault("an object is wanted");
  }

  void number(const char* key, double& out) {
    read(key, "a number", [&](const nlohmann::json& value) { return value.is_number() && (out = value, out >= 0); });
  }
  template <class T>
  void count(const char* key, T& out) {
    read(key, "a whole number", [&](const nlohmann::json& value) {
      if (!value.is_number_unsigned()) return false;
      out = value.get<T>();
      return true;
    });
  }
  void flag(const char* key, bool& out) {
    read(key, "true or false", [&](const nlohmann::json& value) { return value.is_boolean() && (out = value, true); });
  }
  void text(const char* key, std::string& out) {
    read(key, "a text", [&](const nlohmann::json& value) { return value.is_string() && (out = value, true); });
  }
  void size(const char* key, uint64_t& out) {
    read(key, "a size such as \"32GiB\"", [&](const nlohmann::json& value) {
      if (!value.is_string()) return false;
      Result<uint64_t> bytes = parse_size(value.get<std::string>());
      if (bytes) out = *bytes;
      return bytes.has_value();
    });
  }
  void footprint(const char* key, Footprint& out) {
    nested(key, [&](Reader& reader) {
      reader.size("host", out.host);
      reader.size("device", out.device);
    });
  }
  void nested(const char* key, const std::function<void(Reader&)>& body) {
    if (!object_.is_object() || !object_.contains(key)) return;
    seen_.push_back(key);
    visit(object_[key], where_ + key, body);
  }
  void list(const char* key, const std::function<void(Reader&)>& body) {
    if (!object_.is_object() || !object_.contains(key)) return;
    seen_.push_back(key);
    if (!object_[key].is_array()) return fault(fmt::format("{}{}: a list is wanted", where_, key));
    size_t i = 0;
    for (const nlohmann::json& item : object_[key]) visit(item, fmt::format("{}{}[{}]", where_, key, i++), body);
  }

  Status status() {
    if (object_.is_object()) {
      for (const auto& [key, value] : object_.items()) {
        if (std::find(seen_.begin(), seen_.end(), key) == seen_.end())
          fault(fmt::format("{}{}: unknown key", where_, key));
      }
    }
    if (fault_.empty()) return {};
    return fail(Code::kUsage, "{}", fault_);
  }

 private:
  template <class Take>
  void read(const char* key, const char* wanted, Take&& take) {
    if (!object_.is_object() || !object_.contains(key)) return;
    seen_.push_back(key);
    if (!take(object_[key])) fault(fmt::format("{}{}: {} is wanted", where_, key, wanted));
  }
  void visit(const nlohmann::json& value, const std::string& where, const std::function<void(Reader&)>& body) {
    Reader inner(value, where + ".");
    body(inner);
    if (Status read = inner.status(); !read) fault(read.error().message);
  }
  void fault(std::string text) {
    if (fault_.empty()) fault_ = std::move(text);
  }

  const nlohmann::json& object_;
  const std::string where_;
  std::vector<std::string> seen_;
  std::string fault_;
};

Result<Profile> parse_profile(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return fail(Code::kUsage, "it is no JSON");
  Profile profile;
  Reader root(json, "");
  root.text("name", profile.name);
  root.text("about", profile.about);
  root.size("memory", profile.memory_bytes);
  root.number("synthesis_slowdown", profile.slowdown);
  root.flag("loaded", profile.loaded);
  profile.policy.host_bytes = profile.policy.request_bytes = profile.memory_bytes;
  root.nested("policy", [&](Reader& policy) {
    policy.count("partition_workers", profile.policy.partition_workers);
    policy.count("finishers", profile.policy.finishers);
    policy.count("max_waiting", profile.policy.max_waiting);
    policy.size("host_memory", profile.policy.host_bytes);
    policy.size("request_memory", profile.policy.request_bytes);
    policy.flag("permit_through_hand_over", profile.policy.permit_through_hand_over);
  });
  root.list("devices", [&](Reader& device) {
    engine::DeviceSpec& spec = profile.devices.emplace_back();
    device.text("name", spec.name);
    device.count("workers", spec.workers);
    device.size("memory", spec.memory_bytes);
  });
  root.list("circuits", [&](Reader& reader) {
    engine::CircuitProfile& circuit = profile.circuits.emplace_back();
    reader.text("id", circuit.id);
    reader.count("partitions", circuit.partitions);
    reader.number("parse_seconds", circuit.parse);
    reader.number("load_circuit_seconds", circuit.load_circuit);
    reader.number("load_params_seconds", circuit.load_params);
    reader.number("synthesis_seconds", circuit.synthesis);
    reader.number("device_seconds", circuit.device);
    reader.number("worker_seconds", circuit.worker);
    reader.number("finish_seconds", circuit.finish);
    reader.size("request", circuit.request_bytes);
    reader.size("circuit", circuit.needs.circuit_bytes);
    reader.size("witness", circuit.needs.witness_bytes);
    engine::Needs needs;
    reader.footprint("params", needs.params);
    reader.footprint("start", needs.start);
    reader.footprint("pending", needs.pending);
    circuit.needs.devices.assign(profile.devices.size(), needs);
    profile.policy.circuit_allowance = std::max(profile.policy.circuit_allowance, circuit.needs.circuit_bytes);
  });
  CUZK_TRY(root.status());
  if (profile.devices.empty() || profile.devices.size() > 64 || profile.circuits.empty() || profile.memory_bytes == 0 ||
      profile.policy.partition_workers == 0)
    return fail(Code::kUsage, "memory, 1 to 64 devices, a circuit and at least one worker are wanted");
  return profile;
}

Result<Profile> profile_of(const SimulateOptions& options) {
  Profile profile;
  if (options.profile == "published") {
    auto make = options.old_policy ? engine::published_accident : engine::published_machine;
    profile = make(options.partition_workers.value_or(12), options.gpu_workers.value_or(2));
  } else {
    if (options.old_policy) return fail(Code::kUsage, "--old-policy is for --profile published");
    CUZK_TRY_ASSIGN(Bytes text, read_file(options.profile));
    Result<Profile> read = parse_profile(std::string(as_text(text)));
    if (!read) return tl::unexpected(std::move(read).error().within(options.profile));
    profile = std::move(*read);
    if (options.partition_workers) profile.policy.partition_workers = *options.partition_workers;
    for (engine::DeviceSpec& device : profile.devices) device.workers = options.gpu_workers.value_or(device.workers);
  }
  if (options.memory_bytes) {
    profile.policy.request_bytes = *options.memory_bytes / 8;
    profile.policy.host_bytes = *options.memory_bytes - profile.policy.request_bytes;
  }
  return profile;
}

// Of each stretch of time, the moment at which most memory was in use.
std::vector<engine::Sample> rows_of(const engine::Report& report, uint64_t rows) {
  std::vector<engine::Sample> chosen;
  size_t next = 0;
  for (uint64_t row = 0; row < rows; row++) {
    const double end = report.seconds * static_cast<double>(row + 1) / static_cast<double>(rows);
    const engine::Sample* most = nullptr;
    for (; next < report.timeline.size() && report.timeline[next].at <= end; next++) {
      if (!most || report.timeline[next].live.host() > most->live.host()) most = &report.timeline[next];
    }
    if (most) chosen.push_back(*most);
  }
  return chosen;
}

Report by_class(const engine::Live& live) {
  return {{"c1", live.requests},       {"circuit", live.circuits},        {"params", live.params},
          {"witness", live.witnesses}, {"evaluations", live.evaluations}, {"pending", live.pending}};
}

void print_text(const Profile& profile, const engine::Report& report, const std::vector<engine::Sample>& rows) {
  using engine::readable_size;
  const engine::Live& peak = report.peak;
  fmt::print("{}: {}\n", profile.name, profile.about);
  fmt::print("{} proofs in {:.0f} s, {:.1f} s a proof; {} failed\n", report.completed, report.seconds,
             report.seconds_per_proof, report.failed + report.refused);
  fmt::print("peak of host memory {}: c1 {}, circuit {}, params {}, witness {}, evaluations {}, pending {} at most\n",
             readable_size(report.peak_host), readable_size(peak.requests), readable_size(peak.circuits),
             readable_size(peak.params), readable_size(peak.witnesses), readable_size(peak.evaluations),
             readable_size(peak.pending));
  if (report.out_of_memory_at) {
    fmt::print("OUT OF MEMORY after {:.0f} s: the machine has {}\n", *report.out_of_memory_at,
               readable_size(profile.memory_bytes));
  }
  fmt::print("at most {} synthesised partitions waited for a device\n", report.peak_queued);
  for (size_t d = 0; d < profile.devices.size(); d++) {
    fmt::print("{}: idle {:.0f} % of the time, peak of its memory {}\n", profile.devices[d].name,
               100 * report.device_idle[d], readable_size(report.peak_on_device[d]));
  }
  fmt::print("partition workers: not in synthesis {:.0f} % of the time\n", 100 * report.synthesis_idle);
  if (rows.empty()) return;
  fmt::print("\n{:>9} {:>5} {:>13} {:>7} {:>9} {:>9} {:>10}\n", "seconds", "jobs", "synthesising", "queued",
             "on device", "finishing", "host");
  for (const engine::Sample& row : rows) {
    fmt::print("{:>9.1f} {:>5} {:>13} {:>7} {:>9} {:>9} {:>10}\n", row.at, row.open_jobs, row.synthesising, row.queued,
               row.on_device, row.finishing, readable_size(row.live.host()));
  }
}

}  // namespace

Result<int> simulate(const SimulateOptions& options, Context& context) {
  CUZK_TRY_ASSIGN(const Profile profile, profile_of(options));
  CUZK_TRY_ASSIGN(const engine::Report report,
                  engine::simulate(profile, {.jobs = options.proofs, .concurrent = options.concurrent}));
  const std::vector<engine::Sample> rows = rows_of(report, options.rows);
  if (!context.json) {
    print_text(profile, report, rows);
    return report.out_of_memory_at ? 1 : 0;
  }
  Report timeline = Report::array();
  for (const engine::Sample& row : rows) {
    timeline.push_back({{"seconds", rounded(row.at)},
                        {"open_jobs", row.open_jobs},
                        {"synthesising", row.synthesising},
                        {"queued", row.queued},
                        {"on_device", row.on_device},
                        {"finishing", row.finishing},
                        {"host_bytes", row.live.host()}});
  }
  context.print(
      {{"profile", profile.name},
       {"proofs", report.completed},
       {"failed", report.failed + report.refused},
       {"seconds", rounded(report.seconds)},
       {"seconds_per_proof", rounded(report.seconds_per_proof)},
       {"peak_host_bytes", report.peak_host},
       {"peak_bytes_by_class", by_class(report.peak)},
       {"peak_queued_partitions", report.peak_queued},
       {"out_of_memory_seconds", report.out_of_memory_at ? Report(rounded(*report.out_of_memory_at)) : Report()},
       {"device_idle", report.device_idle},
       {"peak_device_bytes", report.peak_on_device},
       {"synthesis_idle", report.synthesis_idle},
       {"timeline", timeline}});
  return report.out_of_memory_at ? 1 : 0;
}

}  // namespace cuzk::cli
