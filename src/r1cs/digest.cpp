#include "r1cs/digest.h"

#include <algorithm>
#include <cstring>

#include "hash/blake2.h"
#include "hash/sha256.h"
#include "r1cs/bitmap.h"

namespace cuzk::r1cs {
namespace {

// Collects bytes and hashes them in blocks large enough to hide the cost of a call.
template <class Hash>
class Stream {
 public:
  template <size_t N>
  void put(const std::array<uint8_t, N>& bytes) {
    if (used_ + N > kBlock) flush();
    std::memcpy(buffer_.data() + used_, bytes.data(), N);
    used_ += N;
  }
  template <class T>
  void put_le(T value) {
    std::array<uint8_t, sizeof(T)> bytes;
    store_le(bytes.data(), value);
    put(bytes);
  }
  template <class T>
  void put_be(T value) {
    std::array<uint8_t, sizeof(T)> bytes;
    store_be(bytes.data(), value);
    put(bytes);
  }
  // The digest so far; the stream goes on.
  Bytes32 so_far() requires std::is_copy_constructible_v<Hash> {
    flush();
    return Hash(hash_).finish();
  }
  Bytes32 finish() {
    flush();
    return hash_.finish();
  }

 private:
  static constexpr size_t kBlock = 1 << 16;
  void flush() {
    hash_.update(ByteSpan(buffer_).first(used_));
    used_ = 0;
  }
  Hash hash_;
  Bytes buffer_ = Bytes(kBlock);
  size_t used_ = 0;
};

// Each distinct coefficient's 32 bytes, so that no term is converted twice.
template <class Convert>
std::vector<Bytes32> coefficient_bytes(const Circuit& circuit, Convert&& convert) {
  std::vector<Bytes32> bytes(circuit.coefficients.size());
  for (size_t i = 0; i < bytes.size(); i++) convert(circuit.coefficients[i], bytes[i]);
  return bytes;
}

// Calls visit(row, matrix, terms) for each combination of each row in order.
template <class Visit>
void for_each_combination(const Circuit& circuit, Visit&& visit) {
  std::vector<Circuit::IndexedTerm> terms;
  for (const Instance& instance : circuit.instances) {
    for (uint32_t row = 0; row < circuit.templates[instance.template_id].rows; row++) {
      for (unsigned m = 0; m < 3; m++) {
        circuit.expand(instance, row, m, terms);
        visit(instance.first_row + row, m, std::span<const Circuit::IndexedTerm>(terms));
      }
    }
  }
}

// Non-zero terms of A, B and C in all rows of a template.
std::array<uint64_t, 3> terms_of(const Template& t) {
  std::array<uint64_t, 3> count{};
  for (uint32_t row = 0; row < t.rows; row++) {
    for (unsigned m = 0; m < 3; m++) count[m] += t.combination(row, m).size();
  }
  return count;
}

Bytes32 canonical_sha256(const Circuit& circuit, uint32_t every, const Checkpoint& checkpoint) {
  auto coefficients = coefficient_bytes(circuit, [](const Fr& c, Bytes32& out) { c.to_bytes_le(out); });
  Stream<hash::Sha256> stream;
  for_each_combination(circuit, [&](uint32_t row, unsigned m, auto terms) {
    stream.put_le(static_cast<uint32_t>(terms.size()));
    for (const auto& term : terms) {
      stream.put_le(term.var.code);
      stream.put(coefficients[term.coefficient]);
    }
    if (m == 2 && checkpoint && (row + 1) % every == 0) checkpoint(row + 1, stream.so_far());
  });
  return stream.finish();
}

Bytes32 reference_blake2s(const Circuit& circuit) {
  auto coefficients = coefficient_bytes(circuit, [](const Fr& c, Bytes32& out) { c.to_bytes_be(out); });
  Stream<hash::Blake2s256> stream;
  stream.put_be(uint64_t{circuit.num_inputs});
  stream.put_be(uint64_t{circuit.num_aux});
  stream.put_be(uint64_t{circuit.num_constraints});
  for_each_combination(circuit, [&](uint32_t, unsigned, auto terms) {
    stream.put_be(uint64_t{terms.size()});
    for (const auto& term : terms) {
      stream.put_be(static_cast<uint8_t>(term.var.is_aux() ? 'A' : 'I'));
      stream.put_be(uint64_t{term.var.index()});
      stream.put(coefficients[term.coefficient]);
    }
  });
  return stream.finish();
}

void put(Stream<hash::Sha256>& stream, const Fr& value) {
  Bytes32 bytes;
  value.to_bytes_le(bytes);
  stream.put(bytes);
}

Bytes32 aux_sha256(const WitnessView& view) {
  Stream<hash::Sha256> stream;
  const Fr* next_field = view.witness().fields.data();
  Bytes32 bit{};
  for (uint32_t i = 0; i < view.circuit().num_aux; i++) {
    if (view.is_field(i)) {
      put(stream, *next_field++);
    } else {
      bit[0] = view.bit(i);
      stream.put(bit);
    }
  }
  return stream.finish();
}

}  // namespace

CircuitDigest digest(const Circuit& circuit, exec::Pool& pool, uint32_t every, const Checkpoint& checkpoint) {
  CircuitDigest out{circuit.num_inputs,
                    circuit.num_aux,
                    circuit.num_constraints,
                    0,
                    0,
                    0,
                    circuit.density.a_aux_count,
                    circuit.density.b_aux_count,
                    circuit.density.b_inputs_count,
                    {},
                    {}};
  std::vector<std::array<uint64_t, 3>> terms;
  for (const Template& t : circuit.templates) terms.push_back(terms_of(t));
  for (const Instance& instance : circuit.instances) {
    const auto& [a, b, c] = terms[instance.template_id];
    out.nnz_a += a;
    out.nnz_b += b;
    out.nnz_c += c;
  }
  pool.for_each(2, [&](size_t which) {
    if (which == 0) {
      out.sha256 = canonical_sha256(circuit, every, checkpoint);
    } else {
      out.blake2s = reference_blake2s(circuit);
    }
  });
  return out;
}

WitnessDigest digest(const WitnessView& view, exec::Pool& pool) {
  const uint32_t rows = view.circuit().num_constraints;
  WitnessDigest out{};
  std::array<Bytes32*, 4> digests = {&out.a, &out.b, &out.c, &out.aux};
  pool.for_each(5, [&](size_t which) {
    if (which == 4) {
      out.first_unsatisfied = first_unsatisfied(view, pool);
      return;
    }
    if (which == 3) {
      out.aux = aux_sha256(view);
      return;
    }
    constexpr uint32_t kChunk = 1 << 16;
    Stream<hash::Sha256> stream;
    std::vector<Fr> values(kChunk);
    for (uint32_t begin = 0; begin < rows; begin += kChunk) {
      uint32_t end = std::min(rows, begin + kChunk);
      std::span<Fr> span = std::span(values).first(end - begin);
      evaluate(view, begin, end, which == 0 ? span : std::span<Fr>(), which == 1 ? span : std::span<Fr>(),
               which == 2 ? span : std::span<Fr>());
      for (const Fr& value : span) put(stream, value);
    }
    *digests[which] = stream.finish();
  });
  return out;
}

}  // namespace cuzk::r1cs
