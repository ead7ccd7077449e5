#pragma once
// Bits and field-element variables of a circuit. Source: filecoin-spec A.4 to A.7.
//
// Gadgets are templates over a driver CS: r1cs::Recorder compiles rows, r1cs::Assigner computes values.

#include <array>
#include <span>
#include <vector>

#include "r1cs/assigner.h"
#include "r1cs/recorder.h"

namespace cuzk::gadgets {

// 2^exponent as a field element, exponent < 256.
const Fr& power_of_two(unsigned exponent);

// The value f() where the driver computes values, nothing where it records.
template <class CS, class F>
typename CS::Value value_of(F&& f) {
  if constexpr (CS::kRecords) {
    return {};
  } else {
    return f();
  }
}

// An allocated field element.
template <class CS>
struct Num {
  [[no_unique_address]] typename CS::Var var{};
  [[no_unique_address]] typename CS::Value value{};
};

enum class BitKind : uint8_t { kFalse, kTrue, kIs, kNot };

// A constant, a bit variable or its negation (spec A.5). `value` is the bit's own value, negation included.
template <class CS>
struct Bit {
  BitKind kind = BitKind::kFalse;
  [[no_unique_address]] typename CS::Var var{};
  [[no_unique_address]] typename CS::BitValue value{};

  static Bit constant(bool bit) {
    Bit out{bit ? BitKind::kTrue : BitKind::kFalse, {}, {}};
    if constexpr (!CS::kRecords) out.value = bit;
    return out;
  }
  bool is_constant() const { return kind == BitKind::kFalse || kind == BitKind::kTrue; }
  bool is(bool bit) const { return kind == (bit ? BitKind::kTrue : BitKind::kFalse); }
  Bit operator!() const {
    Bit out{static_cast<BitKind>(static_cast<uint8_t>(kind) ^ 1), var, value};
    if constexpr (!CS::kRecords) out.value = !value;
    return out;
  }
};

template <class CS>
void visit_signals(Num<CS>& num, const r1cs::SignalVisitor& visit) {
  visit(0, &num.var);
}
template <class CS>
void visit_signals(Bit<CS>& bit, const r1cs::SignalVisitor& visit) {
  visit(1 + static_cast<uint8_t>(bit.kind), bit.is_constant() ? nullptr : &bit.var);
}
template <class T, size_t N>
void visit_signals(std::array<T, N>& items, const r1cs::SignalVisitor& visit) {
  for (T& item : items) visit_signals(item, visit);
}
template <class T>
void visit_signals(std::vector<T>& items, const r1cs::SignalVisitor& visit) {
  for (T& item : items) visit_signals(item, visit);
}

// combination += factor * x
inline void add(r1cs::Combination& combination, const Num<r1cs::Recorder>& num, const Fr& factor = Fr::one()) {
  combination.add(num.var, factor);
}
inline void add(r1cs::Combination& combination, const Bit<r1cs::Recorder>& bit, const Fr& factor = Fr::one()) {
  if (bit.kind == BitKind::kTrue || bit.kind == BitKind::kNot) combination.add(r1cs::Var::one(), factor);
  if (bit.kind == BitKind::kIs) combination.add(bit.var, factor);
  if (bit.kind == BitKind::kNot) combination.add(bit.var, -factor);
}
inline void add_one(r1cs::Combination& combination, const Fr& factor = Fr::one()) {
  combination.add(r1cs::Var::one(), factor);
}

// A new bit variable v with the row (ONE - v) * (v) = 0.
template <class CS>
Bit<CS> alloc_bit(CS& cs, typename CS::BitValue value) {
  Bit<CS> v{BitKind::kIs, cs.alloc_bit(value), value};
  cs.enforce([&](auto& row) {
    add_one(row.a);
    add(row.a, v, -Fr::one());
    add(row.b, v);
  });
  return v;
}

// `count` new bits, each with its boolean row, least significant first: those of `value` (at most 64).
template <class CS>
void alloc_bits(CS& cs, uint64_t value, std::span<Bit<CS>> out) {
  if constexpr (CS::kRecords) {
    for (Bit<CS>& bit : out) bit = alloc_bit(cs, {});
  } else {
    cs.alloc_bits(value, static_cast<unsigned>(out.size()));
    for (size_t i = 0; i < out.size(); i++) out[i] = {BitKind::kIs, {}, (value >> i & 1) != 0};
  }
}

template <class CS>
Num<CS> alloc_num(CS& cs, typename CS::Value value) {
  return {cs.alloc(value), value};
}

// A public input that a row has yet to tie to something. Not inside a region.
template <class CS>
Num<CS> alloc_input(CS& cs, typename CS::Value value) {
  return {cs.alloc_input(value), value};
}

// Row (x) * (ONE) = (y).
template <class CS>
void enforce_equal(CS& cs, const Num<CS>& x, const Num<CS>& y) {
  cs.enforce([&](auto& row) {
    add(row.a, x);
    add_one(row.b);
    add(row.c, y);
  });
}

// A public input equal to x: row (input) * (ONE) = (x).
template <class CS>
void inputize(CS& cs, const Num<CS>& x) {
  enforce_equal(cs, alloc_input(cs, x.value), x);
}

// z = x * y.
template <class CS>
Num<CS> mul(CS& cs, const Num<CS>& x, const Num<CS>& y) {
  Num<CS> z = alloc_num(cs, x.value * y.value);
  cs.enforce([&](auto& row) {
    add(row.a, x);
    add(row.b, y);
    add(row.c, z);
  });
  return z;
}

// z = x + y: row (x + y) * (ONE) = (z).
template <class CS>
Num<CS> sum(CS& cs, const Num<CS>& x, const Num<CS>& y) {
  Num<CS> z = alloc_num(cs, x.value + y.value);
  cs.enforce([&](auto& row) {
    add(row.a, x);
    add(row.a, y);
    add_one(row.b);
    add(row.c, z);
  });
  return z;
}

// condition ? x : y; row (y - x) * (condition) = (y - z). Spec C.3.
template <class CS>
Num<CS> pick(CS& cs, const Bit<CS>& condition, const Num<CS>& x, const Num<CS>& y) {
  Num<CS> z = alloc_num(cs, value_of<CS>([&] { return condition.value ? x.value : y.value; }));
  cs.enforce([&](auto& row) {
    add(row.a, y);
    add(row.a, x, -Fr::one());
    add(row.b, condition);
    add(row.c, y);
    add(row.c, z, -Fr::one());
  });
  return z;
}

// Bitwise exclusive or (spec A.5): the un-negated variable is the first operand, doubled in A.
template <class CS>
Bit<CS> bit_xor(CS& cs, const Bit<CS>& x, const Bit<CS>& y) {
  if (x.is(false)) return y;
  if (y.is(false)) return x;
  if (x.is(true)) return !y;
  if (y.is(true)) return !x;
  const bool mixed = x.kind != y.kind;
  const Bit<CS>&first = mixed && x.kind == BitKind::kNot ? y : x, &second = &first == &x ? y : x;
  // Two negations cancel; one is pulled out of the result.
  typename CS::BitValue value{};
  if constexpr (!CS::kRecords) value = x.value ^ y.value ^ mixed;
  Bit<CS> v{BitKind::kIs, cs.alloc_bit(value), value};
  cs.enforce([&](auto& row) {
    row.a.add(first.var, power_of_two(1));
    row.b.add(second.var, Fr::one());
    row.c.add(first.var, Fr::one());
    row.c.add(second.var, Fr::one());
    row.c.add(v.var, -Fr::one());
  });
  return mixed ? !v : v;
}

// Bitwise and, with the and, and-not and nor forms of spec A.4: (x) * (y) = (v) over the operands' combinations, the
// un-negated operand first.
template <class CS>
Bit<CS> bit_and(CS& cs, const Bit<CS>& x, const Bit<CS>& y) {
  if (x.is(false) || y.is(false)) return Bit<CS>::constant(false);
  if (x.is(true)) return y;
  if (y.is(true)) return x;
  const bool swap = x.kind == BitKind::kNot && y.kind == BitKind::kIs;
  const Bit<CS>&first = swap ? y : x, &second = swap ? x : y;
  typename CS::BitValue value{};
  if constexpr (!CS::kRecords) value = x.value & y.value;
  Bit<CS> v{BitKind::kIs, cs.alloc_bit(value), value};
  cs.enforce([&](auto& row) {
    add(row.a, first);
    add(row.b, second);
    add(row.c, v);
  });
  return v;
}

// (a and b) xor (not a and c); the cases in the order of spec A.5.
template <class CS>
Bit<CS> bit_choose(CS& cs, const Bit<CS>& a, const Bit<CS>& b, const Bit<CS>& c) {
  if (a.is_constant() && b.is_constant() && c.is_constant()) return a.is(true) ? b : c;
  if (a.is(false)) return c;
  if (b.is(false)) return bit_and(cs, !a, c);
  if (c.is(false)) return bit_and(cs, a, b);
  if (c.is(true)) return !bit_and(cs, a, !b);
  if (b.is(true)) return !bit_and(cs, !a, !c);
  typename CS::BitValue value{};
  if constexpr (!CS::kRecords) value = a.value ? b.value : c.value;
  Bit<CS> v{BitKind::kIs, cs.alloc_bit(value), value};
  cs.enforce([&](auto& row) {
    add(row.a, b);
    add(row.a, c, -Fr::one());
    add(row.b, a);
    add(row.c, v);
    add(row.c, c, -Fr::one());
  });
  return v;
}

// Majority of three; the cases in the order of spec A.5. The result's variable comes before that of (b and c).
template <class CS>
Bit<CS> bit_majority(CS& cs, const Bit<CS>& a, const Bit<CS>& b, const Bit<CS>& c) {
  if (a.is_constant() && b.is_constant() && c.is_constant()) {
    return Bit<CS>::constant(a.is(true) + b.is(true) + c.is(true) >= 2);
  }
  if (a.is(false)) return bit_and(cs, b, c);
  if (b.is(false)) return bit_and(cs, a, c);
  if (c.is(false)) return bit_and(cs, a, b);
  if (c.is(true)) return !bit_and(cs, !a, !b);
  if (b.is(true)) return !bit_and(cs, !a, !c);
  if (a.is(true)) return !bit_and(cs, !b, !c);
  typename CS::BitValue value{};
  if constexpr (!CS::kRecords) value = (a.value & b.value) | (a.value & c.value) | (b.value & c.value);
  Bit<CS> m{BitKind::kIs, cs.alloc_bit(value), value};
  Bit<CS> both = bit_and(cs, b, c);
  cs.enforce([&](auto& row) {
    add(row.a, both, power_of_two(1));
    add(row.a, b, -Fr::one());
    add(row.a, c, -Fr::one());
    add(row.b, a);
    add(row.c, both);
    add(row.c, m, -Fr::one());
  });
  return m;
}

}  // namespace cuzk::gadgets
