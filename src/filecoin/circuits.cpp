#include "filecoin/circuits.h"

#include "filecoin/param_names.h"
#include "filecoin/porep_circuit.h"
#include "filecoin/post_circuit.h"
#include "filecoin/update_circuit.h"

namespace cuzk::filecoin {
namespace {

tl::unexpected<Error> unknown(std::string_view kind) {
  return fail(Code::kInvalidInput, "there is no circuit kind '{}'; there are porep, winning, window and update", kind);
}

}  // namespace

Result<r1cs::Circuit> compile_circuit(std::string_view kind, uint64_t sector_bytes) {
  if (kind == "porep") {
    CUZK_TRY_ASSIGN(PorepShape shape, porep_shape(sector_bytes));
    return compile_porep(shape);
  }
  if (kind == "winning" || kind == "window") {
    CUZK_TRY_ASSIGN(PostShape shape,
                    post_shape(kind == "winning" ? PostKind::kWinning : PostKind::kWindow, sector_bytes));
    return compile_post(shape);
  }
  if (kind == "update") {
    CUZK_TRY_ASSIGN(UpdateShape shape, update_shape(sector_bytes));
    return compile_update(shape);
  }
  return unknown(kind);
}

Result<std::string> parameter_name(std::string_view circuit_id) {
  const size_t dash = std::min(circuit_id.find('-'), circuit_id.size());
  const std::string_view kind = circuit_id.substr(0, dash);
  CUZK_TRY_ASSIGN(uint64_t sector_bytes, parse_size(circuit_id.substr(std::min(dash + 1, circuit_id.size()))));
  CUZK_TRY_ASSIGN(PorepShape sector, porep_shape(sector_bytes));
  if (kind == "porep") return porep_parameter_name(sector);
  if (kind == "update") return update_parameter_name(sector);
  if (kind != "winning" && kind != "window") return unknown(kind);
  CUZK_TRY_ASSIGN(PostShape shape,
                  post_shape(kind == "winning" ? PostKind::kWinning : PostKind::kWindow, sector_bytes));
  return post_parameter_name(sector, shape.challenges, shape.sectors);
}

std::string CircuitName::id() const { return fmt::format("{}-{}", kind, format_size(sector_bytes)); }

Result<CircuitName> parse_circuit_name(std::string_view name) {
  const size_t dash = std::min(name.rfind('-'), name.size());
  std::string kind(name.substr(0, dash)), size(name.substr(std::min(dash + 1, name.size())));
  if (kind == "wpost") kind = "window";
  if (kind == "snap") kind = "update";
  if (!size.empty() && std::string_view("kmg").find(size.back()) != std::string_view::npos) {
    size.back() = static_cast<char>(std::toupper(size.back()));
    size += "iB";
  }
  if (const auto bytes = parse_size(size)) {
    CircuitName out{std::move(kind), *bytes};
    if (parameter_name(out.id())) return out;
  }
  return fail(Code::kNotFound, "unknown circuit ID: {}", name);
}

}  // namespace cuzk::filecoin
