#pragma once
// A proof whose sums are known: what is left is to blind and assemble them, on the processor.

#include "engine/backend.h"
#include "groth16/random.h"

namespace cuzk::engine {

class SumsPending final : public Pending {
 public:
  SumsPending(const groth16::Pending& sums, std::shared_ptr<const Params> params)
      : sums_(sums), params_(std::move(params)) {}

  Result<groth16::Proof> finish() override {
    CUZK_TRY_ASSIGN(groth16::Blinding blinding, groth16::random_blinding());
    return groth16::finish(sums_, params_->verifying.vk, blinding.r, blinding.s);
  }

 private:
  groth16::Pending sums_;
  std::shared_ptr<const Params> params_;
};

}  // namespace cuzk::engine
