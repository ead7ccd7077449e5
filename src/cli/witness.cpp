#include "cli/statement.h"
#include "r1cs/digest.h"

namespace cuzk::cli {

Result<int> witness(const WitnessOptions& options, Context& context) {
  Stopwatch watch;
  context.progress.begin("reading");
  // Without the native check, so that a false statement shows which row it breaks.
  CUZK_TRY_ASSIGN(auto source, read_source(options.statement, context, filecoin::VanillaCheck::kNone));
  context.progress.begin("compiling");
  CUZK_TRY_ASSIGN(r1cs::Circuit circuit, source->compile());
  context.progress.begin("making the witness");
  Stopwatch synthesis;
  CUZK_TRY_ASSIGN(mem::Reservation room, reserve(r1cs::witness_bytes(circuit)));
  CUZK_TRY_ASSIGN(r1cs::Witness made, source->synthesise(options.partition, circuit, std::move(room)));
  double synthesis_seconds = synthesis.seconds();
  context.progress.begin(fmt::format("checking {} rows", circuit.num_constraints));
  r1cs::WitnessDigest digest = r1cs::digest(r1cs::WitnessView(circuit, made), context.pool);
  context.progress.end();

  bool satisfied = digest.first_unsatisfied == circuit.num_constraints;
  Report inputs = Report::array();
  for (const Fr& input : made.inputs) inputs.push_back(fr_to_hex(input));
  context.print({{"circuit", circuit.name},
                 {"partition", options.partition},
                 {"num_aux", circuit.num_aux},
                 {"inputs", inputs},
                 {"aux_sha256", to_hex(digest.aux)},
                 {"a_sha256", to_hex(digest.a)},
                 {"b_sha256", to_hex(digest.b)},
                 {"c_sha256", to_hex(digest.c)},
                 {"satisfied", satisfied},
                 {"first_failure", satisfied ? Report() : Report(digest.first_unsatisfied)},
                 {"witness_bytes", r1cs::witness_bytes(circuit)},
                 {"synthesis_seconds", rounded(synthesis_seconds)},
                 {"seconds", rounded(watch.seconds())},
                 {"peak_rss_bytes", peak_rss_bytes()}});
  return satisfied ? 0 : 1;
}

}  // namespace cuzk::cli
