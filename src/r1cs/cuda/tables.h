#pragma once
// The compiled circuit as flat arrays for a device, made on the host. The same arrays lie in host vectors while they
// are made and in device memory afterwards.
//
// All sums that a device needs are sums of terms of a template, placed at its instances. Work is cut into tiles: a
// tile is some rows, or some sums, of one instance, and one warp takes it. So whatever depends on the instance is the
// same in all lanes, and a tile is small enough that neither a huge instance nor a tiny one hurts.

#include <array>
#include <cstdint>
#include <vector>

#include "field/cuda/montgomery.cuh"
#include "gpu/memory.h"
#include "gpu/stream.h"
#include "r1cs/circuit.h"

namespace cuzk::r1cs {

template <class T>
using HostArray = std::vector<T>;
template <class T>
using DeviceArray = gpu::DeviceSpan<const T>;

struct Tile {
  uint32_t instance, begin, end;
};

// One sum: terms [begin, end) of a template.
struct Sum {
  uint32_t target;  // what the sum is of
  uint32_t begin, end;
};
struct SumTerm {
  uint32_t source;  // what the coefficient multiplies
  uint32_t coefficient;
};

// Sums over templates. One lane makes a short one, kLongLanes lanes a long one; the sums of a template are sorted by
// length, so that lanes of a warp have equal work.
template <template <class> class Array>
struct SumTables {
  static constexpr uint32_t kShortTerms = 8;
  // Sums. On an H200 the long ones of 32 GiB PoRep take 0.98 ms so and 1.20 ms with 32 a tile; those of WindowPoSt, all
  // Poseidon, 28 ms either way.
  static constexpr uint32_t kShortTile = 128, kLongTile = 8;
  Array<SumTerm> terms;
  Array<Sum> sums;
  Array<Tile> short_tiles, long_tiles;
};

// One use of a template, with what else a warp must know of it.
struct PlacedInstance {
  uint32_t first_row;
  uint32_t first_aux;
  uint32_t first_field;    // rank of its first field-element variable
  uint32_t first_binding;  // in CircuitTables::bindings
  uint32_t first_partial;  // of its partial sums, those of ONE and each slot
  uint32_t slots;
  uint32_t small_starts;  // of its template in CircuitTables::small_starts
};

// The queries of Groth16 that are summed over variables, and their variables in the order of positions:
//   l  all auxiliary variables
//   a  all inputs, then the auxiliary variables that are in A
//   b  the inputs, then the auxiliary variables that are in B (b_g1 and b_g2)
enum class Query : uint8_t { kL, kA, kB };
inline constexpr size_t kQueries = 3;

template <template <class> class Array>
struct QueryTables {
  uint32_t num_positions = 0;
  uint32_t num_bits = 0;     // of these, single bits
  uint32_t num_scalars = 0;  // and the others: inputs and field elements
  Array<uint32_t> present;   // bitmap of auxiliary variables
  Array<uint32_t> ranks;     // position of the first auxiliary variable of each block
  Array<uint32_t> inputs;    // those that are present, which have the first positions
};

// Combination m (0 = A, 1 = B) of row r of a template is number 2 r + m. A small one, of a few bits with coefficients
// -2, -1, 1 and 2, is summed as an integer and looked up; every other is in `sums`, with its number as target.
template <template <class> class Array>
struct CircuitTables {
  static constexpr uint32_t kSmallTerms = 8;
  static constexpr int32_t kSmallLimit = 2 * kSmallTerms;  // the most that a small sum comes to, either way
  static constexpr uint32_t kRowTile = 1024;
  static constexpr uint32_t kNotSmall = 1u << 31;  // flag in small_starts
  static constexpr uint32_t kScalar = 1u << 31;    // flag of bindings and sources: a full scalar, not a bit
  // Coefficients by which nothing is multiplied.
  static constexpr uint32_t kOne = 0, kMinusOne = 1;
  static constexpr uint32_t kBlockWords = 256;  // words of 32 auxiliary variables in a block that has its ranks

  uint32_t num_inputs = 0, num_aux = 0, num_constraints = 0, num_fields = 0;
  Array<PlacedInstance> instances;
  Array<uint32_t> bindings;        // index of an auxiliary bit; with kScalar, of a full scalar
  Array<device::Fr> coefficients;  // 1, -1, then those of the circuit
  Array<device::Fr> small_values;  // -kSmallLimit .. kSmallLimit
  Array<uint32_t> small_starts;    // 2 * rows + 1 a template: the beginning of each combination in small_terms
  Array<uint32_t> small_terms;     // 4 * local variable + coefficient: 0 is 1, 1 is 2, 2 is -1, 3 is -2
  Array<Tile> row_tiles;           // rows
  SumTables<Array> sums;           // source: local variable; with kScalar, rank of a field element of the instance
  Array<uint32_t> is_bit;          // bitmap of auxiliary variables
  Array<uint32_t> field_ranks;     // field elements before each block
  std::array<QueryTables<Array>, kQueries> queries;
};

// The transposed matrices A, B, C: a column is a variable and a sum over it runs over rows. An instance sums its own
// columns: those of the variables that it allocates are whole, those of ONE and its slots are partial sums, which are
// then added up by variable.
template <template <class> class Array>
struct ColumnTables {
  std::array<SumTables<Array>, 3> sums;  // source: row; target: local variable
  // Variables (inputs, then auxiliary ones) that instances share: variable bound[i] has the partial sums
  // partials[bound_starts[i] .. bound_starts[i + 1]).
  uint32_t num_partials = 0;
  Array<uint32_t> bound, bound_starts, partials;
};

CircuitTables<HostArray> make_circuit_tables(const Circuit& circuit);
ColumnTables<HostArray> make_column_tables(const Circuit& circuit);

// Bytes of the arrays in device memory.
uint64_t table_bytes(const CircuitTables<HostArray>& tables);
uint64_t table_bytes(const ColumnTables<HostArray>& tables);
// Lays the arrays out in `memory` and copies them there. Waits. kInternal where there is too little memory.
Result<CircuitTables<DeviceArray>> upload(const CircuitTables<HostArray>& tables, gpu::DeviceSpan<std::byte> memory,
                                          const gpu::Stream& stream);
Result<ColumnTables<DeviceArray>> upload(const ColumnTables<HostArray>& tables, gpu::DeviceSpan<std::byte> memory,
                                         const gpu::Stream& stream);

}  // namespace cuzk::r1cs
