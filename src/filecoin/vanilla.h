#pragma once
// The vanilla proof of a PoRep (spec G.2 to G.4): what the circuit proves knowledge of. Node values are 32 bytes,
// little endian; a 32 GiB proof (10 partitions of 18 challenges) takes about 13 MB in this form.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "filecoin/shapes.h"

namespace cuzk::filecoin {

// One level of a Merkle path: the siblings from left to right without the path's own node, which stands at `index`.
struct PathElement {
  std::vector<Bytes32> hashes;
  uint64_t index = 0;
  bool operator==(const PathElement&) const = default;
};

// Base, sub and top levels joined, leaf level first.
struct MerkleProof {
  Bytes32 root{}, leaf{};
  std::vector<PathElement> path;
  bool operator==(const MerkleProof&) const = default;
};

// The labels of one node, layer 1 first.
struct Column {
  uint32_t index = 0;
  std::vector<Bytes32> rows;
  bool operator==(const Column&) const = default;
};

struct ColumnProof {
  Column column;
  MerkleProof inclusion;
  bool operator==(const ColumnProof&) const = default;
};

// `parents` are the 37 labels that are hashed, repeats included; `layer` counts from 1.
struct LabelingProof {
  std::vector<Bytes32> parents;
  uint32_t layer = 0;
  uint64_t node = 0;
  bool operator==(const LabelingProof&) const = default;
};

struct ChallengeProof {
  MerkleProof comm_d, comm_r_last;
  ColumnProof c_x;
  std::vector<ColumnProof> drg_parents, exp_parents;  // 6 and 8
  std::vector<LabelingProof> labeling;                // one a layer, layer 1 first
  LabelingProof encoding;                             // repeats the last layer's
  bool operator==(const ChallengeProof&) const = default;

  // The challenged node, as the circuit takes it.
  uint64_t challenge() const { return labeling.front().node; }
};

// The output of seal commit phase 1.
struct SealCommit {
  std::string registered_proof;  // such as "StackedDrg32GiBV1_1"; spec G.7
  Bytes32 comm_r{}, comm_d{}, replica_id{}, seed{}, ticket{};
  std::vector<std::vector<ChallengeProof>> partitions;
  std::optional<uint64_t> sector_number;  // known where the wrapped form said so
  bool operator==(const SealCommit&) const = default;
};

// What a registered proof's name says, the unregistered ones of the reference vectors included; kInvalidInput else.
Result<RegisteredProof> seal_proof(std::string_view name);

}  // namespace cuzk::filecoin
