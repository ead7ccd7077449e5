#include "filecoin/check.h"

#include <algorithm>

#include "filecoin/challenges.h"
#include "filecoin/first_failure.h"
#include "filecoin/graph.h"
#include "filecoin/labels.h"
#include "filecoin/paths.h"

namespace cuzk::filecoin {
namespace {

// The checks of one challenge, which the circuit makes likewise (spec C.5).
class ChallengeCheck {
 public:
  ChallengeCheck(const SealCommit& commit, const PorepShape& shape, const Graph& graph, const ChallengeProof& proof,
                 uint64_t challenge)
      : commit_(commit),
        layers_(shape.layers),
        graph_(graph),
        proof_(proof),
        challenge_(challenge),
        comm_c_(proof.c_x.inclusion.root),
        arities_(path_arities(shape)),
        data_arities_(shape.log2_nodes(), 2) {}

  Status run() const {
    CUZK_TRY(counts());
    CUZK_TRY(named(challenge(), "challenge"));
    CUZK_TRY(named(check_sha256_path({&proof_.comm_d, challenge_, &commit_.comm_d}, data_arities_), "comm_d_proofs"));
    CUZK_TRY(named(comm_r(), "comm_r"));
    CUZK_TRY(trees());
    for (uint32_t layer = 1; layer <= layers_; layer++) {
      CUZK_TRY(named(labeling(proof_.labeling[layer - 1], layer), "labeling_proofs[{}]", layer - 1));
    }
    return named(encoding(), "encoding_proof");
  }

 private:
  Status counts() const {
    auto rows = [&](const ColumnProof& column) { return column.column.rows.size() == layers_; };
    auto parents = [](const LabelingProof& label) { return label.parents.size() == kLabelParents; };
    const bool complete = proof_.drg_parents.size() == kDrgDegree && proof_.exp_parents.size() == kExpanderDegree &&
                          proof_.labeling.size() == layers_ && rows(proof_.c_x) &&
                          std::ranges::all_of(proof_.drg_parents, rows) &&
                          std::ranges::all_of(proof_.exp_parents, rows) &&
                          std::ranges::all_of(proof_.labeling, parents) && parents(proof_.encoding);
    return complete ? Status() : fail(Code::kInvalidInput, "parents, layers or columns are missing");
  }

  Status challenge() const {
    if (proof_.challenge() == challenge_) return {};
    return wrong("is for node {}, but the seed challenges node {}", proof_.challenge(), challenge_);
  }

  Status comm_r() const {
    CUZK_TRY_ASSIGN(const Bytes32 computed, poseidon_node(std::array{comm_c_, proof_.comm_r_last.root}));
    return computed == commit_.comm_r ? Status() : wrong("is not the hash of comm_c and comm_r_last");
  }

  // The replica's leaf, and the columns of the node and of its parents: 16 paths, hashed together.
  Status trees() const {
    std::vector<std::pair<const ColumnProof*, uint64_t>> columns = {{&proof_.c_x, challenge_}};
    const auto append = [&](const std::vector<ColumnProof>& proofs, const auto& nodes) {
      for (size_t i = 0; i < nodes.size(); i++) columns.push_back({&proofs[i], nodes[i]});
    };
    append(proof_.drg_parents, graph_.drg_parents(challenge_));
    append(proof_.exp_parents, graph_.expander_parents(challenge_));

    std::vector<std::span<const Bytes32>> rows;
    std::vector<PathCheck> paths = {{&proof_.comm_r_last, challenge_, &proof_.comm_r_last.root}};
    for (const auto& [proof, node] : columns) {
      rows.push_back(proof->column.rows);
      paths.push_back({&proof->inclusion, node, &comm_c_});
    }
    const std::vector<Result<Bytes32>> leaves = poseidon_nodes(rows);
    std::vector<Status> checked = check_poseidon_paths(paths, arities_);
    CUZK_TRY(named(std::move(checked[0]), "comm_r_last_proof"));
    for (size_t i = 0; i < columns.size(); i++) {
      Status status = column(*columns[i].first, columns[i].second, leaves[i], std::move(checked[i + 1]));
      if (status) continue;
      if (i == 0) return named(std::move(status), "c_x");
      return i <= kDrgDegree ? named(std::move(status), "drg_parents[{}]", i - 1)
                             : named(std::move(status), "exp_parents[{}]", i - 1 - kDrgDegree);
    }
    return {};
  }

