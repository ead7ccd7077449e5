#include "field/text.h"

#include <algorithm>

#include "base/bytes.h"

namespace cuzk {

std::string fr_to_hex(const Fr& value) {
  Bytes32 bytes;
  value.to_bytes_be(bytes);
  const std::string digits = to_hex(bytes);
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size() - 1));
}

Result<Fr> fr_from_hex(std::string_view digits) {
  if (digits.empty() || digits.size() > 64) return fail(Code::kInvalidInput, "it is not 1 to 64 hex digits");
  CUZK_TRY_ASSIGN(const Bytes32 bytes, bytes32_from_hex(std::string(64 - digits.size(), '0').append(digits)));
  const std::optional<Fr> value = Fr::from_bytes_be(bytes);
  if (!value) return fail(Code::kInvalidInput, "it is not below r");
  return *value;
}

}  // namespace cuzk
