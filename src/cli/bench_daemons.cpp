#include <algorithm>
#include <atomic>
#include <thread>

#include "cli/daemon_process.h"
#include "cli/statement.h"
#include "groth16/files.h"
#include "groth16/verify.h"

namespace cuzk::cli {
namespace {

// A daemon that is gone is waited for so long, to tell of what it died.
constexpr std::chrono::seconds kDying{5};

// "setting=value,value" of each sweep to all combinations, the last sweep changing fastest.
Result<std::vector<Settings>> combinations(const std::vector<std::string>& sweeps) {
  std::vector<Settings> all = {{}};
  for (const std::string& sweep : sweeps) {
    const size_t equals = sweep.find('=');
    if (equals == sweep.npos) return fail(Code::kUsage, "--sweep {}: SETTING=VALUE,VALUE is wanted", sweep);
    std::vector<Settings> longer;
    for (const Settings& before : all) {
      for (size_t begin = equals + 1, end = equals; end != sweep.npos; begin = end + 1) {
        end = sweep.find(',', begin);
        longer.push_back(before);
        longer.back().emplace_back(sweep.substr(0, equals), sweep.substr(begin, end - begin));
      }
    }
    all = std::move(longer);
  }
  return all;
}

// By nearest rank; a line of text where it is not for JSON.
Report spread(std::vector<double> values, bool json) {
  std::sort(values.begin(), values.end());
  auto rank = [&](size_t percent) { return values[(values.size() * percent + 99) / 100 - 1]; };
  const double min = values.front(), median = rank(50), p90 = rank(90), max = values.back();
  if (!json) return fmt::format("min {:.3f}, median {:.3f}, p90 {:.3f}, max {:.3f}", min, median, p90, max);
  return {{"min", rounded(min)}, {"median", rounded(median)}, {"p90", rounded(p90)}, {"max", rounded(max)}};
}

// Whether proofs hold, by a key of one's own.
class Verifier {
 public:
  static Result<Verifier> make(const StatementOptions& statement, const std::string& vk, Context& context) {
    CUZK_TRY_ASSIGN(const auto source, read_source(statement, context, filecoin::VanillaCheck::kNone));
    CUZK_TRY_ASSIGN(groth16::VerifyingKey key, groth16::read_vk(vk));
    Verifier verifier(groth16::prepare(std::move(key)));
    for (uint32_t i = 0; i < source->partitions(); i++) {
      CUZK_TRY_ASSIGN(std::vector<Fr> values, source->public_inputs(i));
      verifier.inputs_.push_back(std::move(values));
    }
    return verifier;
  }

  Status check(ByteSpan bytes, exec::Pool& pool) const {
    CUZK_TRY_ASSIGN(const std::vector<groth16::Proof> proofs, groth16::decode_proofs(bytes));
    if (proofs.size() != inputs_.size())
      return fail(Code::kVerifyFailed, "the daemon returned {} partitions, not {}", proofs.size(), inputs_.size());
    CUZK_TRY_ASSIGN(const bool holds, groth16::verify_batch(key_, inputs_, proofs, pool));
    return holds ? Status() : fail(Code::kVerifyFailed, "the daemon returned a proof that does not hold");
  }

