#include "groth16/native_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "base/allocation_testing.h"
#include "groth16/files.h"
#include "groth16/testing.h"

namespace cuzk::groth16 {
namespace {

using ::testing::HasSubstr;
using testing::read_file;
using testing::write_file;

void expect_equal(const Parameters& a, const Parameters& b) {
  EXPECT_EQ(a.vk, b.vk);
  EXPECT_EQ(a.h, b.h);
  EXPECT_EQ(a.l, b.l);
  EXPECT_EQ(a.a, b.a);
  EXPECT_EQ(a.b_g1, b.b_g1);
  EXPECT_EQ(a.b_g2, b.b_g2);
}

// A parameter file of its own for each test, and what it holds, read to the heap.
class NativeFile : public ::testing::Test {
 protected:
  void SetUp() override {
    write_file(path_, read_file(testing::data() / "odd/circuit.params"));
    on_heap_ = load_params(path_, std::nullopt, {.remember = false}, pool_).value().parameters;
  }
  Result<LoadedParameters> load(LoadOptions options = {.map = true}) {
    return load_params(path_, std::nullopt, options, pool_);
  }
  size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_ / ""), {}));
  }

  exec::Pool pool_{2};
  testing::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "x.params", native_ = native_path(path_);
  Parameters on_heap_;
};

TEST_F(NativeFile, IsMadeOnceAndMapped) {
  EXPECT_TRUE(can_map_params(path_));
  EXPECT_EQ(files(), 1u) << "asking leaves nothing";
  const auto first = load().value();
  EXPECT_EQ(first.mapped_bytes, lengths_of(on_heap_).native_bytes());
  EXPECT_TRUE(first.warnings.empty());
  expect_equal(first.parameters, on_heap_);
  EXPECT_EQ(files(), 3u);  // parameters, record, native

  const auto made = std::filesystem::last_write_time(native_);
  const auto second = load().value();
  EXPECT_TRUE(second.check_was_remembered);
  EXPECT_GT(second.mapped_bytes, 0u);
  expect_equal(second.parameters, on_heap_);
  EXPECT_EQ(std::filesystem::last_write_time(native_), made);

  // Points outlive the file, as others that are mapped do.
  std::filesystem::remove(native_);
  expect_equal(second.parameters, on_heap_);
  // It is made again without another check.
  const auto third = load().value();
  EXPECT_TRUE(third.check_was_remembered);
  expect_equal(third.parameters, on_heap_);
  EXPECT_TRUE(std::filesystem::exists(native_));
}

TEST_F(NativeFile, CountsForNothingWithoutARecord) {
  load().value();
  std::filesystem::remove(checked_record_path(path_));
  const auto made = std::filesystem::last_write_time(native_);
  EXPECT_FALSE(load()->check_was_remembered);
  EXPECT_NE(std::filesystem::last_write_time(native_), made);
  // Without a record to come, there is no native file either.
  std::filesystem::remove(native_);
  EXPECT_EQ(load({.remember = false, .map = true})->mapped_bytes, 0u);
  EXPECT_EQ(load({.check = Check::kCanonical, .map = true})->mapped_bytes, 0u);
  EXPECT_EQ(load({})->mapped_bytes, 0u);
  EXPECT_FALSE(std::filesystem::exists(native_));
}

TEST_F(NativeFile, Case59_DamageAndTruncationAreSeenAndRepaired) {
  load().value();
  const Bytes good = read_file(native_);
  const auto refused = [&](const Bytes& bytes, std::string_view why) {
    std::filesystem::remove(native_);
    write_file(native_, bytes);
    const auto loaded = load().value();
    ASSERT_EQ(loaded.warnings.size(), 1u) << why;
    EXPECT_THAT(loaded.warnings[0], HasSubstr(why));
    expect_equal(loaded.parameters, on_heap_);
    EXPECT_EQ(read_file(native_), good);
  };
  for (size_t size : {size_t{0}, size_t{1}, size_t{100}, size_t{4096}, good.size() - 1, good.size() + 1}) {
    Bytes bytes = good;
    bytes.resize(size);
    refused(bytes, "belongs to another parameter file or version");
  }
  for (size_t at : {0, 7, 8, 16, 24, 64}) {  // magic, version, identity, lengths
    Bytes bytes = good;
    bytes[at] ^= 1;
    refused(bytes, "belongs to another parameter file or version");
  }
  for (size_t at : {size_t{72}, size_t{4096}, size_t{4096} + 15 * 96 - 1, size_t{2 * 4096}, good.size() - 1}) {
    Bytes bytes = good;
    bytes[at] ^= 1;
    refused(bytes, "is damaged");
  }
}

