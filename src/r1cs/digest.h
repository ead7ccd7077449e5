#pragma once
// Digests of circuits and witnesses, over the expanded rows. They are what shows that a compiled circuit is the
// official one.

#include <functional>

#include "base/bytes.h"
#include "r1cs/witness.h"

namespace cuzk::r1cs {

// After `constraints` rows: so many inputs (with ONE) and auxiliary variables had been allocated, as far as rows tell,
// and the SHA-256 of the stream so far.
struct CircuitDigest {
  uint32_t num_inputs, num_aux, num_constraints;
  uint64_t nnz_a, nnz_b, nnz_c;  // non-zero terms, without the appended input rows
  uint64_t a_aux, b_aux, b_inputs;
  Bytes32 sha256;   // canonical stream: per row and matrix u32 term count, then u32 variable and 32-byte LE coefficient
  Bytes32 blake2s;  // filecoin-spec H.1
};

// Called with the number of rows hashed and the digest of the canonical stream so far.
using Checkpoint = std::function<void(uint32_t rows, const Bytes32& sha256)>;

// `checkpoint`, where given, is called at each multiple of `every` rows. Uses two threads of the pool, one a hash.
CircuitDigest digest(const Circuit& circuit, exec::Pool& pool, uint32_t every = 0, const Checkpoint& checkpoint = {});

// SHA-256 over 32-byte little-endian values: the auxiliary variables, and one value a constraint for each of a, b and c
// (appended input rows left out); and whether every row holds. Streams: memory beyond the witness is a few MiB.
struct WitnessDigest {
  Bytes32 aux, a, b, c;
  uint32_t first_unsatisfied;  // num_constraints where every row holds
};
WitnessDigest digest(const WitnessView& view, exec::Pool& pool);

}  // namespace cuzk::r1cs
