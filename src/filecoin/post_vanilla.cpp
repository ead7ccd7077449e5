#include "filecoin/post_vanilla.h"

#include <algorithm>

#include "filecoin/bincode.h"
#include "filecoin/first_failure.h"
#include "filecoin/paths.h"
#include "hash/sha256.h"

namespace cuzk::filecoin {
namespace {

bincode::PathForm path_form(const PostShape& shape) {
  return bincode::tree_form(shape.sector.nodes, shape.sector.tree);
}

// Spec D.3: which of all challenges of the statement the n-th of a sector is.
uint64_t challenge_index(const PostShape& shape, ApiVersion api, const PostStatement& statement, size_t position,
                         size_t n) {
  if (api == ApiVersion::kV1_2) return n;
  return (uint64_t{statement.first_partition} * shape.sectors + position) * shape.challenges + n;
}

// The checks of one sector, which the circuit makes likewise (D.2), beside those of its paths, one a challenge.
Status check_sector(const PostSectorProof& proof, const PostStatement::Sector& sector, std::span<Status> paths) {
  CUZK_TRY_ASSIGN(const Bytes32 comm_r, poseidon_node(std::array{proof.comm_c, proof.comm_r_last}));
  if (comm_r != proof.comm_r) return wrong("comm_r is not the hash of comm_c and comm_r_last");
  for (size_t n = 0; n < paths.size(); n++) CUZK_TRY(named(std::move(paths[n]), "challenge {}", n));
  if (proof.sector_id != sector.id || proof.comm_r != sector.comm_r)
    return wrong("its vanilla proof is of another sector");
  return {};
}

// Sectors [begin, end), whose paths are checked together.
Status check_sectors(const PostShape& shape, ApiVersion api, const PostStatement& statement,
                     std::span<const PostSectorProof> proofs, size_t begin, size_t end) {
  std::vector<PathCheck> paths;
  for (size_t i = begin; i < end; i++) {
    const std::vector<uint64_t> challenges = post_challenges(shape, api, statement, i);
    if (proofs[i].inclusion.size() != challenges.size()) {
      return fail(Code::kInvalidInput, "sector {}: {} inclusion proofs, not {}", statement.sectors[i].id,
                  proofs[i].inclusion.size(), challenges.size());
    }
    for (size_t n = 0; n < challenges.size(); n++)
      paths.push_back({&proofs[i].inclusion[n], challenges[n], &proofs[i].comm_r_last});
  }
  std::vector<Status> checked = check_poseidon_paths(paths, path_arities(shape.sector));
  const size_t each = shape.proof_challenges;
  for (size_t i = begin; i < end; i++) {
    CUZK_TRY(named(check_sector(proofs[i], statement.sectors[i], std::span(checked).subspan((i - begin) * each, each)),
                   "sector {}", statement.sectors[i].id));
  }
  return {};
}

}  // namespace

Result<PostSectorProof> read_post_proof(ByteSpan bytes, const PostShape& shape) {
  const bincode::PathForm form = path_form(shape);
  bincode::Reader reader(bytes);
  PostSectorProof proof;
  proof.sector_id = reader.u64("sector_id");
  proof.comm_r = reader.element("comm_r");
  reader.length("sectors", 1);
  reader.length("inclusion_proofs", shape.proof_challenges);
  reader.each("inclusion_proofs", shape.proof_challenges,
              [&](size_t) { proof.inclusion.push_back(bincode::read_merkle_proof(reader, "data", form)); });
  proof.comm_c = reader.element("comm_c");
  proof.comm_r_last = reader.element("comm_r_last");
  CUZK_TRY(reader.status());
  return proof;
}

Bytes write_post_proof(const PostSectorProof& proof, const PostShape& shape) {
  const bincode::PathForm form = path_form(shape);
  bincode::Writer writer;
  writer.u64(proof.sector_id);
  writer.element(proof.comm_r);
  writer.u64(1);
  writer.u64(proof.inclusion.size());
  for (const MerkleProof& inclusion : proof.inclusion) bincode::write_merkle_proof(writer, inclusion, form);
  writer.element(proof.comm_c);
  writer.element(proof.comm_r_last);
  return std::move(writer).finish();
}

size_t post_proof_bytes(const PostShape& shape) {
  return 8 + 3 * kNodeBytes + 8 + 8 + shape.proof_challenges * bincode::merkle_proof_bytes(path_form(shape));
}

uint32_t post_partitions(const PostShape& shape, size_t sectors) {
  if (shape.unrolled()) return sectors > 0 ? 1 : 0;
  return static_cast<uint32_t>((sectors + shape.sectors - 1) / shape.sectors);
}

std::vector<uint64_t> post_challenges(const PostShape& shape, ApiVersion api, const PostStatement& statement,
                                      size_t position) {
  std::array<uint8_t, 48> preimage;
  std::ranges::copy(statement.randomness, preimage.begin());
  store_le(preimage.data() + 32, statement.sectors[position].id);
  std::vector<uint64_t> out(shape.proof_challenges);
  for (size_t n = 0; n < out.size(); n++) {
    store_le(preimage.data() + 40, challenge_index(shape, api, statement, position, n));
    out[n] = load_le<uint64_t>(hash::sha256(preimage).data()) % shape.sector.nodes;
  }
  return out;
}

Result<std::vector<Fr>> post_public_inputs(const PostShape& shape, ApiVersion api, const PostStatement& statement,
                                           uint32_t partition) {
  const size_t total = statement.sectors.size();
  if (partition >= post_partitions(shape, total)) {
    return fail(Code::kInvalidInput, "partition {} is none of the {} that {} sectors have", partition,
                post_partitions(shape, total), total);
  }
  const size_t first = size_t{partition} * shape.sectors;
  const size_t count = std::min<size_t>(shape.unrolled() ? 1 : shape.sectors, total - first);
  std::vector<Fr> inputs;
  inputs.reserve(shape.sectors * (1 + shape.challenges));
  for (size_t i = 0; i < count; i++) {
    const PostStatement::Sector& sector = statement.sectors[first + i];
    const std::optional<Fr> comm_r = Fr::from_bytes_le(sector.comm_r);
    if (!comm_r) return fail(Code::kInvalidInput, "sector {}: comm_r is not below the field order", sector.id);
    const std::vector<uint64_t> leaves = post_challenges(shape, api, statement, first + i);
    for (size_t n = 0; n < leaves.size(); n++) {
      if (n % shape.challenges == 0) inputs.push_back(*comm_r);
      inputs.push_back(Fr::from_u64(leaves[n]));
    }
  }
  const size_t group = 1 + shape.challenges;
  while (inputs.size() < shape.sectors * group) inputs.push_back(Fr(inputs[inputs.size() - group]));
  return inputs;
}

Status check_post(const PostShape& shape, ApiVersion api, const PostStatement& statement,
                  std::span<const PostSectorProof> proofs, exec::Pool& pool) {
  if (proofs.size() != statement.sectors.size()) {
    return fail(Code::kInvalidInput, "{} vanilla proofs of {} sectors", proofs.size(), statement.sectors.size());
  }
  constexpr size_t kAtOnce = 4;  // of ten paths or more each, so that eight lanes stay filled
  return first_failure(pool, (proofs.size() + kAtOnce - 1) / kAtOnce, [&](size_t k) {
    return check_sectors(shape, api, statement, proofs, k * kAtOnce, std::min((k + 1) * kAtOnce, proofs.size()));
  });
}

}  // namespace cuzk::filecoin
