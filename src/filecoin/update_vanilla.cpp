#include "filecoin/update_vanilla.h"

#include "filecoin/bincode.h"
#include "hash/poseidon.h"
#include "r1cs/bitmap.h"

namespace cuzk::filecoin {
namespace {

struct Forms {
  explicit Forms(const UpdateShape& shape)
      : replica(bincode::tree_form(shape.nodes, shape.tree)), data(bincode::binary_form(shape.nodes)) {}
  bincode::PathForm replica, data;
};

}  // namespace

size_t update_proof_bytes(const UpdateShape& shape) {
  const Forms forms(shape);
  const size_t challenge = 2 * bincode::merkle_proof_bytes(forms.replica) + bincode::merkle_proof_bytes(forms.data);
  return sizeof(Bytes32) * (1 + shape.apex_leaves) + 2 * sizeof(uint64_t) + shape.challenges * challenge;
}

Result<UpdateProof> read_update_proof(const UpdateShape& shape, ByteSpan bytes) {
  const Forms forms(shape);
  bincode::Reader reader(bytes);
  UpdateProof out;
  out.comm_c = reader.element("comm_c");
  out.apex_leaves = reader.elements("apex_leafs", shape.apex_leaves);
  reader.length("challenge_proofs", shape.challenges);
  reader.each("challenge_proofs", shape.challenges, [&](size_t) {
    UpdateProof::Challenge& challenge = out.challenges.emplace_back();
    challenge.r_old = read_merkle_proof(reader, "proof_r_old", forms.replica);
    challenge.d_new = read_merkle_proof(reader, "proof_d_new", forms.data);
    challenge.r_new = read_merkle_proof(reader, "proof_r_new", forms.replica);
  });
  CUZK_TRY(reader.status());
  return out;
}

Bytes write_update_proof(const UpdateShape& shape, const UpdateProof& proof) {
  const Forms forms(shape);
  bincode::Writer writer;
  writer.element(proof.comm_c);
  writer.elements(proof.apex_leaves);
  writer.u64(proof.challenges.size());
  for (const UpdateProof::Challenge& challenge : proof.challenges) {
    write_merkle_proof(writer, challenge.r_old, forms.replica);
    write_merkle_proof(writer, challenge.d_new, forms.data);
    write_merkle_proof(writer, challenge.r_new, forms.replica);
  }
  return std::move(writer).finish();
}

Fr update_digest(const Fr& x, const Fr& y) { return hash::poseidon(std::array{x, y}, hash::kRandomnessTag); }

std::vector<uint64_t> update_challenges(const UpdateShape& shape, const Fr& comm_r_new, uint32_t partition) {
  const unsigned bits = shape.random_bits();
  std::vector<uint64_t> out;
  for (unsigned j = 0; j < shape.digests(); j++) {
    const uint64_t index = uint64_t{partition} * shape.digests() + j;
    const Fr::Limbs digest = update_digest(comm_r_new, Fr::from_u64(index)).canonical();
    for (unsigned t = 0; t < shape.challenges_per_digest() && out.size() < shape.challenges; t++) {
      out.push_back(r1cs::read_bits(digest, t * bits, bits) | uint64_t{partition} << bits);
    }
  }
  return out;
}

uint64_t update_selector(const UpdateShape& shape, uint32_t partition) {
  return partition | uint64_t{1} << shape.h_index << shape.partition_bits();
}

Result<std::vector<Fr>> update_public_inputs(const UpdateShape& shape, const UpdateStatement& statement,
                                             uint32_t partition) {
  if (partition >= shape.partitions) {
    return fail(Code::kInvalidInput, "an update of a {} sector has partitions 0 to {}, not {}",
                format_size(shape.sector_bytes), shape.partitions - 1, partition);
  }
  std::vector<Fr> inputs = {Fr::from_u64(update_selector(shape, partition))};
  auto push = [&inputs](std::string_view name, const Bytes32& value) -> Status {
    const std::optional<Fr> number = Fr::from_bytes_le(value);
    if (!number) return fail(Code::kInvalidInput, "{} is not below the field order", name);
    inputs.push_back(*number);
    return {};
  };
  CUZK_TRY(push("comm_r_old", statement.comm_r_old));
  CUZK_TRY(push("comm_d_new", statement.comm_d_new));
  CUZK_TRY(push("comm_r_new", statement.comm_r_new));
  return inputs;
}

}  // namespace cuzk::filecoin
