#pragma once
// Keys and proofs as snarkjs reads them (curve "bls12381"): coordinates in decimal, projective with a one.

#include <span>
#include <string>

#include "groth16/verify.h"

namespace cuzk::groth16 {

// verification_key.json, without the precomputed pairing, which snarkjs does not need to verify.
std::string snarkjs_vk(const VerifyingKey& vk);
// proof.json
std::string snarkjs_proof(const Proof& proof);
// public.json: the inputs without ONE.
std::string snarkjs_public(std::span<const Fr> public_inputs);

}  // namespace cuzk::groth16
