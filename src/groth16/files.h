#pragma once
// The official .vk and .params files: filecoin-spec F.5 and F.6, read and written byte for byte.
//
// A parameter file is checked before use. Lengths come first, against the file's size and the circuit, and cost
// nothing; then every point is decoded, and then all are looked for in the subgroup. Errors of this header are
// kInvalidParams unless the system refuses (kNotFound, kIo); they name the section and the index: "l[17] is not on the
// curve", "the file ends inside h at point 3 of 15".

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "exec/pool.h"
#include "groth16/keys.h"
#include "mem/budget.h"
#include "mem/mapped_file.h"

namespace cuzk::groth16 {

// Work done and in all, in one unit of the function's choice; calls come from several threads, one at a time.
using Progress = std::function<void(uint64_t done, uint64_t total)>;

// --- verifying keys; always fully checked: coordinates, curve, subgroup, no infinity anywhere

Bytes encode_vk(const VerifyingKey& vk);
// The bytes must end with the last point.
Result<VerifyingKey> decode_vk(ByteSpan bytes);
Result<VerifyingKey> read_vk(const std::filesystem::path& path);
Status write_vk(const std::filesystem::path& path, const VerifyingKey& vk);

// --- parameters

// Where the sections of a parameter file lie.
struct Section {
  std::string_view name;
  uint64_t offset = 0;  // of the first point
  uint64_t count = 0;
  uint32_t point_bytes = 0;
};
struct Layout {
  std::array<Section, 6> sections;  // ic, h, l, a, b_g1, b_g2
  uint64_t trailing_bytes = 0;      // after b_g2; tolerated, reported

  Lengths lengths() const;
};

// Reads the six lengths, and no point. With `wanted` (lengths_of(circuit)) a file of another circuit is an error.
Result<Layout> params_layout(ByteSpan file, const std::optional<Lengths>& wanted);
Result<Layout> params_layout(const std::filesystem::path& path, const std::optional<Lengths>& wanted);

enum class Check {
  kCanonical,  // points are well formed and none is infinity
  kFull,       // and on the curve, and in the subgroup (groth16/subgroup_batch.h)
};

// Of files that ought to be parameters: one line for each that cannot be read, is something else or is cut short, as
// far as the lengths show. Files that hold the same share a line, which says so: somebody fetched one error page many
// times.
std::vector<std::string> visible_faults(std::span<const std::filesystem::path> params);

// The points of a file whose layout was read. The verifying key at its head is fully checked at every level. `memory`
// is of load_bytes() and of lengths().native_bytes(), of which it keeps the latter; kResourceExhausted where it is
// less.
Result<Parameters> decode_params(ByteSpan file, const Layout& layout, Check check, mem::Reservation memory,
                                 exec::Pool& pool, const Progress& progress = {});

struct LoadOptions {
  Check check = Check::kFull;
  // A passed full check is recorded beside the file (checked_record_path), and where a record fits the file's size and
  // modification time the full check is not made again.
  bool remember = true;
  bool digest = true;  // the record holds the file's digest, which takes a thread 1 s/GB
  // Points are mapped from a file in native form, which is made where there is none (groth16/native_file.h). Where it
  // cannot be written they go to the heap, with a warning. Only with a full check that is remembered.
  bool map = false;
  Progress progress;
};
// What a loader says beside the parameters.
struct LoadReport {
  bool fully_checked = false;         // now or by the record
  bool check_was_remembered = false;  // the record stood in for the check
  // Trailing bytes; a record or a native file that cannot be written. The parameter file is not named.
  std::vector<std::string> warnings;
};
struct LoadedParameters : LoadReport {
  Parameters parameters;
  uint64_t mapped_bytes = 0;  // of the points where they are mapped
};
// `memory` is of load_bytes(), and of lengths().native_bytes() where the points are not mapped, which they keep;
// kResourceExhausted where it is less.
Result<LoadedParameters> load_params(const std::filesystem::path& path, const std::optional<Lengths>& wanted,
                                     const LoadOptions& options, mem::Reservation memory, exec::Pool& pool);
// The same with what it takes, whatever that is.
Result<LoadedParameters> load_params(const std::filesystem::path& path, const std::optional<Lengths>& wanted,
                                     const LoadOptions& options, exec::Pool& pool);

// Whether load_params will be able to map the points of this file.
bool can_map_params(const std::filesystem::path& path);
// What load_params works in, beside the points.
uint64_t load_bytes(const Lengths& lengths, size_t threads);

// For loaders to other places: load_params but for the points, which `decode` reads at the level of check that is left
// to do. The digest for the record is taken beside it, by a thread of its own.
using Decode = std::function<Status(const mem::MappedFile& file, const Layout& layout, Check check)>;
Result<LoadReport> load_params_with(const std::filesystem::path& path, const std::optional<Lengths>& wanted,
                                    const LoadOptions& options, const Decode& decode);
// The verifying key at the head of a file, fully checked.
Result<VerifyingKey> decode_params_vk(ByteSpan file, const Layout& layout);
// What decode_params finds wrong with a point, checked alone.
Status check_point(ByteSpan file, const Section& section, uint64_t index, Check check);

// F.params.checked: a JSON object of the file's bytes, mtime_ns, BLAKE2b-512 digest where it was taken (its first 32
// digits are what parameters.json publishes) and what was checked.
std::filesystem::path checked_record_path(const std::filesystem::path& params);

// Writes a parameter file section by section, so that no more than a piece need be in memory. The file appears under
// its name at commit(); before that, and for ever where commit() is not reached, there is only a temporary one, then
// removed.
class ParamsWriter {
 public:
  static Result<ParamsWriter> create(const std::filesystem::path& path);
  ~ParamsWriter();
  ParamsWriter(ParamsWriter&&) noexcept;
  ParamsWriter& operator=(ParamsWriter&&) = delete;

  Status vk(const VerifyingKey& vk);
  // Then h, l, a, b_g1, b_g2, each: its length, and its points in one or more pieces.
  Status begin_section(uint64_t count);
  Status points(std::span<const G1Affine> points, exec::Pool& pool);
  Status points(std::span<const G2Affine> points, exec::Pool& pool);
  // The same as uncompressed bytes.
  Status encoded_points(ByteSpan bytes) { return write(bytes); }
  Status commit();

 private:
  ParamsWriter(std::filesystem::path path, std::filesystem::path temporary, int fd);
  Status write(ByteSpan bytes);
  template <class Point>
  Status encode(std::span<const Point> points, exec::Pool& pool);

  std::filesystem::path path_, temporary_;
  int fd_;
  Bytes buffer_;
};

Status write_params(const std::filesystem::path& path, const Parameters& parameters, exec::Pool& pool);

}  // namespace cuzk::groth16
