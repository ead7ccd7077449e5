#include "filecoin/input_files.h"

#include <algorithm>
#include <fstream>

namespace cuzk::filecoin {
namespace {

constexpr uintmax_t kMaxFileBytes = uintmax_t{64} << 20;

}  // namespace

Result<Bytes> read_file(const std::filesystem::path& path) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return fail(Code::kNotFound, "'{}' cannot be read: {}", path.string(), error.message());
  if (size > kMaxFileBytes) {
    return fail(Code::kTooLarge, "'{}' has {} bytes, more than the limit of {}", path.string(), size, kMaxFileBytes);
  }
  Bytes bytes(size);
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size))) {
    return fail(Code::kIo, "'{}' cannot be read", path.string());
  }
  return bytes;
}

Status write_file(const std::filesystem::path& path, ByteSpan bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  return file ? Status() : fail(Code::kIo, "'{}' cannot be written", path.string());
}

Result<Bytes> read_beside(const std::filesystem::path& folder, const std::string& name) {
  if (std::filesystem::path(name).filename() != name) {
    return fail(Code::kInvalidInput, "'{}' is no file beside the json file", name);
  }
  return read_file(folder / name);
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
  for (const Fr& value : values) {
    Bytes32 bytes;
    value.to_bytes_be(bytes);
    const std::string digits = to_hex(bytes);
    out.push_back(digits.substr(std::min(digits.find_first_not_of('0'), digits.size() - 1)));
  }
  return out;
}

}  // namespace cuzk::filecoin
