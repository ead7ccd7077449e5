#include "filecoin/update_check.h"

#include <algorithm>

#include "filecoin/first_failure.h"
#include "filecoin/paths.h"
#include "hash/sha256.h"

namespace cuzk::filecoin {
namespace {

// The checks of one partition, which the circuit makes likewise (spec E.4, E.7).
class PartitionCheck {
 public:
  PartitionCheck(const SectorUpdate& update, uint32_t partition, const Fr& phi, const Fr& comm_r_new)
      : shape_(update.shape),
        statement_(update.statement),
        partition_(partition),
        proof_(*update.partitions[partition]),
        phi_(phi),
        nodes_(update_challenges(shape_, comm_r_new, partition)),
        arities_(path_arities(shape_.nodes, shape_.tree)),
        data_arities_(shape_.log2_nodes(), 2) {}

  Status counts() const {
    const bool complete = proof_.challenges.size() == shape_.challenges &&
                          proof_.apex_leaves.size() == shape_.apex_leaves &&
                          proof_.challenges[0].d_new.path.size() == data_arities_.size();
    return complete
               ? Status()
               : fail(Code::kInvalidInput, "partition {}: challenges, apex leaves or levels are missing", partition_);
  }

  // One check before those of the challenges, so many of which are made at once, and one after them.
  size_t count() const { return (shape_.challenges + kAtOnce - 1) / kAtOnce + 2; }
  Status run(size_t i) const {
    if (i == 0) return named(roots(), "partition {}", partition_);
    if (i + 1 == count()) return named(apex(), "partition {}: apex_leafs", partition_);
    return challenges((i - 1) * kAtOnce, std::min<size_t>(i * kAtOnce, shape_.challenges));
  }

 private:
  const Bytes32& root_r_old() const { return proof_.challenges[0].r_old.root; }
  const Bytes32& root_r_new() const { return proof_.challenges[0].r_new.root; }

  Status roots() const {
    CUZK_TRY_ASSIGN(const Bytes32 r_old, poseidon_node(std::array{proof_.comm_c, root_r_old()}));
    if (r_old != statement_.comm_r_old) return wrong("comm_r_old: is not the hash of comm_c and tree_r_old's root");
    CUZK_TRY_ASSIGN(const Bytes32 r_new, poseidon_node(std::array{proof_.comm_c, root_r_new()}));
    if (r_new != statement_.comm_r_new) return wrong("comm_r_new: is not the hash of comm_c and tree_r_new's root");
    return {};
  }

  Status challenges(size_t begin, size_t end) const {
    std::vector<PathCheck> paths;
    for (size_t n = begin; n < end; n++) {
      const UpdateProof::Challenge& proof = proof_.challenges[n];
      paths.push_back({&proof.r_old, nodes_[n], &root_r_old()});
      paths.push_back({&proof.r_new, nodes_[n], &root_r_new()});
    }
    std::vector<Status> replicas = check_poseidon_paths(paths, arities_);
    for (size_t n = begin; n < end; n++) {
      const size_t first = 2 * (n - begin);
      CUZK_TRY(
          named(challenge(proof_.challenges[n], nodes_[n], std::move(replicas[first]), std::move(replicas[first + 1])),
                "partition {}, challenge {}", partition_, n));
    }
    return {};
  }
  Status challenge(const UpdateProof::Challenge& proof, uint64_t node, Status r_old, Status r_new) const {
    CUZK_TRY(named(std::move(r_old), "proof_r_old"));
    CUZK_TRY(named(check_sha256_path({&proof.d_new, node, &statement_.comm_d_new}, data_arities_), "proof_d_new"));
    CUZK_TRY(named(encoding(proof, node), "proof_r_new"));
    return named(std::move(r_new), "proof_r_new");
  }

  Status encoding(const UpdateProof::Challenge& proof, uint64_t node) const {
    CUZK_TRY_ASSIGN(const Fr r_old, field_element(proof.r_old.leaf));
    CUZK_TRY_ASSIGN(const Fr d_new, field_element(proof.d_new.leaf));
    CUZK_TRY_ASSIGN(const Fr r_new, field_element(proof.r_new.leaf));
    const Fr rho = update_rho(phi_, node >> (shape_.log2_nodes() - shape_.h()));
    return r_new == r_old + d_new * rho ? Status() : wrong("its leaf is not the old replica's plus data times rho");
  }

  // The apex leaves' root climbs on as the first challenge's data path does. Each challenge's data path leads to
  // comm_d_new too, so that it passes through its apex leaf.
  Status apex() const {
    std::vector<Bytes32> row = proof_.apex_leaves;
    for (; row.size() > 1; row.resize(row.size() / 2)) {
      for (size_t i = 0; i < row.size() / 2; i++) row[i] = hash::sha256_node(row[2 * i], row[2 * i + 1]);
    }
    const MerkleProof& path = proof_.challenges[0].d_new;
    const MerkleProof above = {path.root, row[0], {path.path.begin() + shape_.random_bits(), path.path.end()}};
    const std::vector<unsigned> arities(shape_.partition_bits(), 2);
    return check_sha256_path({&above, partition_, &statement_.comm_d_new}, arities);
  }

  static constexpr size_t kAtOnce = 4;  // of two Poseidon paths each, for eight lanes

  const UpdateShape& shape_;
  const UpdateStatement& statement_;
  uint32_t partition_;
  const UpdateProof& proof_;
  Fr phi_;
  std::vector<uint64_t> nodes_;
  std::vector<unsigned> arities_, data_arities_;
};

}  // namespace

Status check_update(const SectorUpdate& update, exec::Pool& pool) {
  if (update.partitions.size() != update.shape.partitions) {
    return fail(Code::kInvalidInput, "an update of a {} sector has {} partitions, not {}",
                format_size(update.shape.sector_bytes), update.shape.partitions, update.partitions.size());
  }
  CUZK_TRY_ASSIGN(const Fr comm_r_old, field_element(update.statement.comm_r_old));
  CUZK_TRY_ASSIGN(const Fr comm_d_new, field_element(update.statement.comm_d_new));
  CUZK_TRY_ASSIGN(const Fr comm_r_new, field_element(update.statement.comm_r_new));
  const Fr phi = update_phi(comm_d_new, comm_r_old);
  std::vector<PartitionCheck> checks;
  for (uint32_t k = 0; k < update.shape.partitions; k++) {
    if (!update.partitions[k]) continue;
    CUZK_TRY(checks.emplace_back(update, k, phi, comm_r_new).counts());
  }
  if (checks.empty()) return {};
  const size_t each = checks[0].count();
  return first_failure(pool, checks.size() * each, [&](size_t i) { return checks[i / each].run(i % each); });
}

}  // namespace cuzk::filecoin
