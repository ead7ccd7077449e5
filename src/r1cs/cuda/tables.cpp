#include "r1cs/cuda/tables.h"

#include <algorithm>
#include <cstring>

#include "r1cs/bitmap.h"
#include "r1cs/witness.h"

namespace cuzk::r1cs {
namespace {

using HostTables = CircuitTables<HostArray>;

std::vector<uint32_t> halves(std::span<const uint64_t> words) {
  std::vector<uint32_t> out(2 * words.size());
  std::memcpy(out.data(), words.data(), words.size_bytes());
  return out;
}

// Calls visit(begin, end) for pieces of at most `size` of [begin, end).
template <class Visit>
void for_each_piece(uint32_t begin, uint32_t end, uint32_t size, Visit&& visit) {
  for (; begin < end; begin += std::min(size, end - begin)) visit(begin, begin + std::min(size, end - begin));
}

// Indices of the circuit's coefficients among 1, -1 and themselves.
std::vector<uint32_t> coefficient_ids(const Circuit& circuit) {
  std::vector<uint32_t> ids;
  for (const Fr& c : circuit.coefficients) {
    const uint32_t own = 2 + static_cast<uint32_t>(ids.size());
    ids.push_back(c == Fr::one() ? HostTables::kOne : c == -Fr::one() ? HostTables::kMinusOne : own);
  }
  return ids;
}

// Fills SumTables: the sums of each template first, then the tiles of each instance.
class SumsMaker {
 public:
  explicit SumsMaker(SumTables<HostArray>& out) : out_(out) {}

  uint32_t next_term() const { return static_cast<uint32_t>(out_.terms.size()); }
  void add_term(uint32_t source, uint32_t coefficient) { out_.terms.push_back({source, coefficient}); }
  // The sum of the terms since `begin`; nothing where there are none.
  void end_sum(uint32_t target, uint32_t begin) {
    if (begin < next_term()) out_.sums.push_back({target, begin, next_term()});
  }
  void end_template() {
    const uint32_t begin = ranges_.empty() ? 0 : ranges_.back().end, end = static_cast<uint32_t>(out_.sums.size());
    auto length = [](const Sum& sum) { return sum.end - sum.begin; };
    auto first = out_.sums.begin() + begin;
    std::stable_sort(first, out_.sums.end(), [&](const Sum& x, const Sum& y) { return length(x) < length(y); });
    auto first_long =
        std::find_if(first, out_.sums.end(), [&](const Sum& x) { return length(x) > Tables::kShortTerms; });
    ranges_.push_back({begin, begin + static_cast<uint32_t>(first_long - first), end});
  }
  void add_instance(uint32_t index, uint32_t template_id) {
    const Range& range = ranges_[template_id];
    for_each_piece(range.begin, range.first_long, Tables::kShortTile, [&](uint32_t begin, uint32_t end) {
      out_.short_tiles.push_back({index, begin, end});
    });
    for_each_piece(range.first_long, range.end, Tables::kLongTile, [&](uint32_t begin, uint32_t end) {
      out_.long_tiles.push_back({index, begin, end});
    });
  }

 private:
  using Tables = SumTables<HostArray>;
  struct Range {
    uint32_t begin, first_long, end;
  };
  SumTables<HostArray>& out_;
  std::vector<Range> ranges_;
};

// 0, 1, 2, 3 for 1, 2, -1, -2; else 4.
uint32_t small_code(const Fr& c) {
  const Fr one = Fr::one(), two = one.dbl();
  return c == one ? 0 : c == two ? 1 : c == -one ? 2 : c == -two ? 3 : 4;
}

// By template: whether some instance binds a slot to something else than a bit.
std::vector<std::vector<bool>> scalar_slots(const Circuit& circuit) {
  std::vector<std::vector<bool>> out;
  for (const Template& t : circuit.templates) out.emplace_back(t.slots);
  for (const Instance& instance : circuit.instances) {
    std::vector<bool>& slots = out[instance.template_id];
    for (uint32_t i = 0; i < slots.size(); i++) {
      const Var var = circuit.bindings[instance.first_binding + i];
      if (!var.is_aux() || test_bit(circuit.aux_is_field, var.index())) slots[i] = true;
    }
  }
  return out;
}

// The combinations of A and B of every template.
class RowsMaker {
 public:
  RowsMaker(const Circuit& circuit, HostTables& out)
      : circuit_(circuit), out_(out), sums_(out.sums), ids_(coefficient_ids(circuit)), scalars_(scalar_slots(circuit)) {
    for (const Fr& c : circuit.coefficients) small_codes_.push_back(small_code(c));
  }

