#include "base/bytes.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include "base/testing.h"

namespace cuzk {
namespace {

Bytes random_bytes(std::mt19937_64& random, size_t size) {
  Bytes bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

TEST(Hex, AgreesWithPrintf) {
  auto random = testing::rng(1);
  for (size_t size = 0; size < 70; size++) {
    const Bytes bytes = random_bytes(random, size);
    std::string expected, upper;
    for (uint8_t byte : bytes) {
      char digits[3];
      std::snprintf(digits, sizeof digits, "%02x", byte);
      expected += digits;
      std::snprintf(digits, sizeof digits, "%02X", byte);
      upper += digits;
    }
    EXPECT_EQ(to_hex(bytes), expected);
    EXPECT_EQ(*from_hex(expected), bytes);
    EXPECT_EQ(*from_hex(upper), bytes);
    EXPECT_EQ(bytes32_from_hex(expected).has_value(), size == 32);
  }
}

TEST(Hex, RefusesEveryOtherCharacter) {
  for (int c = 0; c < 256; c++) {
    const std::string text = {'0', static_cast<char>(c)};
    EXPECT_EQ(from_hex(text).has_value(), std::isxdigit(c) != 0) << c;
  }
  EXPECT_EQ(from_hex("abc").error().code, Code::kInvalidInput);
  EXPECT_NE(from_hex("00x0").error().message.find("offset 2"), std::string::npos);
  EXPECT_EQ(bytes32_from_hex(std::string(66, '0')).error().code, Code::kInvalidInput);
}

TEST(Base64, Rfc4648Section10) {
  const std::pair<std::string_view, std::string_view> cases[] = {{"", ""},
                                                                 {"f", "Zg=="},
                                                                 {"fo", "Zm8="},
                                                                 {"foo", "Zm9v"},
                                                                 {"foob", "Zm9vYg=="},
                                                                 {"fooba", "Zm9vYmE="},
                                                                 {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, encoded] : cases) {
    EXPECT_EQ(to_base64(as_bytes(plain)), encoded);
    EXPECT_EQ(as_text(*from_base64(encoded)), plain);
  }
}

TEST(Base64, AgreesWithOpenSsl) {
  auto random = testing::rng(2);
  for (size_t size = 0; size < 200; size++) {
    const Bytes bytes = random_bytes(random, size);
    std::string expected(4 * (size / 3 + 1) + 1, '\0');
    const int length =
        EVP_EncodeBlock(reinterpret_cast<unsigned char*>(expected.data()), bytes.data(), static_cast<int>(size));
    expected.resize(static_cast<size_t>(length));
    EXPECT_EQ(to_base64(bytes), expected);
    EXPECT_EQ(*from_base64(expected), bytes);
  }
}

TEST(Base64, NamesTheFirstBadCharacter) {
  const std::string good = "Zm9vYmFyZm9v";
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t offset = 0; offset < good.size(); offset++) {
    for (int c = 0; c < 256; c++) {
      std::string text = good;
      text[offset] = static_cast<char>(c);
      const bool padding = offset + 1 == good.size() && c == '=';
      const auto decoded = from_base64(text);
      EXPECT_EQ(decoded.has_value(), padding || alphabet.find(text[offset]) != std::string_view::npos);
      if (!decoded) {
        EXPECT_EQ(decoded.error().code, Code::kInvalidInput);
        EXPECT_NE(decoded.error().message.find(fmt::format("offset {}", offset)), std::string::npos);
      }
    }
  }
  for (const std::string_view text : {"Z", "Zg", "Zg=", "=", "====", "Z===", "Zg==Zg==", "Zg=v"}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
}

TEST(Size, ReadsAndWritesExactly) {
  const std::pair<std::string_view, uint64_t> cases[] = {{"0", 0},
                                                         {"1", 1},
                                                         {"2048", 2048},
                                                         {"100B", 100},
                                                         {"2KiB", 2048},
                                                         {"8MiB", 8388608},
                                                         {"32GiB", 34359738368},
                                                         {"3TiB", 3298534883328},
                                                         {"18446744073709551615", UINT64_MAX}};
  for (const auto& [text, value] : cases) EXPECT_EQ(*parse_size(text), value) << text;
  const std::pair<uint64_t, std::string_view> written[] = {{0, "0B"},          {100, "100B"},
                                                           {2048, "2KiB"},     {2049, "2049B"},
                                                           {1 << 20, "1MiB"},  {uint64_t{1} << 35, "32GiB"},
                                                           {3u << 10, "3KiB"}, {UINT64_MAX, "18446744073709551615B"}};
  for (const auto& [value, text] : written) EXPECT_EQ(format_size(value), text);
  auto random = testing::rng(3);
  for (int i = 0; i < 1000; i++) {
    const uint64_t value = random() >> random() % 64 << random() % 40;
    EXPECT_EQ(*parse_size(format_size(value)), value);
  }
}

TEST(Size, RefusesWhatIsNotOne) {
  for (const std::string_view text : {"", "KiB", "1.5MiB", "-1", "+1", " 1", "1 KiB", "1kib", "1KB", "1K", "1KiBx",
                                      "18446744073709551616", "18014398509481984KiB", "16777216TiB", "0x10"}) {
    const auto size = parse_size(text);
    ASSERT_FALSE(size) << text;
    EXPECT_EQ(size.error().code, Code::kUsage);
  }
}

TEST(Endian, AgreesWithShifts) {
  auto random = testing::rng(4);
  for (int i = 0; i < 100; i++) {
    const uint64_t value = random();
    uint8_t little[8], big[8];
    store_le(little, value);
    store_be(big, value);
    for (int byte = 0; byte < 8; byte++) {
      EXPECT_EQ(little[byte], value >> (8 * byte) & 255);
      EXPECT_EQ(big[7 - byte], little[byte]);
    }
    EXPECT_EQ(load_le<uint64_t>(little), value);
    EXPECT_EQ(load_be<uint64_t>(big), value);
    EXPECT_EQ(load_le<uint32_t>(little), static_cast<uint32_t>(value));
    EXPECT_EQ(load_be<uint16_t>(big), value >> 48);
    EXPECT_EQ(load_be<uint8_t>(big), value >> 56);
  }
}

}  // namespace
}  // namespace cuzk
