#pragma once
// Where proofs are made. A back end starts a partition, which may need a device, and finishes it, which does not (D8).

#include <memory>

#include "base/result.h"
#include "exec/pool.h"
#include "groth16/keys.h"
#include "groth16/prove.h"
#include "r1cs/witness.h"

namespace cuzk::engine {

// Parameters ready to prove and to verify with.
struct Params {
  groth16::Parameters proving;
  groth16::PreparedVerifyingKey verifying;
};

// A circuit and its parameters, kept in memory while anyone holds this.
struct Setting {
  std::shared_ptr<const r1cs::Circuit> circuit;
  std::shared_ptr<const Params> params;
};

// A proof under way. It owns all it needs.
class Pending {
 public:
  virtual ~Pending() = default;
  // Called once.
  virtual Result<groth16::Proof> finish() = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  // May be called from several threads.
  virtual Result<std::unique_ptr<Pending>> start(const Setting& setting, r1cs::Witness witness) = 0;
};

// Proves on the processor. `pool` outlives the back end.
std::unique_ptr<Backend> make_cpu_backend(exec::Pool& pool);

}  // namespace cuzk::engine
