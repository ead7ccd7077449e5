#pragma once
// One query of the key (l, a or b) against a packed witness: sum z_i p_i over its present variables, split by kind of
// scalar (decision D4).

#include "exec/pool.h"
#include "mem/carver.h"
#include "msm/msm.h"
#include "r1cs/witness.h"

namespace cuzk::groth16 {

// The variables that a query has points for.
struct QueryVariables {
  std::span<const uint64_t> inputs;  // bitmap, spare bits zero; empty: none
  std::span<const uint64_t> aux;     // bitmap; empty: all
};
// Of the queries b_g1 and b_g2.
QueryVariables b_variables(const r1cs::Circuit& circuit);

// The scalars of a query. Positions count its variables, inputs first (filecoin-spec A.12).
struct QueryScalars {
  std::span<uint64_t> ones;       // bitmap over positions: a bit variable that is 1
  std::span<uint32_t> positions;  // of the field elements
  std::span<Fr> fields;           // their values
};

// In `memory` of split_query_bytes().
QueryScalars split_query(const r1cs::WitnessView& view, const QueryVariables& variables, mem::Carver& memory);
uint64_t split_query_bytes(const r1cs::Circuit& circuit, const QueryVariables& variables);

// So many points with field elements for scalars are summed at a time at least; they are copied to lie side by side,
// and all of a WindowPoSt would take 24 GB.
inline constexpr size_t kQueryPoints = size_t{1} << 22;
// In `workspace` of sum_query_bytes(), else kResourceExhausted. More of it lets more points be summed at a time.
template <class F>
Result<Xyzz<F>> sum_query(const QueryScalars& scalars, std::span<const Affine<F>> points,
                          std::span<std::byte> workspace, exec::Pool& pool, size_t at_once = kQueryPoints);
template <class F>
uint64_t sum_query_bytes(const r1cs::Circuit& circuit, const QueryVariables& variables, size_t threads,
                         size_t at_once = kQueryPoints);

#define CUZK_QUERY(F)                                                                                                 \
  extern template Result<Xyzz<F>> sum_query<F>(const QueryScalars&, std::span<const Affine<F>>, std::span<std::byte>, \
                                               exec::Pool&, size_t);                                                  \
  extern template uint64_t sum_query_bytes<F>(const r1cs::Circuit&, const QueryVariables&, size_t, size_t);
CUZK_QUERY(Fp)
CUZK_QUERY(Fp2)
#undef CUZK_QUERY

// sum_i z_i [B_i]_2 over the whole query, for a back end whose device leaves this sum to the processor. In `workspace`
// of sum_b_g2_bytes().
Result<G2> sum_b_g2(const r1cs::WitnessView& view, std::span<const G2Affine> points, std::span<std::byte> workspace,
                    exec::Pool& pool);
uint64_t sum_b_g2_bytes(const r1cs::Circuit& circuit, size_t threads);

// sum scalars_i points_i in so many equal parts, one after the other: more additions in less workspace.
uint64_t parts_workspace_bytes(uint64_t points, size_t parts, size_t threads);
Result<G1> sum_in_parts(std::span<const Fr> scalars, std::span<const G1Affine> points, size_t parts,
                        std::span<std::byte> workspace, exec::Pool& pool);

}  // namespace cuzk::groth16
