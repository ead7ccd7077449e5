#pragma once
// Inputs as files: a json text that says what is proved, and the vanilla proofs beside it. The form of the reference
// vectors.

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "field/text.h"

namespace cuzk::filecoin {

using Json = nlohmann::ordered_json;

// At most 64 MiB. kNotFound, kIo or kTooLarge.
Result<Bytes> read_input(const std::filesystem::path& path);
// The file of that name beside a json file; kInvalidInput where the name leads elsewhere.
Result<Bytes> read_beside(const std::filesystem::path& folder, const std::string& name);

// A field element that a request brings as bytes: exactly 32 of them, below r as a little-endian number. kInvalidInput.
Result<Bytes32> element_from(std::string_view name, ByteSpan bytes);

// Members of an object; kInvalidInput names the one that is missing or of another type.
Result<std::string> text_member(const Json& object, const char* name);
Result<Bytes32> hex_member(const Json& object, const char* name);
Result<uint64_t> size_member(const Json& object, const char* name);  // "32GiB"
Result<Json> list_member(const Json& object, const char* name);

// The values as the vectors write public inputs: big-endian hex without leading zeros.
Json short_hex(std::span<const Fr> values);

}  // namespace cuzk::filecoin
