#pragma once
// Scalars as the reference vectors and the tools write them: big-endian hex without leading zeros, "0" for zero.

#include <string>
#include <string_view>

#include "base/result.h"
#include "field/fields.h"

namespace cuzk {

std::string fr_to_hex(const Fr& value);
// 1 to 64 digits of a number below r; kInvalidInput says what is wrong.
Result<Fr> fr_from_hex(std::string_view digits);

}  // namespace cuzk
