#include "groth16/verify.h"

#include "cli/statement.h"
#include "groth16/files.h"

namespace cuzk::cli {

Result<int> verify(const VerifyOptions& options, Context& context) {
  Stopwatch watch;
  context.progress.begin("reading");
  CUZK_TRY_ASSIGN(auto source, read_source(options.statement, context, filecoin::VanillaCheck::kNone));
  CUZK_TRY_ASSIGN(groth16::VerifyingKey vk, groth16::read_vk(options.vk));
  CUZK_TRY_ASSIGN(Bytes bytes, read_file(options.proof));

  uint32_t first = options.partition.value_or(0);
  uint32_t count = options.partition ? 1 : source->partitions();
  if (bytes.size() != count * groth16::kProofBytes) {
    return fail(Code::kInvalidInput, "'{}' has {} bytes; a proof of {} partition(s) has {}", options.proof,
                bytes.size(), count, count * groth16::kProofBytes);
  }
  std::vector<std::vector<Fr>> inputs;
  for (uint32_t i = 0; i < count; i++) {
    CUZK_TRY_ASSIGN(std::vector<Fr> values, source->public_inputs(first + i));
    inputs.push_back(std::move(values));
  }

  context.progress.begin("verifying");
  Report report = {{"circuit", source->circuit_id()}, {"partitions", count}};
  bool valid = false;
  // Bytes that are no points are a wrong proof, not a wrong file: their number was right.
  if (Result<std::vector<groth16::Proof>> proofs = groth16::decode_proofs(bytes)) {
    CUZK_TRY_ASSIGN(valid, groth16::verify_batch(groth16::prepare(std::move(vk)), inputs, *proofs, context.pool));
  } else {
    report["reason"] = proofs.error().message;
  }
  context.progress.end();
  report["valid"] = valid;
  report["seconds"] = rounded(watch.seconds());
  context.print(report);
  return valid ? 0 : 1;
}

}  // namespace cuzk::cli
