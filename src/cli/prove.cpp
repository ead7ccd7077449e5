#include "groth16/prove.h"

#include "cli/statement.h"
#include "groth16/files.h"

namespace cuzk::cli {
namespace {

Result<int> prove_by_daemon(const ProveOptions& options, Context& context) {
  Stopwatch watch;
  CUZK_TRY_ASSIGN(OwnedRequest read, read_request(options.statement));
  context.progress.begin("waiting for the daemon");
  CUZK_TRY_ASSIGN(nlohmann::json answer, context.remote.prove(*options.daemon, options.request_id, read.request));
  context.progress.end();
  Report report(answer);
  report["seconds"] = rounded(watch.seconds());
  context.print(report);
  if (answer["status"] != "COMPLETED") return 1;
  CUZK_TRY_ASSIGN(Bytes proof, from_hex(answer["proof"].get<std::string>()));
  CUZK_TRY(write_file(options.out, proof));
  return 0;
}

// The blinding values of one proof: given, or fresh.
Result<groth16::Blinding> blinding_of(const ProveOptions& options) {
  if (!options.r) return groth16::random_blinding();
  groth16::Blinding given;
  CUZK_TRY_ASSIGN(given.r, field_from_text(*options.r));
  CUZK_TRY_ASSIGN(given.s, field_from_text(*options.s));
  return given;
}

Result<int> prove_here(const ProveOptions& options, Context& context) {
  Stopwatch watch;
  context.progress.begin("reading");
  CUZK_TRY_ASSIGN(auto source, read_source(options.statement, context, filecoin::VanillaCheck::kFull));
  double parse_seconds = watch.seconds();
  uint32_t first = options.partition.value_or(0);
  uint32_t end = options.partition ? first + 1 : source->partitions();
  if (first >= source->partitions()) {
    return fail(Code::kInvalidInput, "there is no partition {}; the statement has {}, counted from 0", first,
                source->partitions());
  }
  if (options.r && end - first != 1)
    return fail(Code::kUsage, "--r and --s are for one proof: say which with --partition");

  Stopwatch load;
  context.progress.begin("compiling");
  CUZK_TRY_ASSIGN(r1cs::Circuit circuit, source->compile());
  double compile_seconds = load.seconds();
  context.progress.begin("loading parameters");
  groth16::LoadOptions load_options{.map = true};
  load_options.progress = [&](uint64_t done, uint64_t total) { context.progress.update(done, total); };
  CUZK_TRY_ASSIGN(groth16::LoadedParameters loaded,
                  groth16::load_params(*options.params, groth16::lengths_of(circuit), load_options, context.pool));
  for (const std::string& warning : loaded.warnings) fmt::print(stderr, "warning: {}: {}\n", *options.params, warning);
  const groth16::Parameters& params = loaded.parameters;
  groth16::PreparedVerifyingKey verifying = groth16::prepare(params.vk);
  double params_seconds = load.seconds() - compile_seconds;

  Bytes proofs;
  double synthesis_seconds = 0, verify_seconds = 0;
  groth16::ProveTimes times;
  for (uint32_t partition = first; partition < end; partition++) {
    Stopwatch stage;
    context.progress.begin(fmt::format("partition {}: making the witness", partition));
    CUZK_TRY_ASSIGN(mem::Reservation room, reserve(r1cs::witness_bytes(circuit)));
    CUZK_TRY_ASSIGN(r1cs::Witness witness, source->synthesise(partition, circuit, std::move(room)));
    synthesis_seconds += stage.seconds();
    context.progress.begin(fmt::format("partition {}: proving", partition));
    CUZK_TRY_ASSIGN(room, reserve(groth16::start_bytes(circuit, context.pool.threads())));
    CUZK_TRY_ASSIGN(groth16::Blinding blinding, blinding_of(options));
    CUZK_TRY_ASSIGN(groth16::Proof proof, groth16::prove(circuit, params, witness, blinding.r, blinding.s,
                                                         std::move(room), context.pool, &times));
    stage = {};
    CUZK_TRY_ASSIGN(std::vector<Fr> inputs, source->public_inputs(partition));
    CUZK_TRY_ASSIGN(bool holds, groth16::verify(verifying, inputs, proof, context.pool));
    if (!holds)
      return tl::unexpected(
          groth16::explain_failure(circuit, witness, context.pool).within(fmt::format("partition {}", partition)));
    verify_seconds += stage.seconds();
    auto bytes = groth16::encode_proof(proof);
    proofs.insert(proofs.end(), bytes.begin(), bytes.end());
  }
  CUZK_TRY(write_file(options.out, proofs));
  context.progress.end();
  context.print({{"circuit", circuit.name},
                 {"first_partition", first},
                 {"partitions", end - first},
                 {"proof", to_hex(proofs)},
                 {"verified", true},
                 {"seconds", rounded(watch.seconds())},
                 {"stages",
                  {{"parse", rounded(parse_seconds)},
                   {"compile", rounded(compile_seconds)},
                   {"params", rounded(params_seconds)},
                   {"synthesise", rounded(synthesis_seconds)},
                   {"evaluate", rounded(times.evaluate)},
                   {"quotient", rounded(times.quotient)},
                   {"split", rounded(times.split)},
                   {"h", rounded(times.h)},
                   {"l", rounded(times.l)},
                   {"a", rounded(times.a)},
                   {"b_g1", rounded(times.b_g1)},
                   {"b_g2", rounded(times.b_g2)},
                   {"assemble", rounded(times.assemble)},
                   {"verify", rounded(verify_seconds)}}},
                 {"peak_rss_bytes", peak_rss_bytes()}});
  return 0;
}

}  // namespace

Result<int> prove(const ProveOptions& options, Context& context) {
  if (!options.params && !options.daemon) return fail(Code::kUsage, "one of --params and --daemon is required");
  return options.daemon ? prove_by_daemon(options, context) : prove_here(options, context);
}

}  // namespace cuzk::cli
