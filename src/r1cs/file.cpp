#include "r1cs/file.h"

#include <cstring>

#include "base/files.h"
#include "hash/sha256.h"
#include "r1cs/bitmap.h"

namespace cuzk::r1cs {
namespace {

class Writer {
 public:
  void put(uint32_t value) { put_raw(&value, sizeof(value)); }
  void put(std::string_view text) {
    put(static_cast<uint32_t>(text.size()));
    put_raw(text.data(), text.size());
  }
  template <class T>
  void put(const std::vector<T>& items) {
    static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>);
    put(static_cast<uint32_t>(items.size()));
    put_raw(items.data(), items.size() * sizeof(T));
  }
  void put_raw(const void* data, size_t size) {
    const uint8_t* bytes = static_cast<const uint8_t*>(data);
    out.insert(out.end(), bytes, bytes + size);
  }
  Bytes out;
};

// After the first short read everything that follows reads as empty, and ok() is false.
class Reader {
 public:
  explicit Reader(ByteSpan bytes) : rest_(bytes) {}
  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }
  uint32_t get() {
    uint32_t value = 0;
    get_raw(&value, sizeof(value));
    return value;
  }
  std::string get_text() {
    ByteSpan bytes = take(get());
    return std::string(as_text(bytes));
  }
  template <class T>
  std::vector<T> get_items() {
    uint64_t size = uint64_t{get()} * sizeof(T);
    ByteSpan bytes = take(size);
    std::vector<T> items(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(static_cast<void*>(items.data()), bytes.data(), bytes.size());
    return items;
  }

 private:
  ByteSpan take(uint64_t size) {
    ok_ = ok_ && size <= rest_.size();
    if (!ok_) return {};
    ByteSpan bytes = rest_.first(size);
    rest_ = rest_.subspan(size);
    return bytes;
  }
  void get_raw(void* out, size_t size) {
    if (ByteSpan bytes = take(size); !bytes.empty()) std::memcpy(out, bytes.data(), size);
  }
  ByteSpan rest_;
  bool ok_ = true;
};

// Every index that later code follows without asking.
Status check_indices(const Circuit& c) {
  auto wrong = [](std::string_view what) {
    return fail(Code::kInvalidInput, "circuit file: {}; delete it and it is made anew", what);
  };
  if (c.num_inputs == 0 || c.num_inputs >= Var::kAux || c.num_aux >= Var::kAux)
    return wrong("variable counts are out of range");
  if (c.aux_is_field.size() != (size_t{c.num_aux} + 63) / 64)
    return wrong("the map of field variables has the wrong length");
  for (const Fr& coefficient : c.coefficients) {
    if (!limbs::less(coefficient.raw(), Fr::kModulus) || coefficient.is_zero())
      return wrong("a coefficient is not a reduced non-zero element");
  }
  for (const Template& t : c.templates) {
    uint64_t variables = uint64_t{1} + t.slots + t.locals;
    if (variables > UINT32_MAX || t.local_is_field.size() != (size_t{t.locals} + 63) / 64)
      return wrong("a template's variable counts disagree");
    if (t.rows == 0 || t.row_ends.size() != 3 * size_t{t.rows} || t.row_ends.back() != t.terms.size())
      return wrong("a template's row table is damaged");
    for (size_t i = 1; i < t.row_ends.size(); i++) {
      if (t.row_ends[i] < t.row_ends[i - 1]) return wrong("a template's row table is not in order");
    }
    for (const LocalTerm& term : t.terms) {
      if (term.var >= variables || term.coefficient >= c.coefficients.size())
        return wrong("a term points outside its template");
    }
  }
  uint64_t next_row = 0;
  for (const Instance& i : c.instances) {
    if (i.template_id >= c.templates.size()) return wrong("an instance names no template");
    const Template& t = c.templates[i.template_id];
    if (i.first_row != next_row) return wrong("the instances do not cover the rows in order");
    if (uint64_t{i.first_aux} + t.locals > c.num_aux) return wrong("an instance allocates variables that do not exist");
    if (uint64_t{i.first_binding} + t.slots > c.bindings.size()) return wrong("an instance has too few bindings");
    for (uint32_t at = 0; at < t.locals; at += 64) {
      unsigned count = std::min(64u, t.locals - at);
      if (read_bits(c.aux_is_field, i.first_aux + at, count) != read_bits(t.local_is_field, at, count)) {
        return wrong("an instance and its template disagree on which variables are bits");
      }
    }
    next_row += t.rows;
  }
  if (next_row != c.num_constraints) return wrong("the instances do not cover every row");
  for (Var var : c.bindings) {
    if (var.index() >= (var.is_aux() ? c.num_aux : c.num_inputs))
      return wrong("a binding names a variable that does not exist");
  }
  return {};
}

}  // namespace

