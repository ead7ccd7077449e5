#include "filecoin/public_inputs.h"

#include "filecoin/graph.h"

namespace cuzk::filecoin {

Result<std::vector<Fr>> porep_public_inputs(const RegisteredProof& proof, const PorepStatement& statement,
                                            uint32_t partition) {
  CUZK_TRY_ASSIGN(const PorepShape shape, porep_shape(proof.sector_bytes));
  if (partition >= proof.partitions) {
    return fail(Code::kInvalidInput, "{} has partitions 0 to {}, not {}", proof.name, proof.partitions - 1, partition);
  }
  std::vector<Fr> inputs;
  auto push_value = [&inputs](std::string_view name, const Bytes32& value) -> Status {
    const std::optional<Fr> element = Fr::from_bytes_le(value);
    if (!element) return fail(Code::kInvalidInput, "{} is not below the field order", name);
    inputs.push_back(*element);
    return {};
  };
  CUZK_TRY(push_value("replica_id", statement.replica_id));
  CUZK_TRY(push_value("comm_d", statement.comm_d));
  CUZK_TRY(push_value("comm_r", statement.comm_r));

  const Graph graph(shape.nodes, proof.api, proof.porep_id);
  auto push_node = [&inputs](uint64_t node) { inputs.push_back(Fr::from_u64(node)); };
  for (uint64_t challenge : porep_challenges(proof, shape, statement, partition)) {
    push_node(challenge);  // path in tree_d
    for (uint64_t parent : graph.drg_parents(challenge)) push_node(parent);
    for (uint64_t parent : graph.expander_parents(challenge)) push_node(parent);
    push_node(challenge);  // in the labels
    push_node(challenge);  // path in tree_r_last
    push_node(challenge);  // path in tree_c
  }
  return inputs;
}

}  // namespace cuzk::filecoin
