// PoSt vanilla proofs: the first byte chooses kind and size; what is read is written as the same bytes, and the native
// check survives it.
#include <algorithm>

#include "exec/pool.h"
#include "filecoin/post_vanilla.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuzk;
  using filecoin::PostKind;
  static exec::Pool pool(1);
  if (size == 0) return 0;
  const uint64_t sector_bytes = data[0] & 2 ? 32768 : 2048;
  const auto shape = filecoin::post_shape(data[0] & 1 ? PostKind::kWinning : PostKind::kWindow, sector_bytes).value();
  const ByteSpan bytes(data + 1, size - 1);
  const auto proof = filecoin::read_post_proof(bytes, shape);
  if (!proof) return 0;
  const Bytes again = filecoin::write_post_proof(*proof, shape);
  require(again.size() <= bytes.size() && std::equal(again.begin(), again.end(), bytes.begin()));
  const filecoin::PostStatement statement{{}, {{proof->sector_id, proof->comm_r}}};
  static_cast<void>(filecoin::check_post(shape, filecoin::ApiVersion::kV1_0, statement, {&*proof, 1}, pool));
  return 0;
}
