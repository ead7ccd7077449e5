#include "filecoin/update_source.h"

#include "filecoin/update_check.h"
#include "filecoin/update_circuit.h"

namespace cuzk::filecoin {
namespace {

using Source = Result<std::shared_ptr<const groth16::CircuitSource>>;

class UpdateSource final : public groth16::CircuitSource {
 public:
  explicit UpdateSource(SectorUpdate update) : update_(std::move(update)) {}

  std::string circuit_id() const override { return update_circuit_id(update_.shape); }
  Result<r1cs::Circuit> compile() const override { return compile_update(update_.shape); }
  uint32_t partitions() const override { return update_.shape.partitions; }
  Result<std::vector<Fr>> public_inputs(uint32_t partition) const override {
    return update_public_inputs(update_.shape, update_.statement, partition);
  }
  Status assign(uint32_t partition, const r1cs::Circuit& circuit, const r1cs::Assignment& to) const override {
    CUZK_TRY_ASSIGN(const UpdateValues values, update_values(update_, partition));
    return assign_update(circuit, update_.shape, values, to);
  }

 private:
  SectorUpdate update_;
};

}  // namespace

Source make_update_source(SectorUpdate update, exec::Pool& pool, VanillaCheck check) {
  if (check == VanillaCheck::kFull) CUZK_TRY(check_update(update, pool));
  return std::make_shared<const UpdateSource>(std::move(update));
}

Source make_update_source(const UpdateRequest& request, exec::Pool& pool, VanillaCheck check) {
  CUZK_TRY_ASSIGN(SectorUpdate update, parse_update(request));
  return make_update_source(std::move(update), pool, check);
}

Source make_update_source_from_json(const std::filesystem::path& json, exec::Pool& pool, VanillaCheck check) {
  CUZK_TRY_ASSIGN(SectorUpdate update, read_update(json));
  return make_update_source(std::move(update), pool, check);
}

}  // namespace cuzk::filecoin
