#pragma once
// The prover (Groth 2016, section 3.2, Prove; filecoin-spec F.3), on the CPU.
//
// It verifies nothing: whoever asked for a proof verifies it (decision D9) and, where it does not hold, names the
// broken constraint with explain_failure(). c is taken as a * b on the domain (decision D3), so a witness that breaks a
// constraint gives a proof that does not verify, not an error here.

#include "base/result.h"
#include "exec/pool.h"
#include "groth16/keys.h"
#include "groth16/random.h"
#include "groth16/verify.h"
#include "mem/buffer.h"
#include "r1cs/witness.h"

namespace cuzk::groth16 {

// Wall-clock seconds of the steps.
struct ProveTimes {
  double evaluate = 0, quotient = 0, split = 0, h = 0, l = 0, a = 0, b_g1 = 0, b_g2 = 0, assemble = 0;

  double total() const { return evaluate + quotient + split + h + l + a + b_g1 + b_g2 + assemble; }
};

// The five sums over the key, all that depends on the witness (decision D8).
struct Pending {
  G1 h, l, a, b_g1;
  G2 b_g2;
};

// The workspace of start(): two vectors over the domain, which sums over many points make do with as well.
uint64_t start_bytes(const r1cs::Circuit& circuit, size_t threads);

// kInvalidParams where the parameters are of another circuit, kInvalidInput where the witness is, kResourceExhausted
// where the workspace is less than start_bytes(circuit, pool.threads()).
Result<Pending> start(const r1cs::Circuit& circuit, const Parameters& parameters, const r1cs::Assignment& witness,
                      std::span<std::byte> workspace, exec::Pool& pool, ProveTimes* times = nullptr);
// Blinds and assembles; r and s must be fresh random values (random_blinding()) or the proof tells of its witness.
// kInvalidParams where delta is the identity.
Result<Proof> finish(const Pending& pending, const VerifyingKey& vk, const Fr& r, const Fr& s,
                     ProveTimes* times = nullptr);

// start() and finish(), with `memory` of start_bytes() for the workspace.
Result<Proof> prove(const r1cs::Circuit& circuit, const Parameters& parameters, const r1cs::Assignment& witness,
                    const Fr& r, const Fr& s, mem::Reservation memory, exec::Pool& pool, ProveTimes* times = nullptr);

// Why a proof from prove() does not verify: kUnsatisfied with the row, or kVerifyFailed where every row holds, so that
// the parameters, the public inputs or the machine are to blame.
Error explain_failure(const r1cs::Circuit& circuit, const r1cs::Assignment& witness, exec::Pool& pool);

}  // namespace cuzk::groth16
