#pragma once
// What a sector update is proved from: as requests bring it (wire.md 1.5, 1.8), and as files.

#include <filesystem>

#include "filecoin/update_vanilla.h"

namespace cuzk::filecoin {

struct UpdateRequest {
  UpdateShape shape;                            // of registered_update() or update_shape()
  ByteSpan comm_r_old, comm_d_new, comm_r_new;  // 32 bytes each, below r
  std::vector<ByteSpan> vanilla_proofs;         // bincode, one a partition, in order
};

// The number of proofs and all lengths are checked before anything is parsed. All errors are kInvalidInput and name the
// partition and the field.
Result<SectorUpdate> parse_update(const UpdateRequest& request);

// A json file with "size", "h", "comm_r_old", "comm_d_new", "comm_r_new" and "partition_proofs", the names of the files
// beside it that hold them; one that is not there is a partition that is missing. What follows from these is not read.
// kNotFound, kIo, kTooLarge, or kInvalidInput naming the field.
Result<SectorUpdate> read_update(const std::filesystem::path& json);
// Writes update.json and update-<partition>.vanilla into an existing folder; in the json file also what the trees'
// roots and the public inputs are.
Status write_update(const SectorUpdate& update, const std::filesystem::path& folder);

}  // namespace cuzk::filecoin
