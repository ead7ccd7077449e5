#pragma once
// Whole files: read at once, written so that a reader sees all or nothing.

#include <filesystem>

#include "base/bytes.h"

namespace cuzk {

// kNotFound where there is no such file, kTooLarge above `max_bytes`, kIo where the system refuses.
Result<Bytes> read_file(const std::filesystem::path& path, uint64_t max_bytes = UINT64_MAX);
// Written to a temporary file beside it, which is then renamed. kIo.
Status write_file(const std::filesystem::path& path, ByteSpan bytes);

}  // namespace cuzk
