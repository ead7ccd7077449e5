#include "r1cs/digest.h"

#include "cli/commands.h"
#include "filecoin/circuits.h"

namespace cuzk::cli {

Result<int> digest(const DigestOptions& options, Context& context) {
  Stopwatch watch;
  context.progress.begin("compiling");
  CUZK_TRY_ASSIGN(r1cs::Circuit circuit, filecoin::compile_circuit(options.circuit.kind, options.circuit.sector_bytes));
  double compile_seconds = watch.seconds();
  context.progress.begin(fmt::format("hashing {} rows", circuit.num_constraints));
  r1cs::CircuitDigest digest = r1cs::digest(circuit, context.pool, 1 << 16, [&](uint32_t rows, const Bytes32&) {
    context.progress.update(rows, circuit.num_constraints);
  });
  context.progress.end();
  context.print({{"circuit", circuit.name},
                 {"num_inputs", digest.num_inputs},
                 {"num_aux", digest.num_aux},
                 {"num_constraints", digest.num_constraints},
                 {"nnz_a", digest.nnz_a},
                 {"nnz_b", digest.nnz_b},
                 {"nnz_c", digest.nnz_c},
                 {"density", {{"a_aux", digest.a_aux}, {"b_aux", digest.b_aux}, {"b_inputs", digest.b_inputs}}},
                 {"sha256", to_hex(digest.sha256)},
                 {"blake2s", to_hex(digest.blake2s)},
                 {"templates", circuit.templates.size()},
                 {"instances", circuit.instances.size()},
                 {"circuit_bytes", circuit.bytes()},
                 {"compile_seconds", rounded(compile_seconds)},
                 {"seconds", rounded(watch.seconds())}});
  return 0;
}

}  // namespace cuzk::cli
