#include "groth16/setup.h"

#include "cli/commands.h"
#include "filecoin/circuits.h"

namespace cuzk::cli {
namespace {

Result<groth16::Toxic> secrets_of(const SetupOptions& options) {
  if (options.seed) return groth16::toxic_from_seed(*options.seed);
  if (!options.secrets) return fail(Code::kUsage, "one of --seed and --secrets is required");
  CUZK_TRY_ASSIGN(Bytes text, read_file(*options.secrets));
  return groth16::toxic_from_json(as_text(text));
}

}  // namespace

Result<int> setup(const SetupOptions& options, Context& context) {
  Stopwatch watch;
  CUZK_TRY_ASSIGN(groth16::Toxic toxic, secrets_of(options));
  context.progress.begin("compiling");
  CUZK_TRY_ASSIGN(r1cs::Circuit circuit, filecoin::compile_circuit(options.circuit.kind, options.circuit.sector_bytes));
  context.progress.begin("making points");
  CUZK_TRY_ASSIGN(groth16::VerifyingKey vk,
                  groth16::setup(circuit, toxic, options.out, context.pool,
                                 [&](uint64_t done, uint64_t total) { context.progress.update(done, total); }));
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
