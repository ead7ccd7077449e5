#include "filecoin/post_circuit.h"

#include <algorithm>
#include <numeric>

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
  post_circuit::Hashes<r1cs::Recorder> hashes(arities);
  for (unsigned i = 0; i < shape.sectors; i++)
    post_circuit::sector<r1cs::Recorder>(recorder, arities, hashes, shape.challenges, nullptr);
  return std::move(recorder).finish(post_circuit_id(shape));
}

Status assign_post(const r1cs::Circuit& circuit, const PostShape& shape, std::span<const PostSectorProof> sectors,
                   exec::Pool& pool, const r1cs::Assignment& to) {
  const size_t most = shape.unrolled() ? 1 : shape.sectors;
  if (sectors.empty() || sectors.size() > most) {
    return fail(Code::kInvalidInput, "{} sectors in a partition that holds 1 to {}", sectors.size(), most);
  }
  const size_t aux = circuit.num_aux / shape.sectors, inputs = (to.inputs.size() - 1) / shape.sectors,
               fields = to.fields.size() / shape.sectors;  // of one of the circuit's sectors
  if (circuit.num_aux != shape.sectors * aux || to.inputs.size() != 1 + shape.sectors * inputs ||
      to.fields.size() != shape.sectors * fields) {
    return fail(Code::kInternal, "a circuit of {} variables and {} inputs is not one of {} sectors", circuit.num_aux,
                to.inputs.size(), shape.sectors);
  }
  const std::vector<unsigned> arities = path_arities(shape.sector);
  const size_t distinct = shape.unrolled() ? shape.sectors : sectors.size();
  const size_t group = std::lcm(8, shape.challenges) / shape.challenges;  // their paths fill lanes
  struct Made {
    Status status;
    std::vector<uint64_t> bits;
  };
  // All but the bits of a group go where they belong; its bits share words with those of its neighbours.
  auto assign_group = [&](size_t first, Made& made) -> Status {
    const size_t count = std::min(group, distinct - first);
    std::vector<PostSectorValues> group_values;
    for (size_t i = first; i < first + count; i++) {
      const PostSectorProof& proof = sectors[shape.unrolled() ? 0 : i];
      auto values = sector_values(proof, arities, shape.unrolled() ? i * shape.challenges : 0, shape.challenges);
      if (!values) {
        return tl::unexpected<Error>(std::move(values).error().within(fmt::format("sector {}", proof.sector_id)));
      }
      group_values.push_back(*std::move(values));
    }
    made.bits = r1cs::make_bitmap(count * aux);
    r1cs::Assigner assigner(count * aux, {to.inputs.subspan(first * inputs, 1 + count * inputs), made.bits,
                                          to.fields.subspan(first * fields, count * fields)});
    post_circuit::Hashes<r1cs::Assigner> hashes(arities);
    for (const PostSectorValues& values : group_values) {
      post_circuit::sector(assigner, arities, hashes, shape.challenges, &values);
    }
    hashes.flush(assigner);
    return assigner.finish();
  };

  const size_t groups = (distinct + group - 1) / group;
  std::vector<Made> batch(std::min(groups, pool.threads()));
  for (size_t begin = 0; begin < groups; begin += batch.size()) {
    const size_t count = std::min(batch.size(), groups - begin);
    pool.for_each(count, [&](size_t i) { batch[i].status = assign_group((begin + i) * group, batch[i]); });
    for (size_t i = 0; i < count; i++) {
      CUZK_TRY(batch[i].status);
      const size_t first = (begin + i) * group;
      r1cs::or_bits(to.bits, first * aux, batch[i].bits, 0, std::min(group, distinct - first) * aux);
    }
  }
  const size_t last = distinct - 1;
  for (size_t i = distinct; i < shape.sectors; i++) {
    std::ranges::copy(to.inputs.subspan(1 + last * inputs, inputs), to.inputs.begin() + 1 + i * inputs);
    std::ranges::copy(to.fields.subspan(last * fields, fields), to.fields.begin() + i * fields);
    r1cs::or_bits(to.bits, i * aux, batch[(groups - 1) % batch.size()].bits, last % group * aux, aux);
  }
  return {};
}

}  // namespace cuzk::filecoin
