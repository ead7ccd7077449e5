// Verifying keys: the encoding is unique, so what is read is written back byte for byte.
#include <algorithm>

#include "fuzz.h"
#include "groth16/files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuzk;
  const auto vk = groth16::decode_vk({data, size});
  if (vk) require(std::ranges::equal(groth16::encode_vk(*vk), ByteSpan(data, size)));
  return 0;
}
