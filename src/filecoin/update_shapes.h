#pragma once
// Sector updates (EmptySectorUpdate, "SnapDeals"): what a sector size fixes (spec E.1).

#include <array>

#include "filecoin/shapes.h"

namespace cuzk::filecoin {

struct UpdateShape {
  uint64_t sector_bytes;
  uint64_t nodes;              // leaves of every tree, a power of two
  TreeShape tree;              // of tree_r_old and tree_r_new; tree_d_new is binary
  unsigned partitions;         // a power of two
  unsigned challenges;         // of a partition
  unsigned apex_leaves;        // nodes of one row of tree_d_new that a partition states, a power of two
  std::array<unsigned, 6> hs;  // how many high bits of a node's index its randomness may depend on
  unsigned h_index;            // which of them is in use

  unsigned log2_nodes() const { return static_cast<unsigned>(std::countr_zero(nodes)); }
  unsigned partition_bits() const { return static_cast<unsigned>(std::countr_zero(partitions)); }
  unsigned apex_bits() const { return static_cast<unsigned>(std::countr_zero(apex_leaves)); }
  // Bits of a challenge that are drawn; the partition's stand above them.
  unsigned random_bits() const { return log2_nodes() - partition_bits(); }
  // Of the apex leaves in tree_d_new; leaves have height 0.
  unsigned apex_height() const { return random_bits() - apex_bits(); }
  unsigned h() const { return hs[h_index]; }
  // A digest of 255 bits gives this many challenges, the last one of a partition fewer.
  unsigned challenges_per_digest() const { return 254 / random_bits(); }
  unsigned digests() const { return (challenges + challenges_per_digest() - 1) / challenges_per_digest(); }
};

// The eleven sizes of E.1, ascending.
const std::vector<UpdateShape>& update_shapes();
// kInvalidInput where sectors of this size cannot be updated; the message lists those that can.
Result<UpdateShape> update_shape(uint64_t sector_bytes);
// The network's update proofs, 0 to 4 (G.7); kInvalidInput for another number.
Result<UpdateShape> registered_update(uint64_t number);

}  // namespace cuzk::filecoin
