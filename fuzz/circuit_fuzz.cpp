// Circuit files: with a right checksum in place of the last 32 bytes, so that the fuzzer reaches what lies behind it.
// What is accepted is written back byte for byte, and every row can be expanded.
#include <algorithm>

#include "fuzz.h"
#include "hash/sha256.h"
#include "r1cs/file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuzk;
  static_cast<void>(r1cs::deserialise({data, size}));
  Bytes file(data, data + size - std::min<size_t>(size, 32));
  const Bytes32 checksum = hash::sha256(file);
  file.insert(file.end(), checksum.begin(), checksum.end());
  const auto circuit = r1cs::deserialise(file);
  if (!circuit) return 0;
  require(r1cs::serialise(*circuit) == file);
  uint32_t rows = 0;
  const uint32_t few = std::min(circuit->num_constraints, 1000u);  // instances may repeat a template for ever
  circuit->for_each_row(0, few, [&](uint32_t, const r1cs::Row&) { rows++; });
  require(rows == few);
  return 0;
}
