#pragma once
// F.params.native: the points of a parameter file F.params as the prover computes with them, so that they are mapped
// instead of read (docs/formats/keys.md). A cache: it may be deleted at any time, and is made again.
//
// It belongs to a parameter file of one size and modification time, as the record of a check does, and counts only
// beside such a record (groth16/files.h). Opening it checks its length before anything is read, and its digest, which
// costs a thread 0.6 s/GB and brings the file into the system's cache.

#include <array>
#include <filesystem>
#include <vector>

#include "base/bytes.h"
#include "exec/pool.h"
#include "groth16/keys.h"

namespace cuzk::groth16 {

std::filesystem::path native_path(const std::filesystem::path& params);

// The parameter file that a native one was made from.
struct ParamsIdentity {
  uint64_t bytes = 0;
  int64_t modified_ns = 0;
  Lengths lengths;
};

// The points of the native file beside F.params; vk is left empty. kNotFound where there is none, kInvalidParams where
// it belongs to another parameter file, is of another version or is damaged; kIo.
Result<Parameters> map_native(const std::filesystem::path& params, const ParamsIdentity& identity, exec::Pool& pool);

// Whether map_native may succeed or a NativeWriter may: by the header of what is there, or the room and the right to
// write. Looks, and leaves nothing.
bool can_be_native(const std::filesystem::path& params, const ParamsIdentity& identity);

// Writes one. It appears under its name at commit(); where that is not reached there is only a temporary file, which is
// then removed. Errors are kIo.
class NativeWriter {
 public:
  // Reserves the room on the disk.
  static Result<NativeWriter> create(const std::filesystem::path& params, const ParamsIdentity& identity);
  ~NativeWriter();
  NativeWriter(NativeWriter&&) noexcept;
  NativeWriter& operator=(NativeWriter&&) = delete;

  static constexpr size_t kPiece = size_t{1} << 14;  // points

  // Points [k * kPiece, (k + 1) * kPiece) of a section (0: h, 1: l, 2: a, 3: b_g1; 4: b_g2), clipped to it. Each piece
  // once, from any thread.
  Status write(size_t section, size_t k, std::span<const G1Affine> points);
  Status write(size_t section, size_t k, std::span<const G2Affine> points);
  // What was written so far, mapped; vk is left empty.
  Result<Parameters> map() const;
  Status commit();

 private:
  NativeWriter(std::filesystem::path path, std::filesystem::path temporary, int fd, const ParamsIdentity& identity);
  Status write(size_t section, size_t k, ByteSpan bytes);

  std::filesystem::path path_, temporary_;
  int fd_;
  ParamsIdentity identity_;
  std::array<std::vector<Bytes32>, 5> digests_;  // by piece
};

}  // namespace cuzk::groth16
