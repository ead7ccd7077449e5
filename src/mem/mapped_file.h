#pragma once
// A file mapped into memory, read-only.

#include <filesystem>

#include "base/bytes.h"

namespace cuzk::mem {

class MappedFile {
 public:
  // kDone: the pages leave this process, though not the system's cache, until they are read again.
  enum class Advice { kNormal, kSequential, kRandom, kWillNeed, kDone };

  // Maps the whole of a regular file as it is now. kNotFound, kInvalidInput (not a regular file) or kIo.
  // An empty file has empty bytes. A file that another process truncates later kills readers with SIGBUS: parameter and
  // circuit files are replaced by rename, never written in place.
  static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile() = default;
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept { swap(other); }
  MappedFile& operator=(MappedFile other) noexcept {
    swap(other);
    return *this;
  }

  ByteSpan bytes() const { return bytes_; }
  // Time of the last change, in nanoseconds since 1970, read from the same open file as the bytes.
  int64_t modified_ns() const { return modified_ns_; }

  // How the bytes [offset, offset + count) will be read; clipped to the file. A hint, so it cannot fail.
  void advise(Advice advice, size_t offset, size_t count) const;
  void advise(Advice advice) const { advise(advice, 0, bytes_.size()); }

 private:
  void swap(MappedFile& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(modified_ns_, other.modified_ns_);
  }

  ByteSpan bytes_;
  int64_t modified_ns_ = 0;
};

}  // namespace cuzk::mem
