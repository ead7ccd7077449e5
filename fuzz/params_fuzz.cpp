// Parameter files: lengths are believed only as far as the file goes, and points only when they are checked.
#include "fuzz.h"
#include "groth16/files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuzk;
  static exec::Pool pool(1);
  const ByteSpan file(data, size);
  const auto layout = groth16::params_layout(file, std::nullopt);
  if (!layout) return 0;
  const auto decode = [&](groth16::Check check) {
    return groth16::decode_params(file, *layout, check, mem::unbudgeted(UINT64_MAX), pool);
  };
  const auto parameters = decode(groth16::Check::kCanonical);
  if (!parameters) return 0;
  require(groth16::lengths_of(*parameters) == layout->lengths());
  static_cast<void>(decode(groth16::Check::kFull));
  return 0;
}
