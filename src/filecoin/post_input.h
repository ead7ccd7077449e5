#pragma once
// What a PoSt is proved from: as requests bring it (wire.md 1.5, 1.8), and as files.

#include <filesystem>
#include <optional>

#include "filecoin/post_vanilla.h"

namespace cuzk::filecoin {

struct PostInput {
  RegisteredPost proof;
  Bytes32 randomness{}, prover_id{};
  std::vector<PostSectorProof> sectors;  // ascending by id
  uint32_t first_partition = 0;

  PostStatement statement() const;
};

struct PostRequest {
  RegisteredPost proof;
  ByteSpan randomness;                   // 32 bytes below r: whoever draws it clears the top two bits of the last
  Bytes32 prover_id{};                   // prover_id() of the miner
  std::vector<ByteSpan> vanilla_proofs;  // bincode, one a sector, in any order
  // Of a WindowPoSt: which partition of the deadline the sectors are. Without it they are all of them.
  std::optional<uint32_t> partition;
};

// Counts and lengths are checked before anything is parsed: one sector for Winning, no more than a partition holds
// where the request is of one. A sector that is there twice, as the chain puts a good one in place of a faulty one,
// counts once; if the proofs differ that is an error. All errors are kInvalidInput and name the vanilla proof and the
// field.
Result<PostInput> parse_post(const PostRequest& request);

// A json file with "kind", "size", "api", "randomness", "prover_id" and "sectors", each of which names the file beside
// it that holds its vanilla proof; what follows from these is not read. kNotFound, kIo, kTooLarge, or kInvalidInput
// naming the field.
Result<PostInput> read_post(const std::filesystem::path& json);
// Writes <kind>.json and <kind>-<sector id>.vanilla into an existing folder; in the json file also challenges and
// public inputs.
Status write_post(const PostInput& input, const std::filesystem::path& folder);

}  // namespace cuzk::filecoin
