#include <mutex>

#include "cli/commands.h"
#include "engine/engine.h"
#include "filecoin/c1.h"
#include "filecoin/circuits.h"
#include "filecoin/porep_source.h"
#include "filecoin/synthetic.h"
#include "groth16/cuda/prover/setup.h"
#include "msm/cuda/msm.h"

namespace cuzk::cli {
namespace {

// Of "porep-32g" or "porep-2k".
Result<uint64_t> sector_of(std::string_view shape) {
  const auto name = filecoin::parse_circuit_name(shape);
  if (name && name->kind == "porep") return name->sector_bytes;
  return fail(Code::kUsage, "'{}' is no shape; porep-32g is one", shape);
}

// Median times of the device's steps, with their share in what its multipliers could do.
class Steps {
 public:
  void add(const groth16::ProveTimes& times) {
    std::lock_guard lock(mutex_);
    all_.push_back(times);
  }
  Report medians() const {
    Report out;
    for (const auto& [name, step] : kSteps) {
      std::vector<double> values;
      for (const auto& times : all_) values.push_back(times.*step);
      std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2), values.end());
      out[name] = values.empty() ? 0 : rounded(values[values.size() / 2]);
    }
    return out;
  }

 private:
  static constexpr std::pair<const char*, double groth16::ProveTimes::*> kSteps[] = {
      {"evaluate", &groth16::ProveTimes::evaluate},
      {"quotient", &groth16::ProveTimes::quotient},
      {"h", &groth16::ProveTimes::h},
      {"l", &groth16::ProveTimes::l},
      {"a", &groth16::ProveTimes::a},
      {"b_g1", &groth16::ProveTimes::b_g1},
      {"b_g2", &groth16::ProveTimes::b_g2}};
  std::mutex mutex_;
  std::vector<groth16::ProveTimes> all_;
};

Result<groth16::DeviceParameters> development_params(const r1cs::Circuit& circuit, uint64_t seed,
                                                     const gpu::DeviceInfo& device, gpu::DeviceMemory memory) {
  const uint64_t bytes = groth16::setup_on_device_bytes(circuit, device);
  CUZK_TRY_ASSIGN(const auto workspace, gpu::DeviceMemory::make_uncovered(device.ordinal, bytes));
  return groth16::setup_on_device(circuit, groth16::toxic_from_seed(seed), device, std::move(memory),
                                  workspace.bytes());
}

// The h sum's additions at 3,496 multiplier slots each (performance.md 5.2), 64 slots a clock on each multiprocessor.
double h_seconds_at_roof(const msm::DevicePlan& plan, const gpu::DeviceInfo& device) {
  const double additions = static_cast<double>(plan.windows) * static_cast<double>(plan.shape.points);
  return additions * 3496 / (64.0 * device.multiprocessors * device.clock_hz);
}

}  // namespace

Result<int> bench(const BenchOptions& options, Context& context) {
  return options.full_scale ? bench_devices(options, context) : bench_daemons(options, context);
}

