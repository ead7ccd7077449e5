#include "engine/backend.h"
#include "groth16/random.h"

namespace cuzk::engine {
namespace {

class CpuPending final : public Pending {
 public:
  CpuPending(groth16::Pending sums, std::shared_ptr<const Params> params) : sums_(sums), params_(std::move(params)) {}

  Result<groth16::Proof> finish() override {
    CUZK_TRY_ASSIGN(groth16::Blinding blinding, groth16::random_blinding());
    return groth16::finish(sums_, params_->proving.vk, blinding.r, blinding.s);
  }

 private:
  groth16::Pending sums_;
  std::shared_ptr<const Params> params_;
};

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(exec::Pool& pool) : pool_(pool) {}

  Result<std::unique_ptr<Pending>> start(const Setting& setting, r1cs::Witness witness) override {
    CUZK_TRY_ASSIGN(groth16::Pending sums, groth16::start(*setting.circuit, setting.params->proving, witness, pool_));
    return std::make_unique<CpuPending>(sums, setting.params);
  }

 private:
  exec::Pool& pool_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(exec::Pool& pool) { return std::make_unique<CpuBackend>(pool); }

}  // namespace cuzk::engine
