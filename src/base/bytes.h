#pragma once
// Byte spans, fixed 32-byte values, hex, base64 and endian helpers.

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cuzk {

using Bytes = std::vector<uint8_t>;
using ByteSpan = std::span<const uint8_t>;
using Bytes32 = std::array<uint8_t, 32>;

// Lower-case hex of the bytes in order.
std::string to_hex(ByteSpan bytes);
// Bytes in order of an even number of hex digits; kInvalidInput otherwise.
Result<Bytes> from_hex(std::string_view hex);
// Exactly 32 bytes of hex, in byte order.
Result<Bytes32> bytes32_from_hex(std::string_view hex);
// Standard base64 with padding (RFC 4648 section 4); kInvalidInput names the offset of the first bad character.
Result<Bytes> from_base64(std::string_view text);
// The same into memory of the caller's, exactly base64_size(text) bytes; for texts too large to copy once more.
size_t base64_size(std::string_view text);
Status from_base64(std::string_view text, std::span<uint8_t> out);
std::string to_base64(ByteSpan bytes);

// "2KiB", "32GiB", "1.5MiB" is refused; a bare number is bytes.
Result<uint64_t> parse_size(std::string_view text);
// The shortest exact form: 2048 -> "2KiB", 100 -> "100B".
std::string format_size(uint64_t bytes);

inline ByteSpan as_bytes(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }
inline std::string_view as_text(ByteSpan bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

template <class T>
constexpr T load_le(const uint8_t* bytes) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); i++) value = static_cast<T>(value | (static_cast<T>(bytes[i]) << (8 * i)));
  return value;
}
template <class T>
constexpr void store_le(uint8_t* bytes, T value) {
  for (size_t i = 0; i < sizeof(T); i++) bytes[i] = static_cast<uint8_t>(value >> (8 * i));
}
template <class T>
constexpr T load_be(const uint8_t* bytes) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); i++) value = static_cast<T>((value << 7 << 1) | bytes[i]);
  return value;
}
template <class T>
constexpr void store_be(uint8_t* bytes, T value) {
  for (size_t i = 0; i < sizeof(T); i++) bytes[i] = static_cast<uint8_t>(value >> (8 * (sizeof(T) - 1 - i)));
}

}  // namespace cuzk