Result<int> bench_devices(const BenchOptions& options, Context& context) {
  CUZK_TRY_ASSIGN(const uint64_t sector_bytes, sector_of(*options.full_scale));
  CUZK_TRY(gpu::find_device(""));  // says why there is none
  CUZK_TRY_ASSIGN(const std::vector<gpu::DeviceInfo> devices, gpu::find_devices(options.devices));
  uint64_t limit = UINT64_MAX;
  if (options.vram_limit) {
    CUZK_TRY_ASSIGN(limit, parse_size(*options.vram_limit));
  }
  context.progress.begin("making up a sector");
  CUZK_TRY_ASSIGN(const filecoin::SealCommit commit,
                  filecoin::synthetic_porep(sector_bytes, options.seed, context.pool));
  std::string c1;
  CUZK_TRY(filecoin::write_c1(commit, filecoin::C1Form::kBare, [&](std::string_view piece) -> Status {
    c1 += piece;
    return {};
  }));

  Steps steps;
  std::vector<std::unique_ptr<engine::Backend>> backends;
  std::vector<engine::Device> engine_devices;
  for (const gpu::DeviceInfo& device : devices) {
    CUZK_TRY_ASSIGN(const uint64_t memory, gpu::usable_bytes(device.ordinal, limit));
    engine::GpuOptions gpu_options{
        .device = device, .workers = options.workers, .memory_bytes = memory, .b_g2_on_host = options.b_g2 == "cpu"};
    if (!options.params) {
      gpu_options.make_params = [&options, device](const r1cs::Circuit& circuit, gpu::DeviceMemory room) {
        return development_params(circuit, options.seed, device, std::move(room));
      };
    }
    if (options.steps) gpu_options.timed = [&](const groth16::ProveTimes& times) { steps.add(times); };
    backends.push_back(engine::make_gpu_backend(std::move(gpu_options), context.pool));
    engine_devices.push_back({{device.uuid, options.workers, memory}, backends.back().get()});
  }
  engine::CircuitStore circuits{{}};
  engine::ParamsStore params([&](const std::string&) -> Result<std::filesystem::path> {
    return options.params.value_or("made from the seed");
  });
  engine::Options engine_options;
  engine_options.policy.partition_workers = std::max<size_t>(2 * options.workers * devices.size(), 4);
  engine_options.policy.finishers = 2;
  engine::Engine engine(std::move(engine_options), circuits, params, engine_devices, context.pool);

  context.progress.begin(options.params ? "reading parameters" : "making parameters");
  CUZK_TRY_ASSIGN(const auto source, filecoin::make_porep_source(as_bytes(c1), context.pool));
  const Stopwatch loading;
  CUZK_TRY(engine.preload(source->circuit_id(), [&] { return source->compile(); }));
  const double load_seconds = loading.seconds();
  const uint64_t rss_before = peak_rss_bytes();

  context.progress.begin("proving");
  const Stopwatch watch;
  std::vector<engine::Ticket> tickets;
  for (uint32_t proof = 0; proof < options.proofs; proof++) {
    engine::Request request{.id = fmt::format("bench-{}", proof), .kind = "porep-c2"};
    request.payload_digest[0] = static_cast<uint8_t>(proof),
    request.payload_digest[1] = static_cast<uint8_t>(proof >> 8);
    request.parse = [&] { return filecoin::make_porep_source(as_bytes(c1), context.pool); };
    CUZK_TRY_ASSIGN(engine::Ticket ticket, engine.submit(std::move(request)));
    tickets.push_back(std::move(ticket));
  }
  std::vector<double> ends;
  for (const engine::Ticket& ticket : tickets) {
    const auto outcome = engine.await(ticket);
    if (outcome->error) return tl::unexpected(Error(*outcome->error));
    ends.push_back(watch.seconds());
    context.progress.update(ends.size(), tickets.size());
  }
  context.progress.end();
  const double seconds = watch.seconds();

  Report report{{"shape", *options.full_scale},
                {"device", devices.front().name},
                {"devices", devices.size()},
                {"workers_per_device", options.workers},
                {"partitions", source->partitions()},
                {"proofs", options.proofs},
                {"seconds_per_proof", rounded(seconds / options.proofs)},
                {"first_proof_seconds", rounded(ends.front())},
                {"load_seconds", rounded(load_seconds)},
                {"peak_rss_bytes", peak_rss_bytes()},
                {"peak_rss_before_proving_bytes", rss_before}};
  for (const auto& pool : engine.snapshot().memory) report["memory"][pool.name] = pool.high_water_bytes;
  if (options.steps) {
    report["step_seconds"] = steps.medians();
    const double h = report["step_seconds"]["h"];
    const uint64_t points = uint64_t{1} << r1cs::log2_domain(*circuits.find(source->circuit_id()));
    CUZK_TRY_ASSIGN(const msm::DevicePlan plan, msm::device_plan({points, false}));
    report["h_share_of_multiplier_roof"] = rounded(h_seconds_at_roof(plan, devices.front()) / h);
  }
  context.print(report);
  return 0;
}

}  // namespace cuzk::cli
