#include "filecoin/graph.h"

#include <algorithm>
#include <bit>

#include "hash/blake2.h"
#include "hash/chacha.h"
#include "hash/sha256.h"

namespace cuzk::filecoin {
namespace {

Bytes32 seed_of(std::string_view domain, const Bytes32& porep_id) {
  hash::Sha256 hash;
  hash.update(as_bytes(domain));
  hash.update(porep_id);
  return hash.finish();
}

uint64_t feistel_round(uint64_t right, uint64_t key) {
  std::array<uint8_t, 16> message;
  store_be(message.data(), right);
  store_be(message.data() + 8, key);
  return load_be<uint64_t>(hash::blake2b_512(message).data());
}

}  // namespace

Graph::Graph(uint64_t nodes, ApiVersion api, const Bytes32& porep_id)
    : nodes_(nodes), api_(api), drg_key_(seed_of("Filecoin_DRSample", porep_id)) {
  const Bytes32 feistel = seed_of("Filecoin_Feistel", porep_id);
  for (size_t i = 0; i < feistel_keys_.size(); i++) feistel_keys_[i] = load_le<uint64_t>(feistel.data() + 8 * i);
  const auto bits = static_cast<unsigned>(std::bit_width(kExpanderDegree * nodes - 1));
  half_bits_ = std::max(1u, (bits + 1) / 2);
}

std::array<uint64_t, kDrgDegree> Graph::drg_parents(uint64_t node) const {
  std::array<uint64_t, kDrgDegree> parents{};
  if (node < 2) return parents;
  // The graph is that of 5 nodes for each node, folded: "distance" counts in the finer graph.
  constexpr uint64_t kSampled = kDrgDegree - 1;
  const size_t predecessor = api_ == ApiVersion::kV1_0 ? kDrgDegree - 1 : 0;
  Bytes32 key = drg_key_;
  store_le(key.data() + 28, static_cast<uint32_t>(node));
  hash::ChaCha random(key, 8);
  const uint64_t fine = kSampled * node;
  const auto buckets = static_cast<uint64_t>(std::bit_width(fine - 1));  // ceil(log2(fine))
  for (size_t i = 0; i < kDrgDegree; i++) {
    if (i == predecessor) {
      parents[i] = node - 1;
      continue;
    }
    const uint64_t bucket = random.next_u64() % buckets + 1;
    const uint64_t high = std::min(fine, uint64_t{1} << bucket), low = std::max<uint64_t>(2, high >> 1);
    const uint64_t distance = low + random.next_u64() % (high - low + 1);
    parents[i] = std::min((fine - distance) / kSampled, node - 1);
  }
  return parents;
}

std::array<uint64_t, kExpanderDegree> Graph::expander_parents(uint64_t node) const {
  std::array<uint64_t, kExpanderDegree> parents;
  for (size_t i = 0; i < kExpanderDegree; i++) {
    uint64_t position = permute(kExpanderDegree * node + i);
    // The first version lost the high bits; wrong from 2^29 nodes on, and consensus.
    if (api_ == ApiVersion::kV1_0) position = static_cast<uint32_t>(position);
    parents[i] = position / kExpanderDegree;
  }
  return parents;
}

uint64_t Graph::permute(uint64_t value) const {
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  do {
    uint64_t left = value >> half_bits_, right = value & mask;
    for (uint64_t key : feistel_keys_) {
      const uint64_t mixed = left ^ (feistel_round(right, key) & mask);
      left = right;
      right = mixed;
    }
    value = left << half_bits_ | right;
  } while (value >= kExpanderDegree * nodes_);
  return value;
}

}  // namespace cuzk::filecoin
