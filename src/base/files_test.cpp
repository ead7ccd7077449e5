#include "base/files.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace cuzk {
namespace {

struct Folder {
  Folder() : path(std::filesystem::temp_directory_path() / fmt::format("cuzk-files-{}", ::getpid())) {
    std::filesystem::create_directory(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

TEST(Files, ReadBackWhatWasWritten) {
  Folder folder;
  for (size_t size : {0, 1, 4095, 4097}) {
    Bytes bytes(size);
    for (size_t i = 0; i < size; i++) bytes[i] = static_cast<uint8_t>(i * 7);
    ASSERT_TRUE(write_file(folder.path / "file", bytes));  // replaces the one before
    EXPECT_EQ(read_file(folder.path / "file").value(), bytes);
    EXPECT_EQ(read_file(folder.path / "file", size).value(), bytes);
    if (size > 0) {
      EXPECT_EQ(read_file(folder.path / "file", size - 1).error().code, Code::kTooLarge);
    }
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path), {}), 1) << "a temporary file was left";
}

TEST(Files, RefusalsAreNamed) {
  Folder folder;
  EXPECT_EQ(read_file(folder.path / "missing").error().code, Code::kNotFound);
  EXPECT_EQ(read_file(folder.path).error().code, Code::kIo);
  EXPECT_EQ(write_file(folder.path / "no" / "folder", {}).error().code, Code::kIo);
  std::filesystem::create_directory(folder.path / "taken");
  EXPECT_EQ(write_file(folder.path / "taken", {}).error().code, Code::kIo);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path), {}), 1) << "a temporary file was left";
}

}  // namespace
}  // namespace cuzk
