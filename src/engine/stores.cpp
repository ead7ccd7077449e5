#include "engine/stores.h"

#include "base/log.h"
#include "groth16/files.h"
#include "r1cs/file.h"

namespace cuzk::engine {

Result<std::shared_ptr<const r1cs::Circuit>> CircuitStore::get(const groth16::CircuitSource& source) {
  return circuits_.get(source.circuit_id(), [&] { return make(source); });
}

Result<std::shared_ptr<const r1cs::Circuit>> CircuitStore::make(const groth16::CircuitSource& source) const {
  std::filesystem::path path = folder_ / (source.circuit_id() + ".circuit");
  if (!folder_.empty()) {
    Result<r1cs::Circuit> kept = r1cs::load(path);
    if (kept) return std::make_shared<const r1cs::Circuit>(std::move(*kept));
    if (kept.error().code != Code::kNotFound) log::warn("compiling again: {}", kept.error().message);
  }
  CUZK_TRY_ASSIGN(r1cs::Circuit circuit, source.compile());
  if (!folder_.empty()) {
    if (Status saved = r1cs::save(circuit, path); !saved)
      log::warn("the circuit is not kept: {}", saved.error().message);
  }
  return std::make_shared<const r1cs::Circuit>(std::move(circuit));
}

Result<std::shared_ptr<const Params>> ParamsStore::get(const std::string& circuit_id, const r1cs::Circuit& circuit) {
  return params_.get(circuit_id, [&]() -> Result<std::shared_ptr<const Params>> {
    CUZK_TRY_ASSIGN(std::filesystem::path path, locate_(circuit_id));
    CUZK_TRY_ASSIGN(groth16::LoadedParameters loaded,
                    groth16::load_params(path, groth16::lengths_of(circuit), {}, pool_));
    for (const std::string& warning : loaded.warnings) log::warn("{}: {}", path.string(), warning);
    groth16::PreparedVerifyingKey verifying = groth16::prepare(loaded.parameters.vk);
    return std::make_shared<const Params>(Params{std::move(loaded.parameters), std::move(verifying)});
  });
}

std::vector<ParamsStore::Loaded> ParamsStore::loaded() const {
  std::vector<Loaded> list;
  for (const auto& [circuit_id, params, users] : params_.entries()) {
    list.push_back({circuit_id, groth16::lengths_of(params->proving).native_bytes(), static_cast<uint32_t>(users)});
  }
  return list;
}

}  // namespace cuzk::engine