  // Makes the tables of all templates and returns where in small_starts each begins.
  std::vector<uint32_t> add_templates() {
    std::vector<uint32_t> starts;
    for (size_t i = 0; i < circuit_.templates.size(); i++) {
      starts.push_back(static_cast<uint32_t>(out_.small_starts.size()));
      add_template(circuit_.templates[i], scalars_[i]);
    }
    return starts;
  }
  void add_instance(uint32_t index) {
    const uint32_t template_id = circuit_.instances[index].template_id;
    for_each_piece(0, circuit_.templates[template_id].rows, HostTables::kRowTile, [&](uint32_t begin, uint32_t end) {
      out_.row_tiles.push_back({index, begin, end});
    });
    sums_.add_instance(index, template_id);
  }

 private:
  void add_template(const Template& t, const std::vector<bool>& scalar_slot) {
    std::vector<uint32_t> ranks(t.locals);  // of the local variables that are field elements
    for (uint32_t i = 0, rank = 0; i < t.locals; i++) ranks[i] = test_bit(t.local_is_field, i) ? rank++ : kBit;
    auto is_small = [&](const LocalTerm& term) {
      if (small_codes_[term.coefficient] == 4 || term.var >= 1u << 30) return false;
      return term.var == 0 ||
             (term.var <= t.slots ? !scalar_slot[term.var - 1] : ranks[term.var - t.slots - 1] == kBit);
    };
    for (uint32_t row = 0; row < t.rows; row++) {
      for (unsigned m = 0; m < 2; m++) {
        const std::span<const LocalTerm> terms = t.combination(row, m);
        const uint32_t start = static_cast<uint32_t>(out_.small_terms.size());
        if (terms.size() <= HostTables::kSmallTerms && std::all_of(terms.begin(), terms.end(), is_small)) {
          out_.small_starts.push_back(start);
          for (const LocalTerm& term : terms) out_.small_terms.push_back(4 * term.var + small_codes_[term.coefficient]);
          continue;
        }
        out_.small_starts.push_back(start | HostTables::kNotSmall);
        const uint32_t begin = sums_.next_term();
        for (const LocalTerm& term : terms) {
          const uint32_t rank = term.var <= t.slots ? kBit : ranks[term.var - t.slots - 1];
          sums_.add_term(rank == kBit ? term.var : rank | HostTables::kScalar, ids_[term.coefficient]);
        }
        sums_.end_sum(2 * row + m, begin);
      }
    }
    out_.small_starts.push_back(static_cast<uint32_t>(out_.small_terms.size()));
    sums_.end_template();
  }

