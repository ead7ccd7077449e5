#include <algorithm>
#include <cstring>

#include "field/kernels.h"
#include "r1cs/bitmap.h"
#include "r1cs/witness.h"

namespace cuzk::r1cs {
namespace {

using Run = RowPlan::Run;
using Octet = RowPlan::Octet;

// The values of all sums of runs, from -kMostSum to kMostSum; kNoIndex is of a row that is in no run.
constexpr uint8_t kNoIndex = 2 * Run::kMostSum + 1;
constexpr std::array<Fr, kNoIndex + 1> kSmall = [] {
  std::array<Fr, kNoIndex + 1> out;
  Fr value = -Fr::from_u64(Run::kMostSum);
  for (Fr& element : out) element = value, value += Fr::one();
  return out;
}();
constexpr Fr kZero = Fr::zero(), kOne = Fr::one();

// Eight bytes side by side in a word: the product with a number below 256, and sums, are those of the bytes as long as
// these end up below 256, whatever they are on the way.
constexpr uint64_t kEachByte = 0x0101010101010101;
uint64_t load_bytes(const uint8_t* from) {
  uint64_t out;
  std::memcpy(&out, from, 8);
  return out;
}
// Bit i becomes byte i, and back.
uint64_t spread(uint64_t byte) {
  const uint64_t apart = byte * kEachByte & 0x8040201008040201;
  return (apart + 0x7f7f7f7f7f7f7f7f) >> 7 & kEachByte;
}
uint64_t gathered(uint64_t bytes) { return bytes * 0x0102040810204080 >> 56; }

// Sums the combinations of one instance after another.
class Evaluator {
 public:
  explicit Evaluator(const WitnessView& view) : view_(view), circuit_(view.circuit()) {}

  void enter(const Instance& instance) {
    template_ = &circuit_.templates[instance.template_id];
    plan_ = &circuit_.plans[instance.template_id];
    const size_t slots = template_->slots, locals = template_->locals;
    bits_.resize(1 + slots + locals + kPadding);
    values_.resize(1 + slots + locals + 1);
    bits_[0] = 1;
    values_.front() = &kOne, values_.back() = &kZero;
    for (uint32_t slot = 1; slot <= slots; slot++) {
      const Var var = circuit_.bindings[instance.first_binding + slot - 1];
      bits_[slot] = var.is_aux() && view_.bit(var.index());
      values_[slot] = bits_[slot] ? &kOne : &kZero;
      if (test_bit(plan_->slot_is_field, slot - 1)) values_[slot] = value(var);
    }
    for (uint32_t i = 0; i < locals; i += 64) {
      const unsigned count = static_cast<unsigned>(std::min<size_t>(64, locals - i));
      const uint64_t word = read_bits(view_.witness().bits, instance.first_aux + i, count);
      for (unsigned byte = 0; byte < count; byte += 8) {
        const uint64_t bytes = spread(word >> byte & 0xff);
        std::memcpy(&bits_[1 + slots + i + byte], &bytes, 8);
      }
    }
    if (!plan_->has_fields || locals == 0) return;  // first_aux may be one past the last variable
    const Fr* next_field = view_.witness().fields.data() + view_.field_rank(instance.first_aux);
    for (uint32_t i = 0; i < locals; i++) {
      const size_t local = 1 + slots + i;
      values_[local] = test_bit(template_->local_is_field, i) ? next_field++ : bits_[local] ? &kOne : &kZero;
    }
  }

  // out[row - begin] is combination m of each row in [begin, end).
  void sum(unsigned m, uint32_t begin, uint32_t end, Fr* out) {
    index_runs(m, begin, end);
    if (!plan_->matrices[m].runs.empty()) {
      for (size_t i = 0; i < indices_[m].size(); i++) out[i] = kSmall[indices_[m][i]];
    }
    sum_others(m, begin, end, out);
  }

