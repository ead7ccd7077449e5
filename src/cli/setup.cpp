#include "groth16/setup.h"

#include "cli/commands.h"
#include "filecoin/circuits.h"
#include "groth16/cuda/prover/setup.h"

namespace cuzk::cli {
namespace {

Result<groth16::Toxic> secrets_of(const SetupOptions& options) {
  if (options.seed) return groth16::toxic_from_seed(*options.seed);
  if (!options.secrets) return fail(Code::kUsage, "one of --seed and --secrets is required");
  CUZK_TRY_ASSIGN(Bytes text, read_file(*options.secrets));
  return groth16::toxic_from_json(as_text(text));
}

// The same on a CUDA device; its memory holds all points before they are written.
Result<groth16::VerifyingKey> setup_on(const std::string& name, const r1cs::Circuit& circuit,
                                       const groth16::Toxic& toxic, const std::string& out,
                                       const groth16::Progress& progress) {
  CUZK_TRY_ASSIGN(const gpu::DeviceInfo device, gpu::find_device(name));
  const auto memory = [&](uint64_t bytes) { return gpu::DeviceMemory::make_uncovered(device.ordinal, bytes); };
  CUZK_TRY_ASSIGN(gpu::DeviceMemory points, memory(groth16::device_bytes(groth16::lengths_of(circuit))));
  CUZK_TRY_ASSIGN(gpu::DeviceMemory workspace, memory(groth16::setup_on_device_bytes(circuit, device)));
  CUZK_TRY_ASSIGN(const groth16::DeviceParameters parameters,
                  groth16::setup_on_device(circuit, toxic, device, std::move(points), workspace.bytes()));
  workspace = {};
  mem::Budget budget({{"staging", groth16::kParamsStagingBytes}});
  CUZK_TRY_ASSIGN(mem::Reservation reservation, budget.reserve({0, groth16::kParamsStagingBytes}));
  CUZK_TRY_ASSIGN(const auto staging, gpu::PinnedMemory::make(std::move(reservation)));
  CUZK_TRY(groth16::write_params(out, parameters, staging.bytes(), progress));
  return parameters.vk;
}

}  // namespace

Result<int> setup(const SetupOptions& options, Context& context) {
  Stopwatch watch;
  CUZK_TRY_ASSIGN(groth16::Toxic toxic, secrets_of(options));
  context.progress.begin("compiling");
  CUZK_TRY_ASSIGN(r1cs::Circuit circuit, filecoin::compile_circuit(options.circuit.kind, options.circuit.sector_bytes));
  context.progress.begin("making points");
  const auto progress = [&](uint64_t done, uint64_t total) { context.progress.update(done, total); };
  groth16::VerifyingKey vk;
  if (options.device) {
    CUZK_TRY_ASSIGN(vk, setup_on(*options.device, circuit, toxic, options.out, progress));
  } else {
    CUZK_TRY_ASSIGN(vk, groth16::setup(circuit, toxic, options.out, context.pool, progress));
  }
  CUZK_TRY(groth16::write_vk(options.vk, vk));
  context.progress.end();
  groth16::Lengths lengths = groth16::lengths_of(circuit);
  context.print({{"circuit", circuit.name},
                 {"unsafe_for_production", true},
                 {"ic", lengths.ic},
                 {"h", lengths.h},
                 {"l", lengths.l},
                 {"a", lengths.a},
                 {"b_g1", lengths.b_g1},
                 {"b_g2", lengths.b_g2},
                 {"seconds", rounded(watch.seconds())},
                 {"peak_rss_bytes", peak_rss_bytes()}});
  return 0;
}

}  // namespace cuzk::cli
