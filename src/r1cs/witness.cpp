#include "r1cs/witness.h"

#include <algorithm>
#include <atomic>

#include "base/bytes.h"
#include "mem/carver.h"
#include "r1cs/bitmap.h"

namespace cuzk::r1cs {
namespace {

constexpr uint32_t kRankBlock = 512;
constexpr uint32_t kChunkRows = 1 << 13;  // unit of parallel work; three vectors of 256 KiB

// -2, -1, 1, 2 for those coefficients, else 0.
int8_t small_coefficient(const Fr& c) {
  const Fr one = Fr::one(), two = one.dbl();
  return c == one ? 1 : c == two ? 2 : c == -one ? -1 : c == -two ? -2 : 0;
}

// k where the coefficient is 2^k, else -1.
int16_t binary_exponent(const Fr& c) {
  Fr::Limbs limbs = c.canonical();
  if (count_bits(limbs) != 1) return -1;
  for (size_t i = 0; i < limbs.size(); i++) {
    if (limbs[i] != 0) return static_cast<int16_t>(64 * i + static_cast<size_t>(std::countr_zero(limbs[i])));
  }
  return -1;
}

Fr from_small(int64_t value) {
  Fr magnitude = Fr::from_u64(static_cast<uint64_t>(value < 0 ? -value : value));
  return value < 0 ? -magnitude : magnitude;
}

Assignment carve(const Circuit& circuit, mem::Carver& memory) {
  return {memory.take<Fr>(circuit.num_inputs), memory.take<uint64_t>(circuit.aux_is_field.size()),
          memory.take<Fr>(count_bits(circuit.aux_is_field))};
}

}  // namespace

uint64_t witness_bytes(const Circuit& circuit) {
  mem::Carver counter;
  carve(circuit, counter);
  return counter.bytes();
}

Result<Witness> Witness::make(const Circuit& circuit, mem::Reservation memory) {
  if (memory.bytes() < witness_bytes(circuit)) {
    return fail(Code::kInternal, "a witness of {} takes {}, and {} are reserved", circuit.name,
                format_size(witness_bytes(circuit)), format_size(memory.bytes()));
  }
  Witness out;
  CUZK_TRY_ASSIGN(out.memory_, mem::Buffer::make(std::move(memory)));
  mem::Carver carver(out.memory_.bytes());
  static_cast<Assignment&>(out) = carve(circuit, carver);
  out.inputs[0] = Fr::one();
  return out;
}

FieldRanks::FieldRanks(const Circuit& circuit) : is_field_(circuit.aux_is_field) {
  uint32_t rank = 0;
  ranks_.reserve(circuit.num_aux / kRankBlock + 1);
  for (size_t word = 0; word <= is_field_.size(); word++) {
    if (word % (kRankBlock / 64) == 0) ranks_.push_back(rank);
    if (word < is_field_.size()) rank += static_cast<uint32_t>(std::popcount(is_field_[word]));
  }
}

WitnessView::WitnessView(const Circuit& circuit, const Assignment& witness)
    : circuit_(&circuit), witness_(witness), ranks_(circuit) {
  for (const Fr& c : circuit.coefficients) {
    small_.push_back(small_coefficient(c));
    exponent_.push_back(binary_exponent(c));
  }
  for (const Template& t : circuit.templates) {
    std::vector<SumKind>& kinds = sums_.emplace_back();
    kinds.reserve(3 * size_t{t.rows});
    for (uint32_t row = 0; row < t.rows; row++) {
      for (unsigned m = 0; m < 3; m++) {
        bool all_bits = true, all_small = true, all_binary = true;
        for (const LocalTerm& term : t.combination(row, m)) {
          all_bits = all_bits && (term.var <= t.slots || !test_bit(t.local_is_field, term.var - t.slots - 1));
          all_small = all_small && small_[term.coefficient] != 0;
          all_binary = all_binary && exponent_[term.coefficient] >= 0;
        }
        kinds.push_back(all_bits && all_small    ? SumKind::kSmall
                        : all_bits && all_binary ? SumKind::kBinary
                                                 : SumKind::kField);
      }
    }
  }
}

// Sums the combinations of one instance after another.
class Evaluator {
 public:
  explicit Evaluator(const WitnessView& view) : view_(view), circuit_(view.circuit()) {
    for (int i = 0; i < kSmallValues; i++) small_values_[static_cast<size_t>(i)] = from_small(i - kSmallValues / 2);
  }

  void enter(const Instance& instance) {
    template_ = &circuit_.templates[instance.template_id];
    kinds_ = &view_.sums_[instance.template_id];
    const Template& t = *template_;
    tags_.resize(1 + t.slots + t.locals);
    fields_.resize(tags_.size());
    tags_[0] = 1;
    slots_are_bits_ = true;
    for (uint32_t slot = 1; slot <= t.slots; slot++) {
      Var var = circuit_.bindings[instance.first_binding + slot - 1];
      if (var.is_aux() && !view_.is_field(var.index())) {
        tags_[slot] = view_.bit(var.index());
      } else {
        tags_[slot] = kFieldTag;
        fields_[slot] = var.is_aux() ? &view_.witness().fields[view_.field_rank(var.index())]
                                     : &view_.witness().inputs[var.index()];
        slots_are_bits_ = false;
      }
    }
    if (t.locals == 0) return;  // first_aux may be one past the last variable
    const Fr* next_field = view_.witness().fields.data() + view_.field_rank(instance.first_aux);
    for (uint32_t i = 0; i < t.locals; i++) {
      size_t local = 1 + t.slots + i;
      if (test_bit(t.local_is_field, i)) {
        tags_[local] = kFieldTag;
        fields_[local] = next_field++;
      } else {
        tags_[local] = view_.bit(instance.first_aux + i);
      }
    }
  }

