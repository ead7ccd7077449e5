#include "service/wiring.h"

#include "filecoin/circuits.h"

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
  return [&pool](const Payload& payload) { return filecoin::make_source(payload, pool); };
}

Result<NamedCircuit> find_circuit(std::string_view name) {
  CUZK_TRY_ASSIGN(const filecoin::CircuitName circuit, filecoin::parse_circuit_name(name));
  return NamedCircuit{circuit.id(),
                      [circuit] { return filecoin::compile_circuit(circuit.kind, circuit.sector_bytes); }};
}

Result<std::filesystem::path> locate_params(const Config& config, const std::string& circuit_id) {
  if (auto file = config.param_files.find(circuit_id); file != config.param_files.end()) return file->second;
  CUZK_TRY_ASSIGN(std::string name, filecoin::parameter_name(circuit_id));
  return config.param_cache / fmt::format("v28-{}.params", name);
}

}  // namespace cuzk::service
