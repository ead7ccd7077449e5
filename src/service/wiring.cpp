#include "service/wiring.h"

#include "filecoin/param_names.h"
#include "filecoin/porep_source.h"

namespace cuzk::service {

std::string_view kind_name(ProofKind kind) {
  switch (kind) {
    case ProofKind::kPorep: return "porep-c2";
    case ProofKind::kUpdate: return "snap-update";
    case ProofKind::kWindowPost: return "window-post";
    case ProofKind::kWinningPost: return "winning-post";
  }
  return "unknown";
}

MakeSource filecoin_sources(exec::Pool& pool) {
  return [&pool](const Payload& payload) -> Result<std::shared_ptr<const groth16::CircuitSource>> {
    if (payload.kind != ProofKind::kPorep) {
      return fail(Code::kUnimplemented, "proofs of kind {} are not built yet", kind_name(payload.kind));
    }
    auto source = filecoin::make_porep_source(payload.vanilla_proof, pool);
    if (source) return source;
    bool untrue = source.error().code == Code::kUnsatisfied;
    return tl::unexpected(std::move(source).error().within(untrue ? "C1 check failed" : "C1 parse failed"));
  };
}

Result<std::filesystem::path> locate_params(const Config& config, const std::string& circuit_id) {
  if (auto file = config.param_files.find(circuit_id); file != config.param_files.end()) return file->second;
  constexpr std::string_view kPorep = "porep-";
  if (!circuit_id.starts_with(kPorep))
    return fail(Code::kNotFound, "no parameter file is known for circuit '{}'", circuit_id);
  CUZK_TRY_ASSIGN(uint64_t sector_bytes, parse_size(circuit_id.substr(kPorep.size())));
  CUZK_TRY_ASSIGN(filecoin::PorepShape shape, filecoin::porep_shape(sector_bytes));
  return config.param_cache / fmt::format("v28-{}.params", filecoin::porep_parameter_name(shape));
}

}  // namespace cuzk::service
