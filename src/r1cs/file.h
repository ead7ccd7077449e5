#pragma once
// The compiled circuit on disk. Layout in docs/formats/circuit.md; little-endian, with a version and a SHA-256 at the
// end.

#include <filesystem>

#include "base/bytes.h"
#include "r1cs/circuit.h"

namespace cuzk::r1cs {

inline constexpr std::string_view kCircuitMagic = "cuzkR1CS";
inline constexpr uint32_t kCircuitVersion = 1;

Bytes serialise(const Circuit& circuit);
// Checks magic, version, checksum and every index before use; kInvalidInput names what is wrong.
Result<Circuit> deserialise(ByteSpan bytes);

// By write_file and read_file (base/files.h).
Status save(const Circuit& circuit, const std::filesystem::path& path);
Result<Circuit> load(const std::filesystem::path& path);

}  // namespace cuzk::r1cs