  // out[row - begin] is A times B of each row in [begin, end).
  void multiply(uint32_t begin, uint32_t end, Fr* out) {
    for (unsigned m = 0; m < 2; m++) {
      index_runs(m, begin, end);
      factors_[m].resize(end - begin);
      sum_others(m, begin, end, factors_[m].data());
    }
    rest_.clear();
    for (uint32_t i = 0; i < end - begin; i++) {
      const uint8_t a = indices_[0][i], b = indices_[1][i];
      const int product = (a - Run::kMostSum) * (b - Run::kMostSum);
      if (a != kNoIndex && b != kNoIndex && std::abs(product) <= Run::kMostSum) {
        out[i] = kSmall[static_cast<size_t>(product + Run::kMostSum)];
      } else {
        rest_.push_back(i);
      }
    }
    for (unsigned m = 0; m < 2; m++) {
      for (size_t k = 0; k < rest_.size(); k++) {
        const uint8_t index = indices_[m][rest_[k]];
        factors_[m][k] = index == kNoIndex ? factors_[m][rest_[k]] : kSmall[index];
      }
    }
    kernels().fr_mul(factors_[0].data(), factors_[0].data(), factors_[1].data(), rest_.size());
    for (size_t k = 0; k < rest_.size(); k++) out[rest_[k]] = factors_[0][k];
  }

 private:
  static constexpr size_t kPadding = Run::kMostRows + 8;  // that may be read and means nothing

  const Fr* value(Var var) const {
    if (!var.is_aux()) return &view_.witness().inputs[var.index()];
    if (view_.is_field(var.index())) return &view_.witness().fields[view_.field_rank(var.index())];
    return view_.bit(var.index()) ? &kOne : &kZero;
  }

  void index_runs(unsigned m, uint32_t begin, uint32_t end) {
    const RowPlan& plan = plan_->matrices[m];
    std::vector<uint8_t>& indices = indices_[m];
    indices.assign(end - begin, kNoIndex);
    auto run = std::partition_point(plan.runs.begin(), plan.runs.end(),
                                    [begin](const Run& r) { return r.row + Run::kMostRows <= begin; });
    for (; run != plan.runs.end() && run->row < end; run++) {
      uint32_t j = begin <= run->row ? 0 : (begin - run->row + run->step - 1) / run->step;
      const uint32_t count = std::min<uint32_t>(run->count, (end - run->row + run->step - 1) / run->step);
      const auto index_of = [&](uint32_t n) { return &indices[run->row + n * run->step - begin]; };
      const int bias = Run::kMostSum + run->constant;
      if (run->step == 1 && run->stride == Run{}.stride) {
        for (; j + 8 <= count; j += 8) {
          uint64_t sum = static_cast<uint64_t>(bias) * kEachByte;
          for (size_t k = 0; k < Run::kTerms; k++)
            sum += static_cast<uint64_t>(int64_t{run->weight[k]}) * load_bytes(&bits_[run->var[k] + j]);
          std::memcpy(index_of(j), &sum, 8);
        }
      }
      for (; j < count; j++) {
        int sum = bias;
        for (size_t k = 0; k < Run::kTerms; k++)
          sum += run->weight[k] * bits_[run->var[k] + static_cast<uint32_t>(static_cast<int32_t>(j) * run->stride[k])];
        *index_of(j) = static_cast<uint8_t>(sum);
      }
    }
  }

  // The rows that are in no run.
  void sum_others(unsigned m, uint32_t begin, uint32_t end, Fr* out) {
    const RowPlan& plan = plan_->matrices[m];
    sum_integers(plan, begin, end, out);
    sum_octets(plan, begin, end, out);
    for (auto row = std::lower_bound(plan.others.begin(), plan.others.end(), begin);
         row != plan.others.end() && *row < end; row++) {
      out[*row - begin] = sum_of_fields(template_->combination(*row, m));
    }
  }

  void sum_integers(const RowPlan& plan, uint32_t begin, uint32_t end, Fr* out) const {
    auto integer = std::partition_point(plan.integers.begin(), plan.integers.end(),
                                        [begin](const RowPlan::Integer& i) { return i.row < begin; });
    uint32_t word = integer == plan.integers.begin() ? 0 : (integer - 1)->end;
    for (; integer != plan.integers.end() && integer->row < end; integer++) {
      Fr::Limbs sum = integer->constant;
      uint64_t top = 0;  // in units of 2^256
      for (; word < integer->end; word++) {
        const RowPlan::Word& w = plan.words[word];
        uint64_t bits = w.complement ? ~uint64_t{0} : 0, carry = 0;
        for (unsigned i = 0; i < w.count; i += 8) bits ^= gathered(load_bytes(&bits_[w.var + i])) << i;
        bits &= (uint64_t{1} << w.count) - 1;
        for (size_t i = 0; i < sum.size(); i++) sum[i] = limbs::multiply_add(w.coefficient[i], bits, sum[i], carry);
        top += carry;
      }
      for (int i = 0; i < 2; i++) limbs::subtract_if_above(sum, Fr::kModulus);  // 2^256 is below 3p
      constexpr Fr k2To256 = Fr::from_raw(Fr::kR2);
      Fr& value = out[integer->row - begin] = Fr::from_raw(sum) * k2To256;
      if (top != 0) value += Fr::from_u64(top) * k2To256;
    }
  }

