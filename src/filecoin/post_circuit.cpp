#include "filecoin/post_circuit.h"

#include <algorithm>

#include "r1cs/bitmap.h"

namespace cuzk::filecoin {
namespace {

// `challenges` of a vanilla proof from `first` on, as the circuit takes them for one of its sectors.
Result<PostSectorValues> sector_values(const PostSectorProof& proof, std::span<const unsigned> arities, size_t first,
                                       size_t challenges) {
  if (proof.inclusion.size() < first + challenges) {
    return fail(Code::kInvalidInput, "{} inclusion proofs, not {}", proof.inclusion.size(), first + challenges);
  }
  auto number = [](std::string_view name, const Bytes32& bytes, Fr& out) -> Status {
    const std::optional<Fr> value = Fr::from_bytes_le(bytes);
    if (!value) return fail(Code::kInvalidInput, "{} is not a canonical field element", name);
    out = *value;
    return {};
  };
  PostSectorValues out;
  CUZK_TRY(number("comm_r", proof.comm_r, out.comm_r));
  CUZK_TRY(number("comm_c", proof.comm_c, out.comm_c));
  CUZK_TRY(number("comm_r_last", proof.comm_r_last, out.comm_r_last));
  for (size_t n = first; n < first + challenges; n++) {
    auto path = path_values(proof.inclusion[n], arities);
    if (!path) return tl::unexpected<Error>(std::move(path).error().within(fmt::format("challenge {}", n)));
    out.challenges.push_back(*std::move(path));
  }
  return out;
}

// A witness joined from those of its sectors.
class Joint {
 public:
  explicit Joint(const r1cs::Circuit& circuit)
      : circuit_(circuit), num_fields_(r1cs::count_bits(circuit.aux_is_field)) {
    witness_.bits = r1cs::make_bitmap(circuit.num_aux);
    witness_.fields.reserve(num_fields_);
    witness_.inputs.reserve(circuit.num_inputs);
    witness_.inputs.push_back(Fr::one());
  }
  void append(const r1cs::Circuit& piece, const r1cs::Witness& values) {
    witness_.inputs.insert(witness_.inputs.end(), values.inputs.begin() + 1, values.inputs.end());
    witness_.fields.insert(witness_.fields.end(), values.fields.begin(), values.fields.end());
    if (num_aux_ + piece.num_aux <= circuit_.num_aux) {
      r1cs::or_bits(witness_.bits, num_aux_, values.bits, 0, piece.num_aux);
    }
    num_aux_ += piece.num_aux;
  }
  // kInternal where the pieces are not the circuit's.
  Result<r1cs::Witness> finish() && {
    if (num_aux_ != circuit_.num_aux || witness_.inputs.size() != circuit_.num_inputs ||
        witness_.fields.size() != num_fields_) {
      return fail(Code::kInternal, "the sectors have {} variables and {} inputs, but the circuit {} and {}", num_aux_,
                  witness_.inputs.size(), circuit_.num_aux, circuit_.num_inputs);
    }
    return std::move(witness_);
  }

 private:
  const r1cs::Circuit& circuit_;
  size_t num_fields_, num_aux_ = 0;
  r1cs::Witness witness_;
};

}  // namespace

std::string post_circuit_id(const PostShape& shape) {
  return fmt::format("{}-{}", post_kind_name(shape.kind), format_size(shape.sector.sector_bytes));
}

r1cs::Circuit compile_post(const PostShape& shape) {
  const std::vector<unsigned> arities = path_arities(shape.sector);
  r1cs::Recorder recorder;
  for (unsigned i = 0; i < shape.sectors; i++)
    post_circuit::sector<r1cs::Recorder>(recorder, arities, shape.challenges, nullptr);
  return std::move(recorder).finish(post_circuit_id(shape));
}

Result<r1cs::Witness> assign_post(const r1cs::Circuit& circuit, const PostShape& shape,
                                  std::span<const PostSectorProof> sectors, exec::Pool& pool) {
  const size_t most = shape.unrolled() ? 1 : shape.sectors;
  if (sectors.empty() || sectors.size() > most) {
    return fail(Code::kInvalidInput, "{} sectors in a partition that holds 1 to {}", sectors.size(), most);
  }
  PostShape single = shape;
  single.sectors = 1;
  const r1cs::Circuit piece = compile_post(single);
  const std::vector<unsigned> arities = path_arities(shape.sector);
  auto assign_sector = [&](size_t i) -> Result<r1cs::Witness> {
    const PostSectorProof& proof = sectors[shape.unrolled() ? 0 : i];
    auto values = sector_values(proof, arities, shape.unrolled() ? i * shape.challenges : 0, shape.challenges);
    if (!values)
      return tl::unexpected<Error>(std::move(values).error().within(fmt::format("sector {}", proof.sector_id)));
    r1cs::Assigner assigner(piece);
    post_circuit::sector(assigner, arities, shape.challenges, &*values);
    return std::move(assigner).finish();
  };

  Joint joint(circuit);
  const size_t distinct = shape.unrolled() ? shape.sectors : sectors.size();
  std::vector<Result<r1cs::Witness>> batch(std::min(distinct, pool.threads()));
  for (size_t begin = 0; begin < distinct; begin += batch.size()) {
    const size_t count = std::min(batch.size(), distinct - begin);
    pool.for_each(count, [&](size_t i) { batch[i] = assign_sector(begin + i); });
    for (size_t i = 0; i < count; i++) {
      if (!batch[i]) return std::move(batch[i]);
      joint.append(piece, *batch[i]);
    }
  }
  const r1cs::Witness& last = *batch[(distinct - 1) % batch.size()];
  for (size_t i = distinct; i < shape.sectors; i++) joint.append(piece, last);
  return std::move(joint).finish();
}

}  // namespace cuzk::filecoin
