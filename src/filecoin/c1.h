#pragma once
// Reads and writes the output of seal commit phase 1 (spec G.4, wire.md 1.7): JSON, either bare or wrapped as
// {"SectorNum", "Phase1Out" (base64 of the bare form), "SectorSize"}.

#include <functional>

#include "base/bytes.h"
#include "base/result.h"
#include "filecoin/vanilla.h"

namespace cuzk::filecoin {

inline constexpr uint64_t kMaxC1Bytes = uint64_t{512} << 20;
// Unknown keys may hold anything, but not deeper than this.
inline constexpr unsigned kMaxC1Depth = 64;

// Keys may come in any order and unknown ones are skipped; what is there must be complete: every count, index and path
// length is that of the sector size, every node value is below r, comm_r, comm_d and seed are not zero, and the three
// statements of the size agree. Whether the proof is true is check_vanilla's question. Errors: kInvalidInput naming
// partition, challenge and field; kTooLarge above `max_bytes`. A wrapped 32 GiB proof (51 MB) takes 0.26 s of one core
// and 160 MB while it works.
Result<SealCommit> parse_c1(ByteSpan text, uint64_t max_bytes = kMaxC1Bytes);

enum class C1Form { kBare, kWrapped };

// Writes the reference's exact form and order, without whitespace, in pieces of a few KiB. kInvalidInput where
// registered_proof is unknown or, wrapped, the sector number is missing; errors of `sink` pass through.
Status write_c1(const SealCommit& commit, C1Form form, const std::function<Status(std::string_view)>& sink);

}  // namespace cuzk::filecoin