  static Status column(const ColumnProof& proof, uint64_t node, const Result<Bytes32>& leaf, Status inclusion) {
    if (proof.column.index != node) return wrong("is the column of node {}, not of node {}", proof.column.index, node);
    if (!leaf) return tl::unexpected(leaf.error());
    if (*leaf != proof.inclusion.leaf) return wrong("its column does not hash to its leaf");
    return named(std::move(inclusion), "inclusion_proof");
  }

  // Layer 1 hashes the DRG parents of its own layer, the others also the expander parents of the layer before (C.9).
  Status labeling(const LabelingProof& proof, uint32_t layer) const {
    CUZK_TRY(place(proof, layer));
    const size_t parents = layer == 1 ? kDrgDegree : kDrgDegree + kExpanderDegree;
    for (size_t i = 0; i < kLabelParents; i++) {
      const size_t parent = i % parents;
      const Bytes32& row = parent < kDrgDegree ? proof_.drg_parents[parent].column.rows[layer - 1]
                                               : proof_.exp_parents[parent - kDrgDegree].column.rows[layer - 2];
      if (proof.parents[i] != row) return wrong("parents[{}] is not in its parent's column", i);
    }
    const Bytes32 expected = label(commit_.replica_id, layer, challenge_, proof.parents);
    return expected == proof_.c_x.column.rows[layer - 1] ? Status() : wrong("its label is not in the column of c_x");
  }

  Status encoding() const {
    CUZK_TRY(place(proof_.encoding, layers_));
    if (proof_.encoding.parents != proof_.labeling.back().parents)
      return wrong("its parents are not those of the last layer");
    CUZK_TRY_ASSIGN(const Fr key, field_element(proof_.c_x.column.rows.back()));
    CUZK_TRY_ASSIGN(const Fr data, field_element(proof_.comm_d.leaf));
    CUZK_TRY_ASSIGN(const Fr replica, field_element(proof_.comm_r_last.leaf));
    return key + data == replica ? Status() : wrong("label and data do not add up to the replica");
  }

  Status place(const LabelingProof& proof, uint32_t layer) const {
    if (proof.layer != layer) return wrong("layer_index is {}, not {}", proof.layer, layer);
    if (proof.node != challenge_) return wrong("is for node {}, not node {}", proof.node, challenge_);
    return {};
  }

  const SealCommit& commit_;
  const uint32_t layers_;
  const Graph& graph_;
  const ChallengeProof& proof_;
  const uint64_t challenge_;
  const Bytes32& comm_c_;
  const std::vector<unsigned> arities_, data_arities_;
};

}  // namespace

Status check_vanilla(const SealCommit& commit, exec::Pool& pool) {
  CUZK_TRY_ASSIGN(const RegisteredProof kind, seal_proof(commit.registered_proof));
  CUZK_TRY_ASSIGN(const PorepShape shape, porep_shape(kind.sector_bytes));
  if (commit.partitions.size() != kind.partitions) {
    return fail(Code::kInvalidInput, "{} has {} partitions, not {}", kind.name, kind.partitions,
                commit.partitions.size());
  }
  for (const Bytes32& value : {commit.replica_id, commit.comm_d, commit.comm_r}) CUZK_TRY(field_element(value));
  const PorepStatement statement{commit.replica_id, commit.comm_d, commit.comm_r, commit.seed};
  const Graph graph(shape.nodes, kind.api, kind.porep_id);
  std::vector<std::vector<uint64_t>> challenges;
  for (uint32_t k = 0; k < kind.partitions; k++) {
    if (commit.partitions[k].size() != shape.challenges_per_partition) {
      return fail(Code::kInvalidInput, "partition {} has {} challenges, not {}", k, commit.partitions[k].size(),
                  shape.challenges_per_partition);
    }
    challenges.push_back(porep_challenges(kind, shape, statement, k));
  }

  const size_t each = shape.challenges_per_partition;
  return first_failure(pool, kind.partitions * each, [&](size_t index) {
    const size_t k = index / each, i = index % each;
    return named(ChallengeCheck(commit, shape, graph, commit.partitions[k][i], challenges[k][i]).run(),
                 "partition {}, challenge {}", k, i);
  });
}

}  // namespace cuzk::filecoin
