#include "mem/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>

#include "base/testing.h"

namespace cuzk::mem {
namespace {

namespace fs = std::filesystem;

class MappedFileTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path write(std::string_view name, ByteSpan bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << as_text(bytes);
    return folder_ / name;
  }
  fs::path folder_ = fs::path(::testing::TempDir()) / fmt::format("cuzk_mapped_file_{}", testing::rng()());
};

TEST_F(MappedFileTest, ShowsTheBytes) {
  auto random = testing::rng(3);
  for (const size_t size : {0, 1, 4095, 4096, 4097, 100000}) {
    Bytes bytes(size);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    const auto file = MappedFile::open(write("file", bytes));
    ASSERT_TRUE(file);
    EXPECT_EQ(Bytes(file->bytes().begin(), file->bytes().end()), bytes);
    for (const auto advice : {MappedFile::Advice::kNormal, MappedFile::Advice::kSequential, MappedFile::Advice::kRandom,
                              MappedFile::Advice::kWillNeed}) {
      file->advise(advice);
      file->advise(advice, size / 2, SIZE_MAX);
      file->advise(advice, SIZE_MAX, 1);
    }
  }
}

TEST_F(MappedFileTest, KeepsTheBytesWhenMovedAndWhenReplaced) {
  const fs::path path = write("file", as_bytes("old"));
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file);
  fs::rename(write("new", as_bytes("newer")), path);
  MappedFile moved = std::move(*file);
  EXPECT_TRUE(file->bytes().empty());
  EXPECT_EQ(as_text(moved.bytes()), "old");
  moved = std::move(*MappedFile::open(path));
  EXPECT_EQ(as_text(moved.bytes()), "newer");
}

TEST_F(MappedFileTest, KnowsWhenTheFileChanged) {
  const fs::path path = write("file", as_bytes("x"));
  const auto time =
      std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::nanoseconds(1'600'000'000'123'456'789));
  fs::last_write_time(path, std::chrono::file_clock::from_sys(time));
  EXPECT_EQ(MappedFile::open(path)->modified_ns(), 1'600'000'000'123'456'789);
}

TEST_F(MappedFileTest, NamesWhatItCannotOpen) {
  const auto code = [](const fs::path& path) { return MappedFile::open(path).error().code; };
  EXPECT_EQ(code(folder_ / "absent"), Code::kNotFound);
  EXPECT_EQ(code(write("file", as_bytes("x")) / "below"), Code::kNotFound);
  EXPECT_EQ(code(folder_), Code::kInvalidInput);
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(code(folder_ / "fifo"), Code::kInvalidInput);  // and it does not wait for a writer
  EXPECT_NE(MappedFile::open(folder_ / "absent").error().message.find("absent"), std::string::npos);
}

}  // namespace
}  // namespace cuzk::mem
