#include "filecoin/update_circuit.h"

namespace cuzk::filecoin {
namespace {

// The first fault of many conversions stays, with what was converted in front.
class Converter {
 public:
  Fr number(const Bytes32& bytes, std::string_view what) {
    const std::optional<Fr> value = Fr::from_bytes_le(bytes);
    if (!value) reject(fmt::format("{}: {} is not a canonical field element", what, to_hex(bytes)));
    return value.value_or(Fr::zero());
  }
  PathValues path(const MerkleProof& proof, std::span<const unsigned> arities, size_t challenge,
                  std::string_view what) {
    auto values = path_values(proof, arities);
    if (!values) reject(fmt::format("challenge {}: {}: {}", challenge, what, values.error().message));
    return values ? std::move(*values) : PathValues{};
  }
  const std::optional<std::string>& fault() const { return fault_; }

 private:
  void reject(std::string message) {
    if (!fault_) fault_ = std::move(message);
  }
  std::optional<std::string> fault_;
};

}  // namespace

Result<UpdateValues> update_values(const SectorUpdate& update, uint32_t partition) {
  const UpdateShape& shape = update.shape;
  if (partition >= update.partitions.size() || !update.partitions[partition]) {
    return fail(Code::kInvalidInput, "partition {}: its vanilla proof is missing", partition);
  }
  const UpdateProof& proof = *update.partitions[partition];
  if (proof.challenges.size() != shape.challenges || proof.apex_leaves.size() != shape.apex_leaves) {
    return fail(Code::kInvalidInput, "partition {}: {} challenges and {} apex leaves instead of {} and {}", partition,
                proof.challenges.size(), proof.apex_leaves.size(), shape.challenges, shape.apex_leaves);
  }
  Converter convert;
  UpdateValues values{partition,
                      convert.number(update.statement.comm_r_old, "comm_r_old"),
                      convert.number(update.statement.comm_d_new, "comm_d_new"),
                      convert.number(update.statement.comm_r_new, "comm_r_new"),
                      convert.number(proof.comm_c, "comm_c"),
                      convert.number(proof.challenges[0].r_old.root, "root of tree_r_old"),
                      convert.number(proof.challenges[0].r_new.root, "root of tree_r_new"),
                      {},
                      {}};
  for (const Bytes32& leaf : proof.apex_leaves) values.apex_leaves.push_back(convert.number(leaf, "apex_leafs"));
  const std::vector<unsigned> arities = path_arities(shape.nodes, shape.tree);
  const std::vector<unsigned> binary(shape.log2_nodes(), 2);
  for (size_t i = 0; i < proof.challenges.size(); i++) {
    const UpdateProof::Challenge& challenge = proof.challenges[i];
    values.challenges.push_back({convert.path(challenge.r_old, arities, i, "proof_r_old"),
                                 convert.path(challenge.d_new, binary, i, "proof_d_new"),
                                 convert.path(challenge.r_new, arities, i, "proof_r_new")});
  }
  if (convert.fault()) return fail(Code::kInvalidInput, "partition {}: {}", partition, *convert.fault());
  return values;
}

std::string update_circuit_id(const UpdateShape& shape) {
  return fmt::format("update-{}", format_size(shape.sector_bytes));
}

r1cs::Circuit compile_update(const UpdateShape& shape) {
  r1cs::Recorder recorder;
  update_circuit::partition(recorder, shape, nullptr);
  return std::move(recorder).finish(update_circuit_id(shape));
}

Status assign_update(const r1cs::Circuit& circuit, const UpdateShape& shape, const UpdateValues& values,
                     const r1cs::Assignment& to) {
  r1cs::Assigner assigner(circuit, to);
  update_circuit::partition(assigner, shape, &values);
  return assigner.finish();
}

}  // namespace cuzk::filecoin
