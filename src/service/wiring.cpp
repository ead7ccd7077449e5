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
  const size_t dash = std::min(name.rfind('-'), name.size());
  std::string kind(name.substr(0, dash)), size(name.substr(std::min(dash + 1, name.size())));
  if (kind == "wpost") kind = "window";
  if (kind == "snap") kind = "update";
  if (!size.empty() && std::string_view("kmg").find(size.back()) != std::string_view::npos) {
    size.back() = static_cast<char>(std::toupper(size.back()));
    size += "iB";
  }
  const auto bytes = parse_size(size);
  if (bytes) {
    std::string id = fmt::format("{}-{}", kind, format_size(*bytes));
    if (filecoin::parameter_name(id))
      return NamedCircuit{std::move(id), [kind, bytes = *bytes] { return filecoin::compile_circuit(kind, bytes); }};
  }
  return fail(Code::kNotFound, "unknown circuit ID: {}", name);
}

Result<std::filesystem::path> locate_params(const Config& config, const std::string& circuit_id) {
  if (auto file = config.param_files.find(circuit_id); file != config.param_files.end()) return file->second;
  CUZK_TRY_ASSIGN(std::string name, filecoin::parameter_name(circuit_id));
  return config.param_cache / fmt::format("v28-{}.params", name);
}

}  // namespace cuzk::service
