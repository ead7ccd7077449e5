#include "groth16/query.h"

#include <bit>

#include "r1cs/bitmap.h"

namespace cuzk::groth16 {

QueryScalars split_query(const r1cs::WitnessView& view, std::span<const uint64_t> inputs,
                         std::span<const uint64_t> aux) {
  const r1cs::Circuit& circuit = view.circuit();
  const r1cs::Witness& witness = view.witness();
  QueryScalars out;
  out.ones = r1cs::make_bitmap(r1cs::count_bits(inputs) + r1cs::count_bits(aux));
  size_t count = r1cs::count_bits(inputs);
  for (size_t word = 0; word < aux.size(); word++)
    count += static_cast<size_t>(std::popcount(aux[word] & circuit.aux_is_field[word]));
  out.positions.reserve(count);  // what grows as it goes takes up to three times as much
  out.fields.reserve(count);
  uint32_t position = 0;
  auto take_field = [&](uint32_t at, const Fr& value) {
    out.positions.push_back(at);
    out.fields.push_back(value);
  };
  if (!inputs.empty()) {
    for (uint32_t i = 0; i < circuit.num_inputs; i++) {
      if (r1cs::test_bit(inputs, i)) take_field(position++, witness.inputs[i]);
    }
  }
  size_t field = 0;  // into witness.fields
  for (size_t word = 0; word < aux.size(); word++) {
    const uint64_t present = aux[word], is_field = circuit.aux_is_field[word];
    auto rank = [&](uint64_t lowest) {
      return position + static_cast<uint32_t>(std::popcount(present & (lowest - 1)));
    };
    for (uint64_t ones = witness.bits[word] & present & ~is_field; ones != 0; ones &= ones - 1) {
      r1cs::set_bit(out.ones, rank(ones & -ones));
    }
    for (uint64_t fields = is_field; fields != 0; fields &= fields - 1, field++) {
      const uint64_t lowest = fields & -fields;
      if (present & lowest) take_field(rank(lowest), witness.fields[field]);
    }
    position += static_cast<uint32_t>(std::popcount(present));
  }
  return out;
}

namespace {

uint64_t fields_of(const r1cs::Circuit& circuit) { return circuit.num_inputs + r1cs::count_bits(circuit.aux_is_field); }

}  // namespace

uint64_t split_query_bytes(const r1cs::Circuit& circuit) {
  return fields_of(circuit) * (sizeof(Fr) + sizeof(uint32_t)) + (uint64_t{circuit.num_inputs} + circuit.num_aux) / 8 +
         8;
}

template <class F>
uint64_t sum_query_bytes(const r1cs::Circuit& circuit, size_t threads) {
  const uint64_t fields = fields_of(circuit);
  const uint64_t run = msm::plan({.points = fields, .g2 = std::is_same_v<F, Fp2>}, threads).workspace_bytes;
  return fields * sizeof(Affine<F>) + std::max(run, msm::sum_workspace_bytes<F>(threads));
}
template uint64_t sum_query_bytes<Fp>(const r1cs::Circuit&, size_t);
template uint64_t sum_query_bytes<Fp2>(const r1cs::Circuit&, size_t);

template <class F>
Result<Xyzz<F>> sum_query(const QueryScalars& scalars, std::span<const Affine<F>> points, exec::Pool& pool) {
  std::vector<Affine<F>> bases(scalars.positions.size());
  for (size_t i = 0; i < bases.size(); i++) bases[i] = points[scalars.positions[i]];
  CUZK_TRY_ASSIGN(Xyzz<F> fields, sum_full<F>(scalars.fields, bases, pool));
  bases = {};
  std::vector<std::byte> workspace(msm::sum_workspace_bytes<F>(pool.threads()));
  CUZK_TRY_ASSIGN(Xyzz<F> ones, msm::sum_selected<F>(points, scalars.ones, workspace, pool));
  return ones + fields;
}

uint64_t parts_workspace_bytes(uint64_t points, size_t parts, size_t threads) {
  const auto bytes = [&](uint64_t count) { return msm::plan({.points = count, .g2 = false}, threads).workspace_bytes; };
  return std::max(bytes(points / parts), bytes((points + parts - 1) / parts));
}

Result<G1> sum_in_parts(std::span<const Fr> scalars, std::span<const G1Affine> points, size_t parts,
                        std::span<std::byte> workspace, exec::Pool& pool) {
  G1 out = G1::infinity();
  for (size_t part = 0; part < parts; part++) {
    const size_t begin = part * points.size() / parts, count = (part + 1) * points.size() / parts - begin;
    const msm::Plan plan = msm::plan({.points = count, .g2 = false}, pool.threads());
    CUZK_TRY_ASSIGN(const G1 sum,
                    msm::run<Fp>(plan, points.subspan(begin, count), scalars.subspan(begin, count), workspace, pool));
    out += sum;
  }
  return out;
}

template Result<Xyzz<Fp>> sum_query<Fp>(const QueryScalars&, std::span<const Affine<Fp>>, exec::Pool&);
template Result<Xyzz<Fp2>> sum_query<Fp2>(const QueryScalars&, std::span<const Affine<Fp2>>, exec::Pool&);

Result<G2> sum_b_g2(const r1cs::WitnessView& view, std::span<const G2Affine> points, exec::Pool& pool) {
  const auto& density = view.circuit().density;
  return sum_query<Fp2>(split_query(view, density.b_inputs, density.b_aux), points, pool);
}

uint64_t sum_b_g2_bytes(const r1cs::Circuit& circuit, size_t threads) {
  return split_query_bytes(circuit) + sum_query_bytes<Fp2>(circuit, threads);
}

}  // namespace cuzk::groth16
