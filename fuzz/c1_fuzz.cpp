// C1 input: whatever parses is written and read again as the same, and the native check survives it.
#include "exec/pool.h"
#include "filecoin/c1.h"
#include "filecoin/check.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuzk;
  static exec::Pool pool(1);
  const auto commit = filecoin::parse_c1({data, size});
  if (!commit) return 0;
  const auto form = commit->sector_number ? filecoin::C1Form::kWrapped : filecoin::C1Form::kBare;
  std::string text;
  const Status written = filecoin::write_c1(*commit, form, [&](std::string_view piece) -> Status {
    text += piece;
    return {};
  });
  require(written.has_value());
  const auto again = filecoin::parse_c1(as_bytes(text));
  require(again && *again == *commit);
  static_cast<void>(filecoin::check_vanilla(*commit, pool));
  return 0;
}
