// Partition proofs of sector updates: the first byte chooses the size; what is read is written as the same bytes, and
// the native check survives it.
#include <algorithm>

#include "exec/pool.h"
#include "filecoin/update_check.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuzk;
  static exec::Pool pool(1);
  if (size == 0) return 0;
  const filecoin::UpdateShape shape = filecoin::update_shape(data[0] & 1 ? 32768 : 2048).value();
  const ByteSpan bytes(data + 1, size - 1);
  auto proof = filecoin::read_update_proof(shape, bytes);
  if (!proof) return 0;
  const Bytes again = filecoin::write_update_proof(shape, *proof);
  require(again.size() <= bytes.size() && std::equal(again.begin(), again.end(), bytes.begin()));
  filecoin::SectorUpdate update{shape, {}, {}};
  update.partitions.resize(shape.partitions);
  update.partitions[0] = std::move(*proof);
  static_cast<void>(filecoin::check_update(update, pool));
  return 0;
}
