#include "base/log.h"
#include "engine/sums.h"
#include "groth16/files.h"
#include "mem/buffer.h"

namespace cuzk::engine {

namespace {

struct CpuParams final : Params {
  uint64_t mapped_bytes() const override { return mapped; }
  uint64_t host_bytes() const override { return mapped > 0 ? 0 : groth16::lengths_of(proving).native_bytes(); }

  groth16::Parameters proving;
  uint64_t mapped = 0;
};

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(exec::Pool& pool) : pool_(pool) {}

  Needs needs(const r1cs::Circuit& circuit) const override {
    return {.params = {load_bytes(circuit), 0},
            .start = {groth16::start_bytes(circuit, pool_.threads()), 0},
            .pending = {sizeof(SumsPending), 0}};
  }

  // Points that cannot be mapped are on the heap, too.
  Footprint params_needs(const r1cs::Circuit& circuit, const std::filesystem::path& path) const override {
    const uint64_t points = groth16::can_map_params(path) ? 0 : groth16::lengths_of(circuit).native_bytes();
    return {load_bytes(circuit) + points, 0};
  }

  Result<std::shared_ptr<const Params>> load(const std::filesystem::path& path, const r1cs::Circuit& circuit,
                                             Memory memory) override {
    CUZK_TRY_ASSIGN(
        groth16::LoadedParameters loaded,
        groth16::load_params(path, groth16::lengths_of(circuit), {.map = true}, std::move(memory.host), pool_));
    for (const std::string& warning : loaded.warnings) log::warn("{}: {}", path.string(), warning);
    auto params = std::make_shared<CpuParams>();
    params->verifying = groth16::prepare(loaded.parameters.vk);
    params->proving = std::move(loaded.parameters);
    params->mapped = loaded.mapped_bytes;
    return params;
  }

  Result<std::unique_ptr<Pending>> start(const Setting& setting, r1cs::Witness witness, Memory memory) override {
    const auto& params = static_cast<const CpuParams&>(*setting.params);
    CUZK_TRY_ASSIGN(const mem::Buffer workspace, mem::Buffer::make(std::move(memory.host)));
    CUZK_TRY_ASSIGN(const groth16::Pending sums,
                    groth16::start(*setting.circuit, params.proving, witness, workspace.bytes(), pool_));
    return std::make_unique<SumsPending>(sums, setting.params);
  }

 private:
  uint64_t load_bytes(const r1cs::Circuit& circuit) const {
    return groth16::load_bytes(groth16::lengths_of(circuit), pool_.threads());
  }

  exec::Pool& pool_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(exec::Pool& pool) { return std::make_unique<CpuBackend>(pool); }

}  // namespace cuzk::engine
