#pragma once
// One query of the key (l, a or b) against a packed witness: sum z_i p_i over its present variables, split by kind of
// scalar (decision D4).

#include <vector>

#include "exec/pool.h"
#include "msm/msm.h"
#include "r1cs/witness.h"

namespace cuzk::groth16 {

// The scalars of a query. Positions count the present variables, inputs first (filecoin-spec A.12).
struct QueryScalars {
  std::vector<uint64_t> ones;       // bitmap over positions: a bit variable that is 1
  std::vector<uint32_t> positions;  // of the field elements
  std::vector<Fr> fields;           // their values
};

// Bitmaps of the variables that are present; an empty `inputs` means that none is.
QueryScalars split_query(const r1cs::WitnessView& view, std::span<const uint64_t> inputs,
                         std::span<const uint64_t> aux);

// About what they take for any query of a circuit, at most: split_query its result, sum_query beside its arguments.
uint64_t split_query_bytes(const r1cs::Circuit& circuit);
template <class F>
uint64_t sum_query_bytes(const r1cs::Circuit& circuit, size_t threads);

template <class F>
Result<Xyzz<F>> sum_query(const QueryScalars& scalars, std::span<const Affine<F>> points, exec::Pool& pool);

extern template Result<Xyzz<Fp>> sum_query<Fp>(const QueryScalars&, std::span<const Affine<Fp>>, exec::Pool&);
extern template Result<Xyzz<Fp2>> sum_query<Fp2>(const QueryScalars&, std::span<const Affine<Fp2>>, exec::Pool&);

// sum_i z_i [B_i]_2 over the whole query, for a back end whose device leaves this sum to the processor.
Result<G2> sum_b_g2(const r1cs::WitnessView& view, std::span<const G2Affine> points, exec::Pool& pool);
// About the memory that it takes beside its arguments.
uint64_t sum_b_g2_bytes(const r1cs::Circuit& circuit, size_t threads);

// sum scalars_i points_i
template <class F>
Result<Xyzz<F>> sum_full(std::span<const Fr> scalars, std::span<const Affine<F>> points, exec::Pool& pool) {
  msm::Plan plan = msm::plan({.points = points.size(), .g2 = std::is_same_v<F, Fp2>}, pool.threads());
  std::vector<std::byte> workspace(plan.workspace_bytes);
  return msm::run<F>(plan, points, scalars, workspace, pool);
}

// The same in so many equal parts, one after the other: more additions in less workspace.
uint64_t parts_workspace_bytes(uint64_t points, size_t parts, size_t threads);
Result<G1> sum_in_parts(std::span<const Fr> scalars, std::span<const G1Affine> points, size_t parts,
                        std::span<std::byte> workspace, exec::Pool& pool);

}  // namespace cuzk::groth16