TEST_F(NativeFile, Case58_CountsBeyondTheFile) {
  load().value();
  Bytes bytes = read_file(native_);
  bytes.resize(100);
  std::fill(bytes.begin() + 24, bytes.begin() + 72, uint8_t{0xff});
  std::filesystem::remove(native_);
  write_file(native_, bytes);
  cuzk::testing::LargestAllocation largest;
  EXPECT_THAT(load()->warnings.at(0), HasSubstr("belongs to another"));
  EXPECT_LT(largest.bytes(), size_t{1} << 20);
}

TEST_F(NativeFile, BelongsToOneParameterFile) {
  load().value();
  std::filesystem::last_write_time(path_, std::filesystem::last_write_time(path_) + std::chrono::seconds(1));
  const Bytes old = read_file(native_);
  const auto loaded = load().value();
  EXPECT_FALSE(loaded.check_was_remembered);
  expect_equal(loaded.parameters, on_heap_);
  EXPECT_NE(read_file(native_), old);
  // The new one, put back where a record of the new file is.
  write_file(native_, old);
  EXPECT_THAT(load()->warnings.at(0), HasSubstr("belongs to another"));
}

TEST_F(NativeFile, IsNotMadeOfBadParameters) {
  Bytes file = read_file(path_);
  file[868 + 2 * 96 + 4 + 95] ^= 1;  // h[0]
  write_file(path_, file);
  EXPECT_THAT(load().error().message, HasSubstr("h[0]: "));
  EXPECT_EQ(files(), 1u);
}

// A folder in its place cannot be replaced, whoever asks.
TEST_F(NativeFile, ThatCannotBeWrittenLeavesPointsOnTheHeap) {
  std::filesystem::create_directory(native_);
  const auto loaded = load().value();
  EXPECT_EQ(loaded.mapped_bytes, 0u);
  ASSERT_EQ(loaded.warnings.size(), 1u);
  EXPECT_THAT(loaded.warnings[0], HasSubstr("of memory, as they cannot be mapped: "));
  expect_equal(loaded.parameters, on_heap_);
  EXPECT_EQ(files(), 3u) << "nothing temporary is left";

  const Lengths lengths = lengths_of(on_heap_);
  const uint64_t bytes = load_bytes(lengths, pool_.threads()) + lengths.native_bytes();
  const auto load_in = [&](LoadOptions options, uint64_t reserved) {
    return load_params(path_, std::nullopt, options, mem::unbudgeted(reserved), pool_);
  };
  EXPECT_TRUE(load_in({.map = true}, bytes));
  const auto refused = load_in({.map = true}, bytes - 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kResourceExhausted);
  EXPECT_THAT(refused.error().message, HasSubstr("cannot be mapped"));
  EXPECT_EQ(load_in({}, bytes - 1).error().code, Code::kResourceExhausted);
  EXPECT_EQ(load_in({}, load_bytes(lengths, pool_.threads()) - 1).error().code, Code::kResourceExhausted);
}

TEST_F(NativeFile, NeedsAFolderThatCanBeWritten) {
  EXPECT_FALSE(can_map_params("/proc/self/exe"));  // no parameters
  EXPECT_FALSE(can_map_params(folder_ / "absent"));
  // The same file by a name in a folder where nothing can be made.
  const int file = ::open(path_.c_str(), O_RDONLY);
  const std::filesystem::path there = fmt::format("/proc/self/fd/{}", file);
  EXPECT_FALSE(can_map_params(there));
  EXPECT_EQ(load_params(there, std::nullopt, {.map = true}, pool_)->mapped_bytes, 0u);
  ::close(file);
}

// Several pieces a section.
TEST_F(NativeFile, OfARealCircuit) {
  CUZK_SKIP_WITHOUT_VECTORS();
  write_file(path_, read_file(cuzk::testing::vectors() / "params/window-2KiB.params"));
  on_heap_ = load({.remember = false}).value().parameters;
  expect_equal(load()->parameters, on_heap_);
  expect_equal(load()->parameters, on_heap_);
  Bytes bytes = read_file(native_);
  bytes[bytes.size() / 2] ^= 0x10;
  write_file(native_, bytes);
  const auto repaired = load().value();
  EXPECT_THAT(repaired.warnings.at(0), HasSubstr("is damaged"));
  expect_equal(repaired.parameters, on_heap_);
}

}  // namespace
}  // namespace cuzk::groth16
