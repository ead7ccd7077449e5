#pragma once
// PoSts of made-up sectors.

#include "filecoin/post_input.h"

namespace cuzk::filecoin {

// Vanilla proofs that pass check_post and satisfy the circuit, of so many sectors, at any size; equal arguments give
// equal proofs. As with synthetic_porep, only what the challenges open exists, everything else is one random value a
// subtree. kInvalidInput where a Winning proof is to be of another number than 1, or there is no sector at all.
Result<PostInput> synthetic_post(const RegisteredPost& proof, size_t sectors, uint64_t seed, exec::Pool& pool);

}  // namespace cuzk::filecoin
