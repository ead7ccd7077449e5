#include "filecoin/porep_source.h"

#include "filecoin/porep_circuit.h"
#include "filecoin/public_inputs.h"

namespace cuzk::filecoin {
namespace {

class PorepSource final : public groth16::CircuitSource {
 public:
  PorepSource(SealCommit commit, RegisteredProof proof, PorepShape shape)
      : commit_(std::move(commit)), proof_(std::move(proof)), shape_(shape) {}

  std::string circuit_id() const override { return porep_circuit_id(shape_); }
  Result<r1cs::Circuit> compile() const override { return compile_porep(shape_); }
  uint32_t partitions() const override { return static_cast<uint32_t>(commit_.partitions.size()); }
  Result<std::vector<Fr>> public_inputs(uint32_t partition) const override {
    return porep_public_inputs(proof_, {commit_.replica_id, commit_.comm_d, commit_.comm_r, commit_.seed}, partition);
  }
  Status assign(uint32_t partition, const r1cs::Circuit& circuit, const r1cs::Assignment& to) const override {
    CUZK_TRY_ASSIGN(PorepValues values, porep_values(shape_, commit_, partition));
    return assign_porep(circuit, shape_, values, to);
  }

 private:
  SealCommit commit_;
  RegisteredProof proof_;
  PorepShape shape_;
};

}  // namespace

Result<std::shared_ptr<const groth16::CircuitSource>> make_porep_source(ByteSpan c1, exec::Pool& pool,
                                                                        VanillaCheck check) {
  CUZK_TRY_ASSIGN(SealCommit commit, parse_c1(c1));
  if (check == VanillaCheck::kFull) CUZK_TRY(check_vanilla(commit, pool));
  CUZK_TRY_ASSIGN(RegisteredProof proof, seal_proof(commit.registered_proof));
  CUZK_TRY_ASSIGN(PorepShape shape, porep_shape(proof.sector_bytes));
  return std::make_shared<const PorepSource>(std::move(commit), std::move(proof), shape);
}

}  // namespace cuzk::filecoin
