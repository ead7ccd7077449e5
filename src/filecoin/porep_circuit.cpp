#include "filecoin/porep_circuit.h"

namespace cuzk::filecoin {
namespace {

// Collects the first fault, so that conversions can be written one after another.
class Converter {
 public:
  explicit Converter(uint32_t partition) : partition_(partition) {}

  Fr number(const Bytes32& bytes, std::string_view what) {
    std::optional<Fr> value = Fr::from_bytes_le(bytes);
    if (!value) reject(fmt::format("{} is not a field element (32 bytes, little-endian, below r)", what));
    return value.value_or(Fr::zero());
  }
  PorepChallengeValues::Path path(const MerkleProof& proof, std::span<const unsigned> arities, std::string_view what) {
    PorepChallengeValues::Path out{number(proof.leaf, what), {}};
    if (proof.path.size() != arities.size()) {
      reject(fmt::format("{} path has {} levels instead of {}", what, proof.path.size(), arities.size()));
      return out;
    }
    for (size_t level = 0; level < arities.size(); level++) {
      const PathElement& element = proof.path[level];
      if (element.hashes.size() + 1 != arities[level] || element.index >= arities[level]) {
        reject(fmt::format("{} path has no arity-{} node at level {}", what, arities[level], level));
      }
      gadgets::PathLevel& values = out.levels.emplace_back();
      values.index = element.index;
      for (const Bytes32& sibling : element.hashes) values.siblings.push_back(number(sibling, what));
    }
    return out;
  }
  void reject(std::string message) {
    if (!fault_) fault_ = fmt::format("partition {}, challenge {}: {}", partition_, challenge_, message);
  }
  void set_challenge(size_t challenge) { challenge_ = challenge; }
  const std::optional<std::string>& fault() const { return fault_; }

 private:
  uint32_t partition_;
  size_t challenge_ = 0;
  std::optional<std::string> fault_;
};

}  // namespace

Result<PorepValues> porep_values(const PorepShape& shape, const SealCommit& commit, uint32_t partition) {
  if (partition >= commit.partitions.size()) {
    return fail(Code::kInvalidInput, "partition {} is missing: the C1 output has {}", partition,
                commit.partitions.size());
  }
  const std::vector<ChallengeProof>& proofs = commit.partitions[partition];
  if (proofs.size() != shape.challenges_per_partition) {
    return fail(Code::kInvalidInput, "partition {} has {} challenges instead of {}", partition, proofs.size(),
                shape.challenges_per_partition);
  }
  const std::vector<unsigned> arities = path_arities(shape);
  const std::vector<unsigned> binary(shape.log2_nodes(), 2);
  Converter convert(partition);
  PorepValues values{convert.number(commit.replica_id, "replica_id"),
                     convert.number(commit.comm_d, "comm_d"),
                     convert.number(commit.comm_r, "comm_r"),
                     convert.number(proofs[0].comm_r_last.root, "comm_r_last root"),
                     convert.number(proofs[0].c_x.inclusion.root, "comm_c"),
                     {}};
  for (size_t i = 0; i < proofs.size(); i++) {
    const ChallengeProof& proof = proofs[i];
    convert.set_challenge(i);
    PorepChallengeValues& out = values.challenges.emplace_back();
    out.comm_d = convert.path(proof.comm_d, binary, "comm_d");
    out.comm_r_last = convert.path(proof.comm_r_last, arities, "comm_r_last");
    out.c_x = convert.path(proof.c_x.inclusion, arities, "c_x");
    for (const auto* group : {&proof.drg_parents, &proof.exp_parents}) {
      for (const ColumnProof& parent : *group) {
        PorepChallengeValues::Parent& values_of_parent = out.parents.emplace_back();
        for (const Bytes32& row : parent.column.rows)
          values_of_parent.column.push_back(convert.number(row, "parent column"));
        if (parent.column.rows.size() != shape.layers) convert.reject("a parent column has the wrong number of layers");
        values_of_parent.path = convert.path(parent.inclusion, arities, "parent");
      }
    }
    if (proof.drg_parents.size() != kDrgDegree || proof.exp_parents.size() != kExpanderDegree ||
        proof.labeling.empty()) {
      convert.reject("parents or labelling proofs are missing");
    } else {
      out.node = proof.challenge();
    }
  }
  if (convert.fault()) return fail(Code::kInvalidInput, "{}", *convert.fault());
  return values;
}

std::string porep_circuit_id(const PorepShape& shape) {
  return fmt::format("porep-{}", format_size(shape.sector_bytes));
}

r1cs::Circuit compile_porep(const PorepShape& shape, unsigned challenges) {
  r1cs::Recorder recorder;
  porep_circuit::partition(recorder, shape, challenges, nullptr);
  return std::move(recorder).finish(porep_circuit_id(shape));
}

Status assign_porep(const r1cs::Circuit& circuit, const PorepShape& shape, const PorepValues& values,
                    const r1cs::Assignment& to) {
  r1cs::Assigner assigner(circuit, to);
  porep_circuit::partition(assigner, shape, static_cast<unsigned>(values.challenges.size()), &values);
  return assigner.finish();
}

}  // namespace cuzk::filecoin
