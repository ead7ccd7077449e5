#include "filecoin/challenges.h"

#include <algorithm>

#include "hash/blake2.h"
#include "hash/chacha.h"
#include "hash/sha256.h"

namespace cuzk::filecoin {
namespace {

// A little-endian 256-bit number mod (nodes - 1), plus 1: node 0 is never challenged.
uint64_t challenge_of(const Bytes32& number, uint64_t nodes) {
  uint64_t remainder = 0;
  for (size_t i = number.size(); i-- > 0;) remainder = (remainder << 8 | number[i]) % (nodes - 1);
  return remainder + 1;
}

// One challenge for each index, from SHA-256(prefix || index as u32).
std::vector<uint64_t> hashed_challenges(uint64_t nodes, const hash::Sha256& prefix, uint64_t first, size_t count) {
  std::vector<uint64_t> out(count);
  for (size_t i = 0; i < count; i++) {
    std::array<uint8_t, 4> index;
    store_le(index.data(), static_cast<uint32_t>(first + i));
    hash::Sha256 hash = prefix;
    hash.update(index);
    out[i] = challenge_of(hash.finish(), nodes);
  }
  return out;
}

Bytes32 synthetic_key(std::string_view domain, const Bytes32& replica_id, const Bytes32& second) {
  std::array<uint8_t, 64> message;
  std::ranges::copy(replica_id, message.begin());
  std::ranges::copy(second, message.begin() + 32);
  return hash::keyed_blake2b_256(domain, message);
}

hash::ChaCha synthetic_stream(const Bytes32& key) {
  return {key, 20, {'s', 'y', 'n', 't', 'h', '-', 'p', 'o', 'r', 'e', 'p', 0}};
}

}  // namespace

Bytes32 prover_id(uint64_t actor_id) {
  Bytes32 out{};
  size_t i = 0;
  for (; actor_id >= 0x80; actor_id >>= 7) out[i++] = static_cast<uint8_t>(actor_id | 0x80);
  out[i] = static_cast<uint8_t>(actor_id);
  return out;
}

Bytes32 replica_id(const Bytes32& prover_id, uint64_t sector_number, const Bytes32& ticket, const Bytes32& comm_d,
                   const Bytes32& porep_id) {
  std::array<uint8_t, 4 * 32 + 8> message;
  auto next = std::ranges::copy(prover_id, message.begin()).out;
  store_be(&*next, sector_number);
  next += 8;
  for (const Bytes32* part : {&ticket, &comm_d, &porep_id}) next = std::ranges::copy(*part, next).out;
  return hash::sha256_fr(message);
}

std::vector<uint64_t> interactive_challenges(uint64_t nodes, const Bytes32& replica_id, const Bytes32& seed,
                                             uint64_t first, size_t count) {
  hash::Sha256 prefix;
  prefix.update(replica_id);
  prefix.update(seed);
  return hashed_challenges(nodes, prefix, first, count);
}

std::vector<uint64_t> non_interactive_challenges(uint64_t nodes, const Bytes32& replica_id, const Bytes32& comm_r,
                                                 uint64_t first, size_t count) {
  hash::Sha256 prefix;
  prefix.update(as_bytes("filecoin.io|PoRep|1|NonInteractive|1"));
  prefix.update(replica_id);
  prefix.update(comm_r);
  return hashed_challenges(nodes, prefix, first, count);
}

SyntheticChallenges::SyntheticChallenges(uint64_t nodes, const Bytes32& replica_id, const Bytes32& comm_r,
                                         uint64_t size)
    : nodes_(nodes),
      size_(size),
      replica_id_(replica_id),
      key_(synthetic_key("filecoin.io|PoRep|1|Synthetic|1|Generation", replica_id, comm_r)) {}

SyntheticChallenges::SyntheticChallenges(uint64_t nodes, const Bytes32& replica_id, const Bytes32& comm_r)
    : SyntheticChallenges(nodes, replica_id, comm_r, std::min(nodes, kMost)) {}

std::vector<uint64_t> SyntheticChallenges::generate(uint64_t first, size_t count) const {
  std::vector<uint64_t> out(count);
  hash::ChaCha stream = synthetic_stream(key_);
  stream.seek(8 * first);
  for (uint64_t& challenge : out) {
    Bytes32 number;
    for (size_t i = 0; i < 8; i++) store_le(number.data() + 4 * i, stream.next_u32());
    challenge = challenge_of(number, nodes_);
  }
  return out;
}

std::vector<uint64_t> SyntheticChallenges::select(const Bytes32& seed, uint64_t first, size_t count) const {
  std::vector<uint64_t> out(count);
  hash::ChaCha stream = synthetic_stream(synthetic_key("filecoin.io|PoRep|1|Synthetic|1|Selection", replica_id_, seed));
  stream.seek(first);
  for (uint64_t& challenge : out) challenge = generate(stream.next_u32() % size_, 1).front();
  return out;
}

std::vector<uint64_t> porep_challenges(const RegisteredProof& proof, const PorepShape& shape,
                                       const PorepStatement& statement, uint32_t partition) {
  const size_t count = shape.challenges_per_partition;
  const uint64_t first = uint64_t{count} * partition;
  switch (proof.challenges) {
    case ChallengeKind::kSynthetic:
      return SyntheticChallenges(shape.nodes, statement.replica_id, statement.comm_r)
          .select(statement.seed, first, count);
    case ChallengeKind::kNonInteractive:
      return non_interactive_challenges(shape.nodes, statement.replica_id, statement.comm_r, first, count);
    default: return interactive_challenges(shape.nodes, statement.replica_id, statement.seed, first, count);
  }
}

}  // namespace cuzk::filecoin
