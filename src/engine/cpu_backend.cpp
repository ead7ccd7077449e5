#include "base/log.h"
#include "engine/backend.h"
#include "groth16/files.h"
#include "groth16/random.h"
#include "r1cs/bitmap.h"

namespace cuzk::engine {

uint64_t witness_bytes(const r1cs::Circuit& circuit) {
  return (circuit.num_inputs + r1cs::count_bits(circuit.aux_is_field)) * sizeof(Fr) +
         circuit.aux_is_field.size() * sizeof(uint64_t);
}

namespace {

struct CpuParams final : Params {
  groth16::Parameters proving;
  Memory memory;
};

class CpuPending final : public Pending {
 public:
  CpuPending(groth16::Pending sums, std::shared_ptr<const Params> params) : sums_(sums), params_(std::move(params)) {}

  Result<groth16::Proof> finish() override {
    CUZK_TRY_ASSIGN(groth16::Blinding blinding, groth16::random_blinding());
    return groth16::finish(sums_, static_cast<const CpuParams&>(*params_).proving.vk, blinding.r, blinding.s);
  }

 private:
  groth16::Pending sums_;
  std::shared_ptr<const Params> params_;
};

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(exec::Pool& pool) : pool_(pool) {}

  Needs needs(const r1cs::Circuit& circuit) const override {
    return {.params = {groth16::lengths_of(circuit).native_bytes(), 0},
            .start = {groth16::start_bytes(circuit, pool_.threads()), 0},
            .pending = {sizeof(CpuPending), 0}};
  }

  Result<std::shared_ptr<const Params>> load(const std::filesystem::path& path, const r1cs::Circuit& circuit,
                                             Memory memory) override {
    CUZK_TRY_ASSIGN(groth16::LoadedParameters loaded,
                    groth16::load_params(path, groth16::lengths_of(circuit), {}, pool_));
    for (const std::string& warning : loaded.warnings) log::warn("{}: {}", path.string(), warning);
    auto params = std::make_shared<CpuParams>();
    params->verifying = groth16::prepare(loaded.parameters.vk);
    params->proving = std::move(loaded.parameters);
    params->memory = std::move(memory);
    return params;
  }

  Result<std::unique_ptr<Pending>> start(const Setting& setting, r1cs::Witness witness, Memory) override {
    const auto& params = static_cast<const CpuParams&>(*setting.params);
    CUZK_TRY_ASSIGN(groth16::Pending sums, groth16::start(*setting.circuit, params.proving, witness, pool_));
    return std::make_unique<CpuPending>(sums, setting.params);
  }

 private:
  exec::Pool& pool_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(exec::Pool& pool) { return std::make_unique<CpuBackend>(pool); }

}  // namespace cuzk::engine
