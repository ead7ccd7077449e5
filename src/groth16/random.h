#pragma once
// Randomness of the operating system. There is no fallback: a proof without fresh randomness leaks its witness.

#include <span>

#include "base/result.h"
#include "field/fields.h"

namespace cuzk::groth16 {

// getrandom(2); kIo where the system refuses.
Status random_bytes(std::span<uint8_t> out);

// The two blinding values of one proof.
struct Blinding {
  Fr r, s;
};
Result<Blinding> random_blinding();

}  // namespace cuzk::groth16
