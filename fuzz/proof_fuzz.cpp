// Proofs: the encoding is unique, so what is read is written back byte for byte.
#include <algorithm>

#include "fuzz.h"
#include "groth16/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuzk;
  const auto proofs = groth16::decode_proofs({data, size});
  if (!proofs) return 0;
  Bytes written;
  for (const groth16::Proof& proof : *proofs) {
    const auto bytes = groth16::encode_proof(proof);
    written.insert(written.end(), bytes.begin(), bytes.end());
  }
  require(std::ranges::equal(written, ByteSpan(data, size)));
  return 0;
}
