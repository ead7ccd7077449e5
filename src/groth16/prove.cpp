#include "groth16/prove.h"

#include <algorithm>
#include <chrono>

#include "groth16/query.h"
#include "groth16/quotient.h"
#include "mem/carver.h"
#include "r1cs/bitmap.h"

namespace cuzk::groth16 {
namespace {

constexpr size_t kRowGrain = 8192;  // rows a task of evaluation

// Adds up the time since its last call into one step.
class Stopwatch {
 public:
  explicit Stopwatch(ProveTimes* times) : times_(times) {}
  void lap(double ProveTimes::*step) {
    auto now = std::chrono::steady_clock::now();
    if (times_) times_->*step += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  ProveTimes* times_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

Status check_shapes(const r1cs::Circuit& circuit, const Parameters& parameters, const r1cs::Assignment& witness) {
  if (lengths_of(parameters) != lengths_of(circuit)) {
    return fail(Code::kInvalidParams, "the parameters are not of circuit {}", circuit.name);
  }
  size_t fields = r1cs::count_bits(circuit.aux_is_field);
  if (witness.inputs.size() != circuit.num_inputs || witness.bits.size() != circuit.aux_is_field.size() ||
      witness.fields.size() != fields) {
    return fail(Code::kInvalidInput,
                "the witness has {} inputs, {} words of bits and {} field elements; circuit {} wants {}, {} and {}",
                witness.inputs.size(), witness.bits.size(), witness.fields.size(), circuit.name, circuit.num_inputs,
                circuit.aux_is_field.size(), fields);
  }
  return {};
}

// a_q and b_q on the domain: the rows, the appended rows (input i) * (0) = (0), zeros.
void evaluate_rows(const r1cs::WitnessView& view, std::span<Fr> a, std::span<Fr> b, exec::Pool& pool) {
  const uint32_t rows = view.circuit().num_constraints;
  pool.for_each_chunk(rows, kRowGrain, [&](size_t begin, size_t end) {
    r1cs::evaluate(view, static_cast<uint32_t>(begin), static_cast<uint32_t>(end), a.subspan(begin, end - begin),
                   b.subspan(begin, end - begin), {});
  });
  std::fill(a.begin() + rows, a.end(), Fr::zero());
  std::fill(b.begin() + rows, b.end(), Fr::zero());
  std::ranges::copy(view.witness().inputs, a.begin() + rows);
}

// The same multiplied: the rows again, which is cheaper than to keep a third vector.
void evaluate_products(const r1cs::WitnessView& view, std::span<Fr> out, exec::Pool& pool) {
  const uint32_t rows = view.circuit().num_constraints;
  pool.for_each_chunk(rows, kRowGrain, [&](size_t begin, size_t end) {
    r1cs::evaluate_products(view, static_cast<uint32_t>(begin), static_cast<uint32_t>(end),
                            out.subspan(begin, end - begin));
  });
  std::fill(out.begin() + rows, out.end(), Fr::zero());
}

// From a domain of 2^22 on the sum over h is made in halves: their workspace fits where b was, for 3 % more additions
// at 2^22 and less above.
size_t h_parts(uint64_t points) { return points + 1 < uint64_t{1} << 22 ? 1 : 2; }

// What the quotient and the sum over h work in.
struct QuotientMemory {
  std::span<Fr> a, b;                  // on the domain
  std::span<std::byte> sum_workspace;  // where b is

  QuotientMemory(const r1cs::Circuit& circuit, size_t threads, mem::Carver& memory) {
    const uint64_t size = uint64_t{1} << r1cs::log2_domain(circuit), points = lengths_of(circuit).h;
    a = memory.take<Fr>(size);
    sum_workspace =
        memory.take<std::byte>(std::max(size * sizeof(Fr), parts_workspace_bytes(points, h_parts(points), threads)));
    b = {reinterpret_cast<Fr*>(sum_workspace.data()), sum_workspace.empty() ? 0 : size};
  }
};

// The queries by the values of variables.
struct Queries {
  std::vector<uint64_t> all_inputs;
  QueryVariables l, a, b;

  explicit Queries(const r1cs::Circuit& circuit) : all_inputs(r1cs::make_bitmap(circuit.num_inputs)) {
    for (uint32_t i = 0; i < circuit.num_inputs; i++) r1cs::set_bit(all_inputs, i);
    a = {all_inputs, circuit.density.a_aux};
    b = b_variables(circuit);
  }
};

// A query's scalars, and what its sums work in.
struct QueryMemory {
  QueryScalars scalars;
  std::span<std::byte> sums;

  QueryMemory(const r1cs::WitnessView& view, const QueryVariables& variables, std::span<std::byte> workspace) {
    mem::Carver memory(workspace);
    scalars = split_query(view, variables, memory);
    sums = workspace.subspan(split_query_bytes(view.circuit(), variables));
  }
};

}  // namespace

uint64_t start_bytes(const r1cs::Circuit& circuit, size_t threads) {
  mem::Carver quotient;
  QuotientMemory(circuit, threads, quotient);
  const Queries queries(circuit);
  const auto in_g1 = [&](const QueryVariables& variables) {
    return split_query_bytes(circuit, variables) + sum_query_bytes<Fp>(circuit, variables, threads);
  };
  return std::max(
      {quotient.bytes(), in_g1(queries.l), in_g1(queries.a), in_g1(queries.b), sum_b_g2_bytes(circuit, threads)});
}

Result<Pending> start(const r1cs::Circuit& circuit, const Parameters& parameters, const r1cs::Assignment& witness,
                      std::span<std::byte> workspace, exec::Pool& pool, ProveTimes* times) {
  CUZK_TRY(check_shapes(circuit, parameters, witness));
  if (const uint64_t bytes = start_bytes(circuit, pool.threads()); workspace.size() < bytes) {
    return fail(Code::kResourceExhausted, "a proof of {} takes {} bytes of workspace, not {}", circuit.name, bytes,
                workspace.size());
  }
  Stopwatch watch(times);
  Pending out;
  const r1cs::WitnessView view(circuit, witness);
  {
    const ntt::Domain domain(r1cs::log2_domain(circuit), pool);
    mem::Carver carver(workspace);
    const QuotientMemory memory(circuit, pool.threads(), carver);
    evaluate_rows(view, memory.a, memory.b, pool);
    watch.lap(&ProveTimes::evaluate);

    quotient(
        domain, memory.a, memory.b, [&](std::span<Fr> products) { evaluate_products(view, products, pool); }, pool);
    watch.lap(&ProveTimes::quotient);

    // H = sum_k h_k [tau^k (tau^m - 1) / delta]; the coefficient of tau^(m-1) is zero.
    const std::span<Fr> h = memory.a.first(domain.size() - 1);
    CUZK_TRY_ASSIGN(out.h, sum_in_parts(h, parameters.h, h_parts(h.size()), memory.sum_workspace, pool));
    watch.lap(&ProveTimes::h);
  }
  const Queries queries(circuit);
  {
    const QueryMemory l(view, queries.l, workspace);
    watch.lap(&ProveTimes::split);
    CUZK_TRY_ASSIGN(out.l, sum_query<Fp>(l.scalars, parameters.l, l.sums, pool));  // L = sum_aux z_j l_j
    watch.lap(&ProveTimes::l);
  }
  {
    const QueryMemory a(view, queries.a, workspace);
    watch.lap(&ProveTimes::split);
    CUZK_TRY_ASSIGN(out.a, sum_query<Fp>(a.scalars, parameters.a, a.sums, pool));  // sum_i z_i [A_i]_1
    watch.lap(&ProveTimes::a);
  }
  const QueryMemory b(view, queries.b, workspace);
  watch.lap(&ProveTimes::split);
  CUZK_TRY_ASSIGN(out.b_g1, sum_query<Fp>(b.scalars, parameters.b_g1, b.sums, pool));  // sum_i z_i [B_i]_1
  watch.lap(&ProveTimes::b_g1);
  CUZK_TRY_ASSIGN(out.b_g2, sum_query<Fp2>(b.scalars, parameters.b_g2, b.sums, pool));  // sum_i z_i [B_i]_2
  watch.lap(&ProveTimes::b_g2);
  return out;
}

Result<Proof> finish(const Pending& pending, const VerifyingKey& vk, const Fr& r, const Fr& s, ProveTimes* times) {
  if (vk.delta_g1.is_infinity() || vk.delta_g2.is_infinity())
    return fail(Code::kInvalidParams, "delta is the identity: the parameters are unsafe");
  Stopwatch watch(times);
  auto times_g1 = [](const G1& p, const Fr& k) { return scalar_mul(p, k.canonical()); };
  const G1 alpha = G1::from_affine(vk.alpha_g1), beta = G1::from_affine(vk.beta_g1),
           delta = G1::from_affine(vk.delta_g1);
  const G2 delta_g2 = G2::from_affine(vk.delta_g2);

  // A = alpha + sum_i z_i [A_i]_1 + r delta
  G1 a = alpha + pending.a + times_g1(delta, r);
  // B = beta + sum_i z_i [B_i]_2 + s delta, in G2
  G2 b = G2::from_affine(vk.beta_g2) + pending.b_g2 + scalar_mul(delta_g2, s.canonical());
  // C = L + H + s (sum_i z_i [A_i]_1) + r (sum_i z_i [B_i]_1) + r s delta + s alpha + r beta
  G1 c = pending.l + pending.h + times_g1(pending.a, s) + times_g1(pending.b_g1, r) + times_g1(delta, r * s) +
         times_g1(alpha, s) + times_g1(beta, r);
  Proof proof{a.to_affine(), b.to_affine(), c.to_affine()};
  watch.lap(&ProveTimes::assemble);
  return proof;
}

Result<Proof> prove(const r1cs::Circuit& circuit, const Parameters& parameters, const r1cs::Assignment& witness,
                    const Fr& r, const Fr& s, mem::Reservation memory, exec::Pool& pool, ProveTimes* times) {
  CUZK_TRY_ASSIGN(const mem::Buffer workspace, mem::Buffer::make(std::move(memory)));
  CUZK_TRY_ASSIGN(const Pending pending, start(circuit, parameters, witness, workspace.bytes(), pool, times));
  return finish(pending, parameters.vk, r, s, times);
}

Error explain_failure(const r1cs::Circuit& circuit, const r1cs::Assignment& witness, exec::Pool& pool) {
  uint32_t row = r1cs::first_unsatisfied(r1cs::WitnessView(circuit, witness), pool);
  if (row == circuit.num_constraints) {
    return {Code::kVerifyFailed,
            fmt::format(
                "the proof does not verify although the witness satisfies all {} constraints of {}: the parameters, "
                "the public inputs or the machine are at fault",
                row, circuit.name)};
  }
  return {
      Code::kUnsatisfied,
      fmt::format("the witness breaks constraint {} of {} in {}, a row of template '{}'", row, circuit.num_constraints,
                  circuit.name, circuit.templates[circuit.instances[circuit.instance_of_row(row)].template_id].name)};
}

}  // namespace cuzk::groth16
