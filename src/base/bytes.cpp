#include "base/bytes.h"

#include <charconv>

namespace cuzk {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<int8_t, 256> kBase64Value = [] {
  std::array<int8_t, 256> table{};
  table.fill(-1);
  for (size_t i = 0; i < kBase64.size(); i++) table[static_cast<uint8_t>(kBase64[i])] = static_cast<int8_t>(i);
  return table;
}();

constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};

}  // namespace

std::string to_hex(ByteSpan bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (uint8_t byte : bytes) {
    hex.push_back(digits[byte >> 4]);
    hex.push_back(digits[byte & 15]);
  }
  return hex;
}

Result<Bytes> from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) return fail(Code::kInvalidInput, "hex text has an odd number of digits ({})", hex.size());
  Bytes bytes(hex.size() / 2);
  for (size_t i = 0; i < hex.size(); i++) {
    int digit = hex_digit(hex[i]);
    if (digit < 0) return fail(Code::kInvalidInput, "not a hex digit at offset {}", i);
    bytes[i / 2] = static_cast<uint8_t>(bytes[i / 2] << 4 | digit);
  }
  return bytes;
}

Result<Bytes32> bytes32_from_hex(std::string_view hex) {
  CUZK_TRY_ASSIGN(Bytes bytes, from_hex(hex));
  if (bytes.size() != 32) return fail(Code::kInvalidInput, "expected 32 bytes of hex, got {}", bytes.size());
  Bytes32 out;
  std::copy(bytes.begin(), bytes.end(), out.begin());
  return out;
}

size_t base64_size(std::string_view text) {
  size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  return text.size() / 4 * 3 - std::min(padding, text.size() / 4 * 3);
}

Status from_base64(std::string_view text, std::span<uint8_t> out) {
  if (text.size() % 4 != 0) return fail(Code::kInvalidInput, "base64 length {} is not a multiple of 4", text.size());
  if (out.size() != base64_size(text))
    return fail(Code::kInternal, "base64 of {} bytes decoded into {}", base64_size(text), out.size());
  size_t written = 0;
  for (size_t i = 0; i < text.size(); i += 4) {
    const size_t bytes = std::min<size_t>(3, out.size() - written);
    uint32_t group = 0;
    int all = 0;  // negative where one of the digits is
    for (size_t j = 0; j < 4; j++) {
      int value = j <= bytes ? kBase64Value[static_cast<uint8_t>(text[i + j])] : 0;
      all |= value;
      group = group << 6 | static_cast<uint32_t>(value);
    }
    if (all < 0) {
      while (kBase64Value[static_cast<uint8_t>(text[i])] >= 0) i++;
      return fail(Code::kInvalidInput, "not a base64 character at offset {}", i);
    }
    for (size_t j = 0; j < bytes; j++) out[written++] = static_cast<uint8_t>(group >> (16 - 8 * j));
  }
  return {};
}

Result<Bytes> from_base64(std::string_view text) {
  Bytes bytes(base64_size(text));
  CUZK_TRY(from_base64(text, bytes));
  return bytes;
}

std::string to_base64(ByteSpan bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; j++) group = group << 8 | (j < count ? bytes[i + j] : 0u);
    for (size_t j = 0; j < 4; j++) text.push_back(j <= count ? kBase64[group >> (18 - 6 * j) & 63] : '=');
  }
  return text;
}

Result<uint64_t> parse_size(std::string_view text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (error == std::errc{}) {
    if (unit.empty()) return value;
    for (size_t i = 0; i < kUnits.size(); i++) {
      if (unit == kUnits[i] && value <= UINT64_MAX >> (10 * i)) return value << (10 * i);
    }
  }
  return fail(Code::kUsage, "'{}' is not a size; write a whole number and B, KiB, MiB, GiB or TiB, such as 32GiB",
              text);
}

std::string format_size(uint64_t bytes) {
  size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    unit++;
  }
  return fmt::format("{}{}", bytes, kUnits[unit]);
}

}  // namespace cuzk
