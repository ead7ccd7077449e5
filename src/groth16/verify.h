#pragma once
// Proofs, their 192 bytes, and verification (Groth 2016, section 3.2; filecoin-spec F.2, F.4).

#include <array>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "curve/pairing.h"
#include "exec/pool.h"
#include "groth16/keys.h"

namespace cuzk::groth16 {

struct Proof {
  G1Affine a;
  G2Affine b;
  G1Affine c;

  bool operator==(const Proof&) const = default;
};

inline constexpr size_t kProofBytes = 192;

// A, B, C compressed.
std::array<uint8_t, kProofBytes> encode_proof(const Proof& proof);
// Exactly 192 bytes; every point on the curve, in the subgroup, not infinity. kInvalidInput names the point and the
// fault.
Result<Proof> decode_proof(ByteSpan bytes);
// A whole number of proofs, at least one: a multi-partition proof is their concatenation.
Result<std::vector<Proof>> decode_proofs(ByteSpan bytes);

// A verifying key and what every verification needs of it.
struct PreparedVerifyingKey {
  VerifyingKey vk;
  Fp12 alpha_beta;  // e(alpha, beta)
};
PreparedVerifyingKey prepare(VerifyingKey vk);

// Whether e(A, B) = e(alpha, beta) e(ic_0 + sum x_i ic_i, gamma) e(C, delta). `public_inputs` are without ONE; another
// number of them than the key has is kInvalidInput. Points of `proof` must be in the subgroup, as decode_proof()
// ensures.
Result<bool> verify(const PreparedVerifyingKey& key, std::span<const Fr> public_inputs, const Proof& proof,
                    exec::Pool& pool);
// The same in a workspace of verify_bytes(public_inputs.size(), pool.threads()), else kResourceExhausted.
Result<bool> verify(const PreparedVerifyingKey& key, std::span<const Fr> public_inputs, const Proof& proof,
                    std::span<std::byte> workspace, exec::Pool& pool);
uint64_t verify_bytes(size_t public_inputs, size_t threads);

// Whether all proofs hold, by one product of pairings with random 128-bit weights; a false proof passes with
// probability at most 2^-128. kIo where the system gives no randomness.
Result<bool> verify_batch(const PreparedVerifyingKey& key, std::span<const std::vector<Fr>> public_inputs,
                          std::span<const Proof> proofs, exec::Pool& pool);

}  // namespace cuzk::groth16
