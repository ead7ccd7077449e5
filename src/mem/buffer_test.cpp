#include "mem/buffer.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <numeric>

namespace cuzk::mem {
namespace {

constexpr uint64_t kLimit = uint64_t{1} << 40;

// Whether the page at this address is mapped, asked of the kernel.
bool mapped(const std::byte* address) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  unsigned char resident = 0;
  auto* start = reinterpret_cast<void*>(reinterpret_cast<size_t>(address) / page * page);
  return ::mincore(start, 1, &resident) == 0 || errno != ENOMEM;
}

class BufferOfSize : public ::testing::TestWithParam<size_t> {};

TEST_P(BufferOfSize, IsZeroedAlignedAndGivenBack) {
  const size_t size = GetParam();
  Budget budget({{"host", kLimit}});
  Ledger ledger({{"evaluations"}});
  const std::byte* inside = nullptr;
  {
    auto made = Buffer::make(std::move(*budget.reserve({0, size})), ledger.add(0, 0));
    ASSERT_TRUE(made);
    Buffer buffer = std::move(*made);
    ASSERT_EQ(buffer.bytes().size(), size);
    EXPECT_EQ(budget.usage()[0].reserved_bytes, size);
    EXPECT_EQ(ledger.lines()[0].bytes, size);
    const size_t alignment = size >= Buffer::kHugeBytes ? Buffer::kHugeBytes : 4096;
    EXPECT_EQ(reinterpret_cast<size_t>(buffer.bytes().data()) % alignment, 0u);
    EXPECT_TRUE(
        std::all_of(buffer.bytes().begin(), buffer.bytes().end(), [](std::byte b) { return b == std::byte{0}; }));
    const auto words = buffer.as<uint64_t>();
    EXPECT_EQ(words.size(), size / 8);
    std::iota(words.begin(), words.end(), 1);
    EXPECT_EQ(std::accumulate(words.begin(), words.end(), uint64_t{0}), words.size() * (words.size() + 1) / 2);
    if (size > 0) inside = buffer.bytes().data();
  }
  EXPECT_FALSE(inside != nullptr && mapped(inside));
  EXPECT_EQ(budget.usage()[0].reserved_bytes, 0u);
  EXPECT_TRUE(ledger.idle());
}

INSTANTIATE_TEST_SUITE_P(Sizes, BufferOfSize,
                         ::testing::Values(0, 1, 4095, 4096, 4097, Buffer::kHugeBytes - 1, Buffer::kHugeBytes,
                                           Buffer::kHugeBytes + 1, 3 * Buffer::kHugeBytes + 12345));

TEST(Buffer, ShrinksMemoryReservationAndLedgerTogether) {
  Budget budget({{"host", kLimit}});
  Ledger ledger({{"evaluations"}});
  auto buffer = Buffer::make(std::move(*budget.reserve({0, 3 * Buffer::kHugeBytes})), ledger.add(0, 0));
  ASSERT_TRUE(buffer);
  std::byte* begin = buffer->bytes().data();
  begin[4999] = std::byte{7};
  buffer->shrink_to(4 * Buffer::kHugeBytes);  // it has less
  EXPECT_EQ(buffer->bytes().size(), 3 * Buffer::kHugeBytes);
  buffer->shrink_to(5000);
  EXPECT_EQ(buffer->bytes().size(), 5000u);
  EXPECT_EQ(buffer->bytes()[4999], std::byte{7});
  EXPECT_TRUE(mapped(begin + 4096));
  EXPECT_FALSE(mapped(begin + 2 * 4096));
  EXPECT_EQ(budget.usage()[0].reserved_bytes, 5000u);
  EXPECT_EQ(ledger.lines()[0].bytes, 5000u);
  buffer->shrink_to(0);
  EXPECT_TRUE(buffer->bytes().empty());
  EXPECT_FALSE(mapped(begin));
  EXPECT_EQ(budget.usage()[0].reserved_bytes, 0u);
}

TEST(Buffer, SaysWhereThereIsNoAddressSpace) {
  Budget budget({{"host", UINT64_MAX}});
  for (const uint64_t size : {uint64_t{1} << 60, UINT64_MAX}) {
    const auto buffer = Buffer::make(std::move(*budget.reserve({0, size})));
    ASSERT_FALSE(buffer);
    EXPECT_EQ(buffer.error().code, Code::kResourceExhausted);
    EXPECT_EQ(budget.usage()[0].reserved_bytes, 0u);
  }
}

}  // namespace
}  // namespace cuzk::mem