Bytes serialise(const Circuit& circuit) {
  Writer writer;
  writer.put_raw(kCircuitMagic.data(), kCircuitMagic.size());
  writer.put(kCircuitVersion);
  writer.put(circuit.name);
  writer.put(circuit.num_inputs);
  writer.put(circuit.num_aux);
  writer.put(circuit.num_constraints);
  writer.put(circuit.coefficients);
  writer.put(static_cast<uint32_t>(circuit.templates.size()));
  for (const Template& t : circuit.templates) {
    writer.put(t.name);
    writer.put(t.slots);
    writer.put(t.locals);
    writer.put(t.rows);
    writer.put(t.local_is_field);
    writer.put(t.row_ends);
    writer.put(t.terms);
  }
  writer.put(circuit.instances);
  writer.put(circuit.bindings);
  writer.put(circuit.aux_is_field);
  Bytes32 checksum = hash::sha256(writer.out);
  writer.put_raw(checksum.data(), checksum.size());
  return std::move(writer.out);
}

Result<Circuit> deserialise(ByteSpan bytes) {
  if (bytes.size() < kCircuitMagic.size() + 4 + 32 || as_text(bytes.first(kCircuitMagic.size())) != kCircuitMagic) {
    return fail(Code::kInvalidInput, "not a circuit file ({} bytes, no '{}' at its head)", bytes.size(), kCircuitMagic);
  }
  uint32_t version = load_le<uint32_t>(bytes.data() + kCircuitMagic.size());
  if (version != kCircuitVersion)
    return fail(Code::kInvalidInput, "circuit file has version {}, this program reads {}", version, kCircuitVersion);
  ByteSpan body = bytes.first(bytes.size() - 32);
  Bytes32 checksum = hash::sha256(body);
  if (!std::equal(checksum.begin(), checksum.end(), bytes.end() - 32)) {
    return fail(Code::kInvalidInput,
                "circuit file is damaged: its checksum does not match; delete it and it is made anew");
  }
  Reader reader(body.subspan(kCircuitMagic.size() + 4));
  Circuit circuit;
  circuit.name = reader.get_text();
  circuit.num_inputs = reader.get();
  circuit.num_aux = reader.get();
  circuit.num_constraints = reader.get();
  circuit.coefficients = reader.get_items<Fr>();
  uint32_t templates = reader.get();
  for (uint32_t i = 0; i < templates && reader.ok(); i++) {
    Template t;
    t.name = reader.get_text();
    t.slots = reader.get();
    t.locals = reader.get();
    t.rows = reader.get();
    t.local_is_field = reader.get_items<uint64_t>();
    t.row_ends = reader.get_items<uint32_t>();
    t.terms = reader.get_items<LocalTerm>();
    circuit.templates.push_back(std::move(t));
  }
  circuit.instances = reader.get_items<Instance>();
  circuit.bindings = reader.get_items<Var>();
  circuit.aux_is_field = reader.get_items<uint64_t>();
  if (!reader.ok() || !reader.at_end())
    return fail(Code::kInvalidInput, "circuit file's section lengths do not add up");
  CUZK_TRY(check_indices(circuit));
  circuit.derive_density();
  circuit.plans = make_plans(circuit);
  return circuit;
}

Status save(const Circuit& circuit, const std::filesystem::path& path) { return write_file(path, serialise(circuit)); }

Result<Circuit> load(const std::filesystem::path& path) {
  CUZK_TRY_ASSIGN(const Bytes bytes, read_file(path));
  return deserialise(bytes);
}

}  // namespace cuzk::r1cs