  Fr sum(uint32_t row, unsigned m) const {
    std::span<const LocalTerm> terms = template_->combination(row, m);
    SumKind kind = slots_are_bits_ ? (*kinds_)[3 * size_t{row} + m] : SumKind::kField;
    if (kind == SumKind::kSmall) return small_sum(terms);
    if (kind == SumKind::kBinary) return binary_sum(terms);
    return field_sum(terms);
  }

 private:
  static constexpr uint8_t kFieldTag = 2;
  static constexpr int kSmallValues = 64;

  Fr small_sum(std::span<const LocalTerm> terms) const {
    int64_t sum = 0;
    for (const LocalTerm& term : terms) sum += view_.small_[term.coefficient] * tags_[term.var];
    int64_t index = sum + kSmallValues / 2;
    return index >= 0 && index < kSmallValues ? small_values_[static_cast<size_t>(index)] : from_small(sum);
  }
  // Each 64-bit column collects at most 2^32 terms below 2^64, so 128 bits hold it.
  Fr binary_sum(std::span<const LocalTerm> terms) const {
    std::array<uint128_t, 4> columns{};
    for (const LocalTerm& term : terms) {
      unsigned k = static_cast<unsigned>(view_.exponent_[term.coefficient]);
      columns[k / 64] += static_cast<uint64_t>(tags_[term.var]) << (k % 64);
    }
    std::array<uint64_t, 5> wide{};
    uint128_t carry = 0;
    for (size_t i = 0; i < 4; i++) {
      carry += columns[i];
      wide[i] = static_cast<uint64_t>(carry);
      carry >>= 64;
    }
    wide[4] = static_cast<uint64_t>(carry);
    auto value = Fr::from_canonical({wide[0], wide[1], wide[2], wide[3]});
    return wide[4] == 0 && value ? *value : Fr::from_wide(wide);
  }
  Fr field_sum(std::span<const LocalTerm> terms) const {
    Fr sum;
    for (const LocalTerm& term : terms) {
      uint8_t tag = tags_[term.var];
      if (tag == 0) continue;
      const Fr& c = circuit_.coefficients[term.coefficient];
      if (tag == 1) {
        sum += c;
      } else if (int8_t small = view_.small_[term.coefficient]; small == 1) {
        sum += *fields_[term.var];
      } else if (small == -1) {
        sum -= *fields_[term.var];
      } else {
        sum += c * *fields_[term.var];
      }
    }
    return sum;
  }

  const WitnessView& view_;
  const Circuit& circuit_;
  const Template* template_ = nullptr;
  const std::vector<SumKind>* kinds_ = nullptr;
  bool slots_are_bits_ = true;
  std::vector<uint8_t> tags_;      // by local variable: its bit, or kFieldTag
  std::vector<const Fr*> fields_;  // by local variable, where the tag says so
  std::array<Fr, kSmallValues> small_values_;
};

void evaluate(const WitnessView& view, uint32_t begin, uint32_t end, std::span<Fr> out_a, std::span<Fr> out_b,
              std::span<Fr> out_c) {
  if (begin >= end) return;
  const Circuit& circuit = view.circuit();
  Evaluator evaluator(view);
  const std::array<std::span<Fr>, 3> out = {out_a, out_b, out_c};
  for (size_t i = circuit.instance_of_row(begin); i < circuit.instances.size() && circuit.instances[i].first_row < end;
       i++) {
    const Instance& instance = circuit.instances[i];
    evaluator.enter(instance);
    uint32_t first = std::max(begin, instance.first_row);
    uint32_t last = std::min(end, instance.first_row + circuit.templates[instance.template_id].rows);
    for (unsigned m = 0; m < 3; m++) {
      if (out[m].empty()) continue;
      for (uint32_t row = first; row < last; row++) out[m][row - begin] = evaluator.sum(row - instance.first_row, m);
    }
  }
}

uint32_t first_unsatisfied(const WitnessView& view, exec::Pool& pool) {
  std::atomic<uint32_t> first = view.circuit().num_constraints;
  pool.for_each_chunk(view.circuit().num_constraints, kChunkRows, [&](size_t begin, size_t end) {
    if (begin >= first.load()) return;
    std::vector<Fr> a(end - begin), b(end - begin), c(end - begin);
    evaluate(view, static_cast<uint32_t>(begin), static_cast<uint32_t>(end), a, b, c);
    for (size_t i = 0; i < a.size(); i++) {
      if (a[i] * b[i] == c[i]) continue;
      uint32_t row = static_cast<uint32_t>(begin + i), seen = first.load();
      while (row < seen && !first.compare_exchange_weak(seen, row)) {
      }
      return;
    }
  });
  return first.load();
}

}  // namespace cuzk::r1cs
