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

Status assign_post(const r1cs::Circuit& circuit, const PostShape& shape, std::span<const PostSectorProof> sectors,
                   exec::Pool& pool, const r1cs::Assignment& to) {
  const size_t most = shape.unrolled() ? 1 : shape.sectors;
  if (sectors.empty() || sectors.size() > most) {
    return fail(Code::kInvalidInput, "{} sectors in a partition that holds 1 to {}", sectors.size(), most);
  }
  PostShape single = shape;
  single.sectors = 1;
  const r1cs::Circuit piece = compile_post(single);
  const size_t inputs = piece.num_inputs - 1, fields = r1cs::count_bits(piece.aux_is_field);
  if (to.inputs.size() != 1 + shape.sectors * inputs || to.fields.size() != shape.sectors * fields ||
      circuit.num_aux != shape.sectors * size_t{piece.num_aux}) {
    return fail(Code::kInternal, "{} sectors of {} variables and {} inputs, but the circuit has {} and {}",
                shape.sectors, piece.num_aux, inputs, circuit.num_aux, to.inputs.size());
  }
  const std::vector<unsigned> arities = path_arities(shape.sector);
  // All but the bits of a sector go where they belong; its bits share words with those of its neighbours.
  auto assign_sector = [&](size_t i, std::span<uint64_t> bits) -> Status {
    const PostSectorProof& proof = sectors[shape.unrolled() ? 0 : i];
    auto values = sector_values(proof, arities, shape.unrolled() ? i * shape.challenges : 0, shape.challenges);
    if (!values)
      return tl::unexpected<Error>(std::move(values).error().within(fmt::format("sector {}", proof.sector_id)));
    r1cs::Assigner assigner(piece,
                            {to.inputs.subspan(i * inputs, 1 + inputs), bits, to.fields.subspan(i * fields, fields)});
    post_circuit::sector(assigner, arities, shape.challenges, &*values);
    return assigner.finish();
  };

  struct Made {
    Status status;
    std::vector<uint64_t> bits;
  };
  const size_t distinct = shape.unrolled() ? shape.sectors : sectors.size();
  std::vector<Made> batch(std::min(distinct, pool.threads()));
  auto put_bits = [&](size_t i, const Made& made) {
    r1cs::or_bits(to.bits, i * piece.num_aux, made.bits, 0, piece.num_aux);
  };
  for (size_t begin = 0; begin < distinct; begin += batch.size()) {
    const size_t count = std::min(batch.size(), distinct - begin);
    pool.for_each(count, [&](size_t i) {
      batch[i].bits = r1cs::make_bitmap(piece.num_aux);
      batch[i].status = assign_sector(begin + i, batch[i].bits);
    });
    for (size_t i = 0; i < count; i++) {
      CUZK_TRY(batch[i].status);
      put_bits(begin + i, batch[i]);
    }
  }
  const size_t last = distinct - 1;
  for (size_t i = distinct; i < shape.sectors; i++) {
    std::ranges::copy(to.inputs.subspan(1 + last * inputs, inputs), to.inputs.begin() + 1 + i * inputs);
    std::ranges::copy(to.fields.subspan(last * fields, fields), to.fields.begin() + i * fields);
    put_bits(i, batch[last % batch.size()]);
  }
  return {};
}

}  // namespace cuzk::filecoin
