#include "mem/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace cuzk::mem {
namespace {

tl::unexpected<Error> os_error(const std::filesystem::path& path, std::string_view doing) {
  const int number = errno;
  const Code code = number == ENOENT || number == ENOTDIR ? Code::kNotFound : Code::kIo;
  return fail(code, "cannot {} {}: {}", doing, path.string(), std::generic_category().message(number));
}

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  // Without O_NONBLOCK the open of a FIFO would wait for a writer.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.number < 0) return os_error(path, "open");
  struct stat status {};
  if (::fstat(file.number, &status) != 0) return os_error(path, "examine");
  if (!S_ISREG(status.st_mode)) return fail(Code::kInvalidInput, "{} is not a regular file", path.string());

  MappedFile mapped;
  mapped.modified_ns_ = int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return mapped;
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (address == MAP_FAILED) return os_error(path, "map");
  mapped.bytes_ = {static_cast<const uint8_t*>(address), size};
  return mapped;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<uint8_t*>(bytes_.data()), bytes_.size());
}

void MappedFile::advise(Advice advice, size_t offset, size_t count) const {
  if (offset >= bytes_.size()) return;
  count = std::min(count, bytes_.size() - offset);
  const size_t page_offset = offset % static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  auto* begin = const_cast<uint8_t*>(bytes_.data()) + offset - page_offset;
  constexpr int kAdvice[] = {MADV_NORMAL, MADV_SEQUENTIAL, MADV_RANDOM, MADV_WILLNEED, MADV_DONTNEED};
  ::madvise(begin, count + page_offset, kAdvice[static_cast<int>(advice)]);
}

}  // namespace cuzk::mem
