#pragma once
// Merkle inclusion as rows. Source: filecoin-spec C.2, C.3, E.5.

#include "gadgets/poseidon.h"
#include "gadgets/sha256.h"

namespace cuzk::gadgets {

// The `siblings` with `element` inserted at the position that the index bits (least significant first) say: 2, 4 or 8
// in all.
template <class CS>
std::vector<Num<CS>> insert(CS& cs, const Num<CS>& element, std::span<const Bit<CS>> index,
                            std::span<const Num<CS>> siblings) {
  const Num<CS>& a = element;
  auto choose = [&](const Bit<CS>& condition, const Num<CS>& x, const Num<CS>& y) { return pick(cs, condition, x, y); };
  const Num<CS>& b = siblings[0];
  const Bit<CS>& b0 = index[0];
  if (siblings.size() == 1) {
    Num<CS> left = choose(b0, b, a);
    return {left, choose(b0, a, b)};
  }
  const Num<CS>&c = siblings[1], &d = siblings[2];
  const Bit<CS>& b1 = index[1];
  std::vector<Num<CS>> out;
  if (siblings.size() == 3) {
    out.push_back(choose(b1, b, choose(b0, b, a)));
    out.push_back(choose(b1, c, choose(b0, a, b)));
    out.push_back(choose(b1, choose(b0, d, a), c));
    out.push_back(choose(b1, choose(b0, a, d), d));
    return out;
  }
  const Num<CS>&e = siblings[3], &f = siblings[4], &g = siblings[5], &h = siblings[6];
  const Bit<CS>& b2 = index[2];
  const Bit<CS> neither = bit_and(cs, !b0, !b1);
  const Bit<CS> both = bit_and(cs, b0, b1);
  out.push_back(choose(b2, b, choose(neither, a, b)));
  out.push_back(choose(b2, c, choose(b1, c, choose(b0, a, b))));
  out.push_back(choose(b2, d, choose(b1, choose(b0, d, a), c)));
  out.push_back(choose(b2, e, choose(both, a, d)));
  out.push_back(choose(b2, choose(neither, a, f), e));
  out.push_back(choose(b2, choose(b1, g, choose(b0, a, f)), f));
  out.push_back(choose(b2, choose(b1, choose(b0, h, a), g), g));
  out.push_back(choose(b2, choose(both, a, h), h));
  return out;
}

// The element of a list of 2^n that n index bits (least significant first) say.
template <class CS>
Num<CS> select(CS& cs, std::vector<Num<CS>> list, std::span<const Bit<CS>> index) {
  for (size_t bit = index.size(); bit-- > 0;) {
    size_t half = list.size() / 2;
    for (size_t j = 0; j < half; j++) list[j] = pick(cs, index[bit], list[half + j], list[j]);
    list.resize(half);
  }
  return list[0];
}

enum class NodeHash { kPoseidon, kSha256 };

template <class CS>
Num<CS> hash_node(CS& cs, NodeHash hash, const std::vector<Num<CS>>& children) {
  return hash == NodeHash::kSha256 ? sha256_node(cs, children[0], children[1]) : poseidon(cs, children);
}

// One level of a path as values: which child the path comes from, and the others from left to right.
struct PathLevel {
  uint64_t index = 0;
  std::vector<Fr> siblings;
};

// What one level of a path makes: its index bits and the children of the next node.
template <class CS>
struct InsertStep {
  Bits<CS> bits;
  std::vector<Num<CS>> children;
};
template <class CS>
void visit_signals(InsertStep<CS>& step, const r1cs::SignalVisitor& visit) {
  visit_signals(step.bits, visit);
  visit_signals(step.children, visit);
}

// A path from a leaf up to a root. `arities` has one entry a level, leaf level first; `values` likewise, and is not
// read by a recorder. Allocates index bits and siblings level by level; appends the index bits to `index`. Spec C.2
// step 2.
template <class CS>
Num<CS> path_root(CS& cs, NodeHash hash, std::span<const unsigned> arities, Num<CS> current,
                  std::span<const PathLevel> values, Bits<CS>& index) {
  for (size_t level = 0; level < arities.size(); level++) {
    const unsigned arity = arities[level];
    InsertStep<CS> step = cs.region(
        fmt::format("insert-{}", arity),
        [&](CS& inner, const Num<CS>& element) {
          InsertStep<CS> out;
          out.bits.resize(static_cast<size_t>(std::countr_zero(arity)));
          uint64_t position = 0;
          if constexpr (!CS::kRecords) position = values[level].index;
          alloc_bits(inner, position, std::span(out.bits));
          std::vector<Num<CS>> siblings;
          for (size_t i = 0; i + 1 < arity; i++)
            siblings.push_back(alloc_num(inner, value_of<CS>([&] { return values[level].siblings[i]; })));
          out.children = insert<CS>(inner, element, out.bits, siblings);
          return out;
        },
        current);
    index.insert(index.end(), step.bits.begin(), step.bits.end());
    current = hash_node(cs, hash, step.children);
  }
  return current;
}

// The same with index bits and siblings that there are already, for all levels in order. Spec E.5.
template <class CS>
Num<CS> path_root_given(CS& cs, NodeHash hash, std::span<const unsigned> arities, Num<CS> current,
                        std::span<const Bit<CS>> index, std::span<const Num<CS>> siblings) {
  for (unsigned arity : arities) {
    const Bits<CS> bits(index.begin(), index.begin() + std::countr_zero(arity));
    const std::vector<Num<CS>> others(siblings.begin(), siblings.begin() + arity - 1);
    index = index.subspan(bits.size());
    siblings = siblings.subspan(others.size());
    std::vector<Num<CS>> children = cs.region(
        fmt::format("insert-{}-given", arity),
        [](CS& inner, const Num<CS>& element, const Bits<CS>& position, const std::vector<Num<CS>>& rest) {
          return insert<CS>(inner, element, position, rest);
        },
        current, bits, others);
    current = hash_node(cs, hash, children);
  }
  return current;
}

// Inclusion of `leaf` under `root`, with the leaf index as a public input. Spec C.2, private root.
template <class CS>
void prove_inclusion(CS& cs, NodeHash hash, std::span<const unsigned> arities, const Num<CS>& leaf, const Num<CS>& root,
                     std::span<const PathLevel> values) {
  Bits<CS> index;
  Num<CS> computed = path_root(cs, hash, arities, leaf, values, index);
  pack_into_inputs<CS>(cs, index);
  enforce_equal(cs, computed, root);
}

}  // namespace cuzk::gadgets
