#include "filecoin/input_files.h"

#include <algorithm>

namespace cuzk::filecoin {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{64} << 20;

}  // namespace

Result<Bytes> read_input(const std::filesystem::path& path) { return read_file(path, kMaxFileBytes); }

Result<Bytes> read_beside(const std::filesystem::path& folder, const std::string& name) {
  if (std::filesystem::path(name).filename() != name) {
    return fail(Code::kInvalidInput, "'{}' is no file beside the json file", name);
  }
  return read_input(folder / name);
}

Result<Bytes32> element_from(std::string_view name, ByteSpan bytes) {
  Bytes32 out;
  if (bytes.size() != out.size()) {
    return fail(Code::kInvalidInput, "{} must be exactly 32 bytes, got {}", name, bytes.size());
  }
  std::ranges::copy(bytes, out.begin());
  if (!Fr::from_bytes_le(out)) return fail(Code::kInvalidInput, "{} is not below the field order", name);
  return out;
}

Result<std::string> text_member(const Json& object, const char* name) {
  if (!object.is_object()) return fail(Code::kInvalidInput, "no json object is there to hold '{}'", name);
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return fail(Code::kInvalidInput, "'{}' is no text", name);
  return found->get<std::string>();
}

Result<Bytes32> hex_member(const Json& object, const char* name) {
  CUZK_TRY_ASSIGN(const std::string hex, text_member(object, name));
  auto bytes = from_hex(hex);
  if (!bytes) return tl::unexpected<Error>(std::move(bytes).error().within(name));
  return element_from(name, *bytes);
}

Result<uint64_t> size_member(const Json& object, const char* name) {
  CUZK_TRY_ASSIGN(const std::string size, text_member(object, name));
  return parse_size(size);
}

Result<Json> list_member(const Json& object, const char* name) {
  if (!object.is_object()) return fail(Code::kInvalidInput, "no json object is there to hold '{}'", name);
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array()) return fail(Code::kInvalidInput, "'{}' is no list", name);
  return *found;
}

Json short_hex(std::span<const Fr> values) {
  Json out = Json::array();
  for (const Fr& value : values) out.push_back(fr_to_hex(value));
  return out;
}

}  // namespace cuzk::filecoin