  void sum_octets(const RowPlan& plan, uint32_t begin, uint32_t end, Fr* out) {
    auto octet = std::partition_point(plan.octets.begin(), plan.octets.end(),
                                      [begin](const Octet& o) { return o.last_row < begin; });
    for (; octet != plan.octets.end() && octet->first_row < end; octet++) {
      const size_t count = 8 * size_t{octet->count};
      operands_.resize(2 * count);
      const Fr **const values = operands_.data(), **const coefficients = values + count;
      for (size_t k = 0; k < count; k++) {
        const auto [var, coefficient] = plan.products[octet->begin + k];
        values[k] = values_[var];
        coefficients[k] = &circuit_.coefficients[coefficient];
      }
      std::array<Fr, 8> sums;
      kernels().fr_sums_of_products(sums.data(), values, coefficients, octet->count);
      for (size_t lane = 0; lane < 8; lane++) {
        const uint32_t row = octet->row[lane];
        if (row >= begin && row < end) out[row - begin] = sums[lane];
      }
    }
  }

  Fr sum_of_fields(std::span<const LocalTerm> terms) const {
    Fr sum;
    for (const LocalTerm& term : terms) {
      const Fr *const value = values_[term.var], &c = circuit_.coefficients[term.coefficient];
      if (value == &kZero) continue;
      if (value == &kOne) {
        sum += c;
      } else if (c == kOne) {
        sum += *value;
      } else if (c == kMinusOne) {
        sum -= *value;
      } else {
        sum += c * *value;
      }
    }
    return sum;
  }
  static constexpr Fr kMinusOne = -Fr::one();

  const WitnessView& view_;
  const Circuit& circuit_;
  const Template* template_ = nullptr;
  const TemplatePlan* plan_ = nullptr;
  std::vector<uint8_t> bits_;                    // by local variable; 0 where it is none
  std::vector<const Fr*> values_;                // by local variable, and zero after the last; with fields only
  std::vector<const Fr*> operands_;              // of an octet
  std::array<std::vector<uint8_t>, 3> indices_;  // by matrix and row: into kSmall
  std::array<std::vector<Fr>, 2> factors_;       // of products
  std::vector<uint32_t> rest_;                   // rows of products that are multiplied
};

// visit(evaluator, first, last, at) for each instance in turn: its rows [first, last) are in [begin, end), from begin +
// at on.
template <class Visit>
void for_each_instance(const WitnessView& view, uint32_t begin, uint32_t end, Visit visit) {
  if (begin >= end) return;
  const Circuit& circuit = view.circuit();
  Evaluator evaluator(view);
  for (size_t i = circuit.instance_of_row(begin); i < circuit.instances.size() && circuit.instances[i].first_row < end;
       i++) {
    const Instance& instance = circuit.instances[i];
    evaluator.enter(instance);
    const uint32_t first = std::max(begin, instance.first_row);
    const uint32_t last = std::min(end, instance.first_row + circuit.templates[instance.template_id].rows);
    visit(evaluator, first - instance.first_row, last - instance.first_row, first - begin);
  }
}

}  // namespace

void evaluate(const WitnessView& view, uint32_t begin, uint32_t end, std::span<Fr> out_a, std::span<Fr> out_b,
              std::span<Fr> out_c) {
  const std::array<std::span<Fr>, 3> out = {out_a, out_b, out_c};
  for_each_instance(view, begin, end, [&](Evaluator& evaluator, uint32_t first, uint32_t last, size_t at) {
    for (unsigned m = 0; m < 3; m++) {
      if (!out[m].empty()) evaluator.sum(m, first, last, &out[m][at]);
    }
  });
}

void evaluate_products(const WitnessView& view, uint32_t begin, uint32_t end, std::span<Fr> out) {
  for_each_instance(view, begin, end, [&](Evaluator& evaluator, uint32_t first, uint32_t last, size_t at) {
    evaluator.multiply(first, last, &out[at]);
  });
}

}  // namespace cuzk::r1cs