 private:
  explicit Verifier(groth16::PreparedVerifyingKey key) : key_(std::move(key)) {}
  groth16::PreparedVerifyingKey key_;
  std::vector<std::vector<Fr>> inputs_;
};

struct Sample {
  double wall_seconds;
  nlohmann::json answer;
};

// `count` proofs, `concurrency` at a time; stops at the first call that has no answer.
Result<std::vector<Sample>> prove_many(const std::string& address, const filecoin::ProofRequest& request,
                                       uint32_t count, uint32_t concurrency, Context& context) {
  std::mutex mutex;
  std::vector<Sample> samples;
  std::optional<Error> error;
  uint32_t begun = 0;
  auto client = [&] {
    while (true) {
      {
        std::lock_guard lock(mutex);
        if (error || begun == count) return;
        begun++;
      }
      const Stopwatch watch;
      Result<nlohmann::json> answer = context.remote.prove(address, "", request);
      const double seconds = watch.seconds();
      if (!answer && answer.error().code == Code::kResourceExhausted)
        answer = nlohmann::json{{"status", "REFUSED"}, {"error_message", answer.error().message}};
      std::lock_guard lock(mutex);
      if (!answer) {
        if (!error) error = std::move(answer).error();
        return;
      }
      samples.push_back({seconds, std::move(*answer)});
      context.progress.update(samples.size(), count);
    }
  };
  {
    std::vector<std::jthread> clients;
    for (uint32_t i = 0; i < std::min(count, concurrency); i++) clients.emplace_back(client);
  }
  if (error) return tl::unexpected(std::move(*error));
  return samples;
}

// The peaks of memory that a daemon tells in its metrics.
Result<Report> peaks(const std::string& address, Context& context) {
  CUZK_TRY_ASSIGN(const std::string text, context.remote.metrics(address));
  Report classes, report;
  uint64_t ledger = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(0, line.find_first_of("{ "));
    const auto value = [&] { return static_cast<uint64_t>(std::stod(line.substr(line.rfind(' ')))); };
    if (name == "cuzk_process_resident_peak_bytes") report["resident_peak_bytes"] = value();
    if (name != "cuzk_ledger_peak_bytes" || value() == 0) continue;
    const size_t quote = line.find('"');
    classes[line.substr(quote + 1, line.find('"', quote + 1) - quote - 1)] = value();
    ledger += value();
  }
  report["ledger_peak_bytes"] = ledger;  // peaks of classes, which need not coincide
  report["ledger_peak_by_class"] = classes;
  return report;
}

struct Load {
  const BenchOptions& options;
  const OwnedRequest& request;
  const std::optional<Verifier>& verifier;
};

Result<Report> measure(const std::string& address, const Load& load, Context& context) {
  const BenchOptions& options = load.options;
  context.progress.begin("warming up");
  CUZK_TRY(prove_many(address, load.request.request, options.warm_up, options.concurrency, context));
  context.progress.begin("proving");
  const Stopwatch watch;
  CUZK_TRY_ASSIGN(const std::vector<Sample> samples,
                  prove_many(address, load.request.request, options.count, options.concurrency, context));
  const double seconds = watch.seconds();

  constexpr std::pair<const char*, const char*> kTimes[] = {{"queue_wait", "queue_wait_ms"},
                                                            {"srs_load", "srs_load_ms"},
                                                            {"synthesis", "synthesis_ms"},
                                                            {"gpu_compute", "gpu_compute_ms"},
                                                            {"total", "total_ms"}};
  std::vector<double> walls;
  std::map<std::string, std::vector<double>> times;
  std::optional<std::string> first_failure;
  for (const auto& [wall, answer] : samples) {
    if (answer["status"] != "COMPLETED") {
      if (!first_failure) first_failure = answer["error_message"].get<std::string>();
      continue;
    }
    CUZK_TRY_ASSIGN(const Bytes proof, from_hex(answer["proof"].get<std::string>()));
    if (load.verifier) CUZK_TRY(load.verifier->check(proof, context.pool));
    walls.push_back(wall);
    for (const auto& [name, field] : kTimes) times[name].push_back(std::stod(answer[field].get<std::string>()) / 1000);
  }
  Report report{{"count", samples.size()},
                {"concurrency", options.concurrency},
                {"completed", walls.size()},
                {"failed", samples.size() - walls.size()}};
  if (first_failure) report["first_failure"] = *first_failure;
  if (!walls.empty()) {
    report["seconds"] = rounded(seconds);
    report["seconds_per_proof"] = rounded(seconds / static_cast<double>(walls.size()));
    report["wall_seconds"] = spread(walls, context.json);
    for (const auto& [name, field] : kTimes) report["stage_seconds"][name] = spread(times[name], context.json);
    report["verified"] = load.verifier ? "here, with " + *options.vk : "by the daemon";
  }
  CUZK_TRY_ASSIGN(const Report memory, peaks(address, context));
  report.update(memory);
  return report;
}

Result<Report> measure_own(const Settings& settings, const Load& load, Context& context) {
  context.progress.begin("starting a daemon");
  CUZK_TRY_ASSIGN(const auto daemon, DaemonProcess::start(context.remote, *load.options.config, settings));
  Result<Report> report = measure(daemon->address(), load, context);
  if (report) {
    CUZK_TRY(daemon->stop());
  } else if (daemon->ends(kDying)) {
    return fail(Code::kUnavailable, "the daemon {}", daemon->cause_of_death());
  }
  return report;
}

// Of what that one dies, its parent knows.
Result<Report> measure_other(const Load& load, Context& context) {
  Result<Report> report = measure(*load.options.daemon, load, context);
  if (!report && report.error().code == Code::kUnavailable)
    return tl::unexpected(std::move(report).error().within("the daemon does not answer"));
  return report;
}

}  // namespace

Result<int> bench_daemons(const BenchOptions& options, Context& context) {
  const StatementOptions& statement = options.statement;
  if (!statement.c1 && !statement.post && !statement.update && !statement.kind)
    return fail(Code::kUsage, "what is to be proved? one of --c1, --post, --update and --kind is wanted");
  CUZK_TRY_ASSIGN(const OwnedRequest request, read_request(statement));
  std::optional<Verifier> verifier;
  if (options.vk) {
    CUZK_TRY_ASSIGN(verifier, Verifier::make(statement, *options.vk, context));
  }
  CUZK_TRY_ASSIGN(const std::vector<Settings> variants, combinations(options.sweeps));
  const Load load{options, request, verifier};
  Report runs = Report::array();
  std::optional<Error> error;  // the last; a daemon that died does not keep others from being tried
  bool all_good = true;
  for (const Settings& settings : variants) {
    Report run;
    for (const auto& [key, value] : settings) run["settings"][key] = value;
    Result<Report> measured = options.daemon ? measure_other(load, context) : measure_own(settings, load, context);
    context.progress.end();
    if (measured) {
      run.update(*measured);
      all_good &= run["failed"] == 0;
    } else {
      if (measured.error().code != Code::kUnavailable) return tl::unexpected(std::move(measured).error());
      run["error"] = measured.error().message;
      error = std::move(measured).error();
    }
    if (!context.json) {
      context.print(run);
      fmt::print("\n");
    }
    runs.push_back(std::move(run));
  }
  if (context.json) context.print({{"runs", runs}});
  if (error) return tl::unexpected(std::move(*error));
  return all_good ? 0 : 1;
}

}  // namespace cuzk::cli
