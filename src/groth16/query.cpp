#include "groth16/query.h"

#include <algorithm>
#include <bit>

#include "r1cs/bitmap.h"

namespace cuzk::groth16 {

namespace {

uint64_t word_of(std::span<const uint64_t> aux, size_t word) { return aux.empty() ? ~uint64_t{0} : aux[word]; }

// How many of the variables are field elements.
size_t count_fields(const r1cs::Circuit& circuit, const QueryVariables& variables) {
  size_t count = r1cs::count_bits(variables.inputs);
  for (size_t word = 0; word < circuit.aux_is_field.size(); word++)
    count += static_cast<size_t>(std::popcount(word_of(variables.aux, word) & circuit.aux_is_field[word]));
  return count;
}

QueryScalars carve_scalars(const r1cs::Circuit& circuit, const QueryVariables& variables, mem::Carver& memory) {
  const size_t aux = variables.aux.empty() ? circuit.num_aux : r1cs::count_bits(variables.aux);
  const size_t positions = r1cs::count_bits(variables.inputs) + aux, fields = count_fields(circuit, variables);
  return {memory.take<uint64_t>((positions + 63) / 64), memory.take<uint32_t>(fields), memory.take<Fr>(fields)};
}

constexpr size_t kGatherGrain = 4096;

size_t parts_of(size_t fields, size_t at_once) { return std::max<size_t>(1, (fields + at_once - 1) / at_once); }

// Part `part` of `parts` nearly equal ones.
struct Part {
  size_t begin, count;
  Part(size_t all, size_t parts, size_t part) : begin(part * all / parts), count((part + 1) * all / parts - begin) {}
};

// What the points and the sum of a part take.
template <class F>
struct PartMemory {
  msm::Plan plan;
  std::span<Affine<F>> points;
  std::span<std::byte> workspace;

  PartMemory(size_t count, size_t threads, mem::Carver& memory)
      : plan(msm::plan({.points = count, .g2 = std::is_same_v<F, Fp2>}, threads)),
        points(memory.take<Affine<F>>(count)),
        workspace(memory.take<std::byte>(plan.workspace_bytes)) {}

