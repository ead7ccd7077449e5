#include "filecoin/post_source.h"

#include <algorithm>

#include "filecoin/post_circuit.h"

namespace cuzk::filecoin {
namespace {

using Source = Result<std::shared_ptr<const groth16::CircuitSource>>;

class PostSource final : public groth16::CircuitSource {
 public:
  PostSource(PostInput input, const PostShape& shape, exec::Pool& pool)
      : input_(std::move(input)), statement_(input_.statement()), shape_(shape), pool_(pool) {}

  std::string circuit_id() const override { return post_circuit_id(shape_); }
  Result<r1cs::Circuit> compile() const override { return compile_post(shape_); }
  uint32_t partitions() const override { return post_partitions(shape_, input_.sectors.size()); }
  Result<std::vector<Fr>> public_inputs(uint32_t partition) const override {
    return post_public_inputs(shape_, input_.proof.api, statement_, partition);
  }
  Status assign(uint32_t partition, const r1cs::Circuit& circuit, const r1cs::Assignment& to) const override {
    if (partition >= partitions()) {
      return fail(Code::kInvalidInput, "there is no partition {}, only {}", partition, partitions());
    }
    const std::span<const PostSectorProof> rest = std::span(input_.sectors).subspan(size_t{partition} * shape_.sectors);
    return assign_post(circuit, shape_, rest.first(std::min<size_t>(rest.size(), shape_.sectors)), pool_, to);
  }

 private:
  PostInput input_;
  PostStatement statement_;
  PostShape shape_;
  exec::Pool& pool_;
};

Source make_source(PostKind kind, const PostRequest& request, exec::Pool& pool, VanillaCheck check) {
  if (request.proof.kind != kind) {
    return fail(Code::kInvalidInput, "{} is no {} PoSt", request.proof.name, post_kind_name(kind));
  }
  CUZK_TRY_ASSIGN(PostInput input, parse_post(request));
  return make_post_source(std::move(input), pool, check);
}

}  // namespace

Source make_post_source(PostInput input, exec::Pool& pool, VanillaCheck check) {
  CUZK_TRY_ASSIGN(const PostShape shape, post_shape(input.proof.kind, input.proof.sector_bytes));
  if (check == VanillaCheck::kFull) {
    CUZK_TRY(check_post(shape, input.proof.api, input.statement(), input.sectors, pool));
  }
  return std::make_shared<const PostSource>(std::move(input), shape, pool);
}

Source make_winning_source(const PostRequest& request, exec::Pool& pool, VanillaCheck check) {
  return make_source(PostKind::kWinning, request, pool, check);
}

Source make_window_source(const PostRequest& request, exec::Pool& pool, VanillaCheck check) {
  return make_source(PostKind::kWindow, request, pool, check);
}

Source make_post_source_from_json(const std::filesystem::path& json, exec::Pool& pool, VanillaCheck check) {
  CUZK_TRY_ASSIGN(PostInput input, read_post(json));
  return make_post_source(std::move(input), pool, check);
}

}  // namespace cuzk::filecoin
