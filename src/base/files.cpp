#include "base/files.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace cuzk {

Result<Bytes> read_file(const std::filesystem::path& path, uint64_t max_bytes) {
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(path, error);
  if (error) {
    const Code code = error == std::errc::no_such_file_or_directory ? Code::kNotFound : Code::kIo;
    return fail(code, "'{}' cannot be read: {}", path.string(), error.message());
  }
  if (size > max_bytes) {
    return fail(Code::kTooLarge, "'{}' has {} bytes, more than the limit of {}", path.string(), size, max_bytes);
  }
  Bytes bytes(size);
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size))) {
    return fail(Code::kIo, "'{}' cannot be read: {}", path.string(), std::strerror(errno));
  }
  return bytes;
}

Status write_file(const std::filesystem::path& path, ByteSpan bytes) {
  const std::filesystem::path temporary = fmt::format("{}.{}.tmp", path.string(), ::getpid());
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(temporary, path, error);
  if (file && !error) return {};
  const std::string reason = error ? error.message() : std::strerror(errno);
  std::filesystem::remove(temporary, error);
  return fail(Code::kIo, "'{}' cannot be written: {}", path.string(), reason);
}

}  // namespace cuzk