  // Of the largest of so many, and of the sum of the points without field elements.
  static uint64_t bytes(size_t fields, size_t parts, size_t threads) {
    mem::Carver smaller, larger;
    PartMemory(fields / parts, threads, smaller);
    PartMemory((fields + parts - 1) / parts, threads, larger);
    return std::max({smaller.bytes(), larger.bytes(), msm::sum_workspace_bytes<F>(threads)});
  }
};

}  // namespace

QueryVariables b_variables(const r1cs::Circuit& circuit) { return {circuit.density.b_inputs, circuit.density.b_aux}; }

QueryScalars split_query(const r1cs::WitnessView& view, const QueryVariables& variables, mem::Carver& memory) {
  const r1cs::Circuit& circuit = view.circuit();
  const r1cs::Assignment& witness = view.witness();
  const QueryScalars out = carve_scalars(circuit, variables, memory);
  std::ranges::fill(out.ones, 0);
  uint32_t position = 0;
  size_t taken = 0;
  auto take_field = [&](uint32_t at, const Fr& value) {
    out.positions[taken] = at;
    out.fields[taken++] = value;
  };
  if (!variables.inputs.empty()) {
    for (uint32_t i = 0; i < circuit.num_inputs; i++) {
      if (r1cs::test_bit(variables.inputs, i)) take_field(position++, witness.inputs[i]);
    }
  }
  size_t field = 0;  // into witness.fields
  for (size_t word = 0; word < circuit.aux_is_field.size(); word++) {
    const uint64_t present = word_of(variables.aux, word), is_field = circuit.aux_is_field[word];
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

uint64_t split_query_bytes(const r1cs::Circuit& circuit, const QueryVariables& variables) {
  mem::Carver counter;
  carve_scalars(circuit, variables, counter);
  return counter.bytes();
}

template <class F>
uint64_t sum_query_bytes(const r1cs::Circuit& circuit, const QueryVariables& variables, size_t threads,
                         size_t at_once) {
  const size_t fields = count_fields(circuit, variables);
  return PartMemory<F>::bytes(fields, parts_of(fields, at_once), threads);
}
template uint64_t sum_query_bytes<Fp>(const r1cs::Circuit&, const QueryVariables&, size_t, size_t);
template uint64_t sum_query_bytes<Fp2>(const r1cs::Circuit&, const QueryVariables&, size_t, size_t);

template <class F>
Result<Xyzz<F>> sum_query(const QueryScalars& scalars, std::span<const Affine<F>> points,
                          std::span<std::byte> workspace, exec::Pool& pool, size_t at_once) {
  const size_t fields = scalars.positions.size(), threads = pool.threads(), most = parts_of(fields, at_once);
  size_t parts = 1;
  while (parts < most && PartMemory<F>::bytes(fields, parts, threads) > workspace.size()) parts++;
  if (const uint64_t bytes = PartMemory<F>::bytes(fields, parts, threads); workspace.size() < bytes)
    return fail(Code::kResourceExhausted, "the sum of a query takes {} bytes of workspace, not {}", bytes,
                workspace.size());
  CUZK_TRY_ASSIGN(Xyzz<F> out, msm::sum_selected<F>(points, scalars.ones, workspace, pool));
  for (size_t i = 0; i < parts; i++) {
    const Part part(fields, parts, i);
    mem::Carver carver(workspace);
    const PartMemory<F> memory(part.count, threads, carver);
    const auto positions = scalars.positions.subspan(part.begin, part.count);
    pool.for_each_chunk(part.count, kGatherGrain, [&](size_t begin, size_t end) {
      for (size_t k = begin; k < end; k++) memory.points[k] = points[positions[k]];
    });
    CUZK_TRY_ASSIGN(const Xyzz<F> sum,
                    msm::run<F>(memory.plan, memory.points, scalars.fields.subspan(part.begin, part.count),
                                memory.workspace, pool));
    out += sum;
  }
  return out;
}

uint64_t parts_workspace_bytes(uint64_t points, size_t parts, size_t threads) {
  const auto bytes = [&](uint64_t count) { return msm::plan({.points = count, .g2 = false}, threads).workspace_bytes; };
  return std::max(bytes(points / parts), bytes((points + parts - 1) / parts));
}

Result<G1> sum_in_parts(std::span<const Fr> scalars, std::span<const G1Affine> points, size_t parts,
                        std::span<std::byte> workspace, exec::Pool& pool) {
  G1 out = G1::infinity();
  for (size_t i = 0; i < parts; i++) {
    const auto [begin, count] = Part(points.size(), parts, i);
    const msm::Plan plan = msm::plan({.points = count, .g2 = false}, pool.threads());
    CUZK_TRY_ASSIGN(const G1 sum,
                    msm::run<Fp>(plan, points.subspan(begin, count), scalars.subspan(begin, count), workspace, pool));
    out += sum;
  }
  return out;
}

template Result<Xyzz<Fp>> sum_query<Fp>(const QueryScalars&, std::span<const Affine<Fp>>, std::span<std::byte>,
                                        exec::Pool&, size_t);
template Result<Xyzz<Fp2>> sum_query<Fp2>(const QueryScalars&, std::span<const Affine<Fp2>>, std::span<std::byte>,
                                          exec::Pool&, size_t);

Result<G2> sum_b_g2(const r1cs::WitnessView& view, std::span<const G2Affine> points, std::span<std::byte> workspace,
                    exec::Pool& pool) {
  const r1cs::Circuit& circuit = view.circuit();
  if (const uint64_t bytes = sum_b_g2_bytes(circuit, pool.threads()); workspace.size() < bytes)
    return fail(Code::kResourceExhausted, "the sum over b_g2 takes {} bytes of workspace, not {}", bytes,
                workspace.size());
  mem::Carver memory(workspace);
  const QueryScalars scalars = split_query(view, b_variables(circuit), memory);
  return sum_query<Fp2>(scalars, points, workspace.subspan(split_query_bytes(circuit, b_variables(circuit))), pool);
}

uint64_t sum_b_g2_bytes(const r1cs::Circuit& circuit, size_t threads) {
  return split_query_bytes(circuit, b_variables(circuit)) +
         sum_query_bytes<Fp2>(circuit, b_variables(circuit), threads);
}

}  // namespace cuzk::groth16