  static constexpr uint32_t kBit = ~uint32_t{0};
  const Circuit& circuit_;
  HostTables& out_;
  SumsMaker sums_;
  std::vector<uint32_t> ids_, small_codes_;
  std::vector<std::vector<bool>> scalars_;
};

// Set bits of the map before each block of variables, after `first`.
std::vector<uint32_t> block_ranks(std::span<const uint64_t> map, uint32_t first) {
  constexpr size_t kWords = HostTables::kBlockWords / 2;
  std::vector<uint32_t> ranks;
  for (size_t word = 0; word < map.size(); word += kWords) {
    ranks.push_back(first);
    first += static_cast<uint32_t>(count_bits(map.subspan(word, std::min(kWords, map.size() - word))));
  }
  return ranks;
}

// As split_query() of groth16 numbers the positions.
QueryTables<HostArray> make_query(const Circuit& circuit, std::span<const uint64_t> inputs,
                                  std::span<const uint64_t> aux) {
  QueryTables<HostArray> out;
  for (uint32_t i = 0; i < circuit.num_inputs && !inputs.empty(); i++) {
    if (test_bit(inputs, i)) out.inputs.push_back(i);
  }
  const uint32_t num_inputs = static_cast<uint32_t>(out.inputs.size());
  out.present = halves(aux);
  out.ranks = block_ranks(aux, num_inputs);
  uint64_t fields = 0;
  for (size_t word = 0; word < aux.size(); word++)
    fields += static_cast<uint64_t>(std::popcount(aux[word] & circuit.aux_is_field[word]));
  out.num_positions = num_inputs + static_cast<uint32_t>(count_bits(aux));
  out.num_scalars = num_inputs + static_cast<uint32_t>(fields);
  out.num_bits = out.num_positions - out.num_scalars;
  return out;
}

std::vector<uint64_t> all_present(size_t count) {
  std::vector<uint64_t> map(make_bitmap(count).size(), ~uint64_t{0});
  if (count % 64 != 0) map.back() = (uint64_t{1} << (count % 64)) - 1;
  return map;
}

// Adds the partial sums of each shared variable to the tables, in order of index.
void add_bound(const Circuit& circuit, ColumnTables<HostArray>& out) {
  auto index = [&](Var var) { return var.is_aux() ? circuit.num_inputs + var.index() : var.index(); };
  struct Partial {
    uint32_t variable, partial;
  };
  std::vector<Partial> all;
  all.reserve(circuit.bindings.size() + circuit.instances.size());
  for (const Instance& instance : circuit.instances) {
    for (uint32_t v = 0; v <= circuit.templates[instance.template_id].slots; v++)
      all.push_back({index(circuit.global(instance, v)), static_cast<uint32_t>(all.size())});
  }
  std::stable_sort(all.begin(), all.end(), [](const Partial& x, const Partial& y) { return x.variable < y.variable; });
  for (const Partial& partial : all) {
    if (out.bound.empty() || out.bound.back() != partial.variable) {
      out.bound.push_back(partial.variable);
      out.bound_starts.push_back(static_cast<uint32_t>(out.partials.size()));
    }
    out.partials.push_back(partial.partial);
  }
  out.bound_starts.push_back(static_cast<uint32_t>(out.partials.size()));
  out.num_partials = static_cast<uint32_t>(out.partials.size());
}

// visit(from.x, to.x) for every array x.
template <template <class> class A, template <class> class B, class Visit>
void visit_arrays(const SumTables<A>& from, SumTables<B>& to, Visit& visit) {
  visit(from.terms, to.terms);
  visit(from.sums, to.sums);
  visit(from.short_tiles, to.short_tiles);
  visit(from.long_tiles, to.long_tiles);
}
template <template <class> class A, template <class> class B, class Visit>
void visit_arrays(const QueryTables<A>& from, QueryTables<B>& to, Visit& visit) {
  to.num_positions = from.num_positions, to.num_bits = from.num_bits, to.num_scalars = from.num_scalars;
  visit(from.present, to.present);
  visit(from.ranks, to.ranks);
  visit(from.inputs, to.inputs);
}
template <template <class> class A, template <class> class B, class Visit>
void visit_arrays(const CircuitTables<A>& from, CircuitTables<B>& to, Visit& visit) {
  to.num_inputs = from.num_inputs, to.num_aux = from.num_aux;
  to.num_constraints = from.num_constraints, to.num_fields = from.num_fields;
  visit(from.instances, to.instances);
  visit(from.bindings, to.bindings);
  visit(from.coefficients, to.coefficients);
  visit(from.small_values, to.small_values);
  visit(from.small_starts, to.small_starts);
  visit(from.small_terms, to.small_terms);
  visit(from.row_tiles, to.row_tiles);
  visit_arrays(from.sums, to.sums, visit);
  visit(from.is_bit, to.is_bit);
  visit(from.field_ranks, to.field_ranks);
  for (size_t q = 0; q < kQueries; q++) visit_arrays(from.queries[q], to.queries[q], visit);
}
template <template <class> class A, template <class> class B, class Visit>
void visit_arrays(const ColumnTables<A>& from, ColumnTables<B>& to, Visit& visit) {
  for (size_t m = 0; m < 3; m++) visit_arrays(from.sums[m], to.sums[m], visit);
  to.num_partials = from.num_partials;
  visit(from.bound, to.bound);
  visit(from.bound_starts, to.bound_starts);
  visit(from.partials, to.partials);
}

template <template <template <class> class> class Tables>
uint64_t bytes_of(const Tables<HostArray>& tables) {
  gpu::DeviceCarver counter;
  Tables<DeviceArray> none;
  auto count = [&]<class T>(const std::vector<T>& from, DeviceArray<T>&) { counter.take<T>(from.size()); };
  visit_arrays(tables, none, count);
  return counter.bytes();
}

template <template <template <class> class> class Tables>
Result<Tables<DeviceArray>> upload_tables(const Tables<HostArray>& tables, gpu::DeviceSpan<std::byte> memory,
                                          const gpu::Stream& stream) {
  if (const uint64_t bytes = bytes_of(tables); bytes > memory.size)
    return fail(Code::kInternal, "{} bytes of circuit tables into {}", bytes, memory.size);
  gpu::DeviceCarver carver(memory);
  Tables<DeviceArray> out;
  Status status;
  auto place = [&]<class T>(const std::vector<T>& from, DeviceArray<T>& to) {
    const gpu::DeviceSpan<T> room = carver.take<T>(from.size());
    to = room.as_const();
    if (status) status = stream.upload(room, std::span(from));
  };
  visit_arrays(tables, out, place);
  CUZK_TRY(status);
  CUZK_TRY(stream.synchronize());
  return out;
}

}  // namespace

CircuitTables<HostArray> make_circuit_tables(const Circuit& circuit) {
  CircuitTables<HostArray> out;
  out.num_inputs = circuit.num_inputs, out.num_aux = circuit.num_aux, out.num_constraints = circuit.num_constraints;
  out.num_fields = static_cast<uint32_t>(count_bits(circuit.aux_is_field));
  out.coefficients = {device::Fr::from_host(Fr::one()), device::Fr::from_host(-Fr::one())};
  for (const Fr& c : circuit.coefficients) out.coefficients.push_back(device::Fr::from_host(c));
  Fr value = -Fr::from_u64(HostTables::kSmallLimit);
  for (int i = 0; i < 2 * HostTables::kSmallLimit + 1; i++, value += Fr::one())
    out.small_values.push_back(device::Fr::from_host(value));

  const FieldRanks rank(circuit);
  for (const Var var : circuit.bindings) {
    const bool is_field = var.is_aux() && test_bit(circuit.aux_is_field, var.index());
    out.bindings.push_back(!var.is_aux() ? var.index() | HostTables::kScalar
                           : is_field    ? (circuit.num_inputs + rank(var.index())) | HostTables::kScalar
                                         : var.index());
  }
  RowsMaker rows(circuit, out);
  const std::vector<uint32_t> small_starts = rows.add_templates();
  uint32_t first_partial = 0;
  for (uint32_t k = 0; k < circuit.instances.size(); k++) {
    const Instance& at = circuit.instances[k];
    const uint32_t slots = circuit.templates[at.template_id].slots;
    out.instances.push_back({at.first_row, at.first_aux, rank(at.first_aux), at.first_binding, first_partial, slots,
                             small_starts[at.template_id]});
    first_partial += 1 + slots;
    rows.add_instance(k);
  }

  const std::vector<uint64_t> all_inputs = all_present(circuit.num_inputs), all_aux = all_present(circuit.num_aux);
  std::vector<uint64_t> is_bit = all_aux;
  for (size_t word = 0; word < is_bit.size(); word++) is_bit[word] &= ~circuit.aux_is_field[word];
  out.is_bit = halves(is_bit);
  out.field_ranks = block_ranks(circuit.aux_is_field, 0);
  out.queries = {make_query(circuit, {}, all_aux), make_query(circuit, all_inputs, circuit.density.a_aux),
                 make_query(circuit, circuit.density.b_inputs, circuit.density.b_aux)};
  return out;
}

ColumnTables<HostArray> make_column_tables(const Circuit& circuit) {
  ColumnTables<HostArray> out;
  const std::vector<uint32_t> ids = coefficient_ids(circuit);
  for (unsigned m = 0; m < 3; m++) {
    SumsMaker sums(out.sums[m]);
    for (const Template& t : circuit.templates) {
      std::vector<std::vector<SumTerm>> columns(1 + t.slots + t.locals);
      for (uint32_t row = 0; row < t.rows; row++) {
        for (const LocalTerm& term : t.combination(row, m)) columns[term.var].push_back({row, ids[term.coefficient]});
      }
      for (uint32_t v = 0; v < columns.size(); v++) {
        const uint32_t begin = sums.next_term();
        for (const SumTerm& term : columns[v]) sums.add_term(term.source, term.coefficient);
        sums.end_sum(v, begin);
      }
      sums.end_template();
    }
    for (uint32_t k = 0; k < circuit.instances.size(); k++) sums.add_instance(k, circuit.instances[k].template_id);
  }
  add_bound(circuit, out);
  return out;
}

uint64_t table_bytes(const CircuitTables<HostArray>& tables) { return bytes_of(tables); }
uint64_t table_bytes(const ColumnTables<HostArray>& tables) { return bytes_of(tables); }

Result<CircuitTables<DeviceArray>> upload(const CircuitTables<HostArray>& tables, gpu::DeviceSpan<std::byte> memory,
                                          const gpu::Stream& stream) {
  return upload_tables(tables, memory, stream);
}
Result<ColumnTables<DeviceArray>> upload(const ColumnTables<HostArray>& tables, gpu::DeviceSpan<std::byte> memory,
                                         const gpu::Stream& stream) {
  return upload_tables(tables, memory, stream);
}

}  // namespace cuzk::r1cs
