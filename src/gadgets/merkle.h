#pragma once
// Merkle inclusion as rows. Source: filecoin-spec C.2, C.3, E.5.

#include <cassert>
#include <functional>

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

// One level of a path: allocates index bits and siblings. `values` is not read by a recorder.
template <class CS>
InsertStep<CS> insert_step(CS& cs, unsigned arity, const Num<CS>& current, const PathLevel* values) {
  return cs.region(
      fmt::format("insert-{}", arity),
      [&](CS& inner, const Num<CS>& element) {
        InsertStep<CS> out;
        out.bits.resize(static_cast<size_t>(std::countr_zero(arity)));
        uint64_t position = 0;
        if constexpr (!CS::kRecords) position = values->index;
        alloc_bits(inner, position, std::span(out.bits));
        std::vector<Num<CS>> siblings;
        for (size_t i = 0; i + 1 < arity; i++)
          siblings.push_back(alloc_num(inner, value_of<CS>([&] { return values->siblings[i]; })));
        out.children = insert<CS>(inner, element, out.bits, siblings);
        return out;
      },
      current);
}

// A path from a leaf up to a root. `arities` has one entry a level, leaf level first; `values` likewise, and is not
// read by a recorder. Allocates index bits and siblings level by level; appends the index bits to `index`. Spec C.2
// step 2.
template <class CS>
Num<CS> path_root(CS& cs, NodeHash hash, std::span<const unsigned> arities, Num<CS> current,
                  std::span<const PathLevel> values, Bits<CS>& index) {
  for (size_t level = 0; level < arities.size(); level++) {
    InsertStep<CS> step = insert_step(cs, arities[level], current, CS::kRecords ? nullptr : &values[level]);
    index.insert(index.end(), step.bits.begin(), step.bits.end());
    current = hash_node(cs, hash, step.children);
  }
  return current;
}

// The children of the next node from index bits and siblings that there are already, for all levels in order; takes
// this level's from both. Spec E.5.
template <class CS>
std::vector<Num<CS>> insert_given(CS& cs, unsigned arity, const Num<CS>& current, std::span<const Bit<CS>>& index,
                                  std::span<const Num<CS>>& siblings) {
  const Bits<CS> bits(index.begin(), index.begin() + std::countr_zero(arity));
  const std::vector<Num<CS>> others(siblings.begin(), siblings.begin() + arity - 1);
  index = index.subspan(bits.size());
  siblings = siblings.subspan(others.size());
  return cs.region(
      fmt::format("insert-{}-given", arity),
      [](CS& inner, const Num<CS>& element, const Bits<CS>& position, const std::vector<Num<CS>>& rest) {
        return insert<CS>(inner, element, position, rest);
      },
      current, bits, others);
}

// As path_root, with index bits and siblings that there are already.
template <class CS>
Num<CS> path_root_given(CS& cs, NodeHash hash, std::span<const unsigned> arities, Num<CS> current,
                        std::span<const Bit<CS>> index, std::span<const Num<CS>> siblings) {
  for (unsigned arity : arities) current = hash_node(cs, hash, insert_given(cs, arity, current, index, siblings));
  return current;
}

// Paths of one form through a Poseidon tree, which an assigner takes several at a time: it leaves room for a path, and
// once there are as many as a processor has lanes it climbs all of them level by level. So it knows no root, and has
// to flush() at last. A leaf of several numbers is their hash.
template <class CS>
class PoseidonPaths {
 public:
  explicit PoseidonPaths(std::vector<unsigned> arities) : arities_(std::move(arities)) {}
  PoseidonPaths(const PoseidonPaths&) = delete;
  ~PoseidonPaths() { assert(waiting_.empty()); }

  // As path_root and path_root_given. `values` must stay until flush().
  Num<CS> root(CS& cs, const std::vector<Num<CS>>& leaf, std::span<const PathLevel> values, Bits<CS>& index) {
    if constexpr (CS::kRecords) {
      return path_root(cs, NodeHash::kPoseidon, arities_, hashed(cs, leaf), values, index);
    } else {
      for (size_t level = 0; level < arities_.size(); level++) {
        for (unsigned bit = 0; 1u << bit < arities_[level]; bit++) {
          index.push_back({BitKind::kIs, {}, (values[level].index >> bit & 1) != 0});
        }
      }
      return later(cs, leaf, [this, values](CS& at, size_t level, const Num<CS>& current) {
        return insert_step(at, arities_[level], current, &values[level]).children;
      });
    }
  }
  Num<CS> root_given(CS& cs, const std::vector<Num<CS>>& leaf, const Bits<CS>& index,
                     const std::vector<Num<CS>>& siblings) {
    if constexpr (CS::kRecords) {
      return path_root_given<CS>(cs, NodeHash::kPoseidon, arities_, hashed(cs, leaf), index, siblings);
    } else {
      return later(cs, leaf, [this, index, siblings](CS& at, size_t level, const Num<CS>& current) {
        std::span<const Bit<CS>> bits = index;
        std::span<const Num<CS>> others = siblings;
        for (size_t below = 0; below < level; below++) {
          bits = bits.subspan(std::countr_zero(arities_[below]));
          others = others.subspan(arities_[below] - 1);
        }
        return insert_given(at, arities_[level], current, bits, others);
      });
    }
  }

  void flush(CS& cs) {
    if constexpr (!CS::kRecords) {
      const auto end = cs.position();
      for (size_t level = 0; !waiting_.empty(); level++) {
        if (waiting_[0].numbers.size() > 1) hash_all(cs);
        if (level == arities_.size()) break;
        for (Path& path : waiting_) {
          cs.seek(path.next);
          path.numbers = path.insert(cs, level, path.numbers[0]);
          path.next = cs.position();
        }
      }
      waiting_.clear();
      cs.seek(end);
    }
  }

 private:
  static constexpr size_t kLanes = 8;
  // The children of the next node above `current`.
  using Insert = std::function<std::vector<Num<CS>>(CS&, size_t level, const Num<CS>& current)>;
  struct Path {
    r1cs::Assigner::Position next;
    std::vector<Num<CS>> numbers;  // a node, or what hashes to it
    Insert insert;
  };

  static Num<CS> hashed(CS& cs, const std::vector<Num<CS>>& leaf) {
    return leaf.size() == 1 ? leaf[0] : poseidon(cs, leaf);
  }
  Num<CS> later(CS& cs, const std::vector<Num<CS>>& leaf, Insert insert) {
    if (size_.aux == 0) {
      CS counter;
      std::vector<Num<CS>> numbers = leaf;
      for (size_t level = 0;; level++) {
        if (numbers.size() > 1)
          counter.alloc_fields(hash::poseidon_hasher(static_cast<unsigned>(numbers.size())).variables());
        if (level == arities_.size()) break;
        numbers = insert(counter, level, {});
      }
      size_ = counter.position();
    }
    waiting_.push_back({cs.skip(size_), leaf, std::move(insert)});
    if (waiting_.size() == kLanes) flush(cs);
    return {};
  }
  // The node that each path's numbers hash to.
  void hash_all(CS& cs) {
    const unsigned arity = static_cast<unsigned>(waiting_[0].numbers.size());
    const hash::Poseidon& hasher = hash::poseidon_hasher(arity);
    std::array<std::array<Fr, hash::kPoseidonMaxWidth>, kLanes> values;
    std::array<const Fr*, kLanes> preimages;
    std::array<Fr*, kLanes> variables;
    std::array<Fr, kLanes> digests;
    const size_t count = waiting_.size();
    for (size_t i = 0; i < count; i++) {
      Path& path = waiting_[i];
      for (size_t j = 0; j < path.numbers.size(); j++) values[i][j] = path.numbers[j].value;
      preimages[i] = values[i].data();
      cs.seek(path.next);
      variables[i] = cs.alloc_fields(hasher.variables()).data();
      path.next = cs.position();
    }
    hasher.hash(hash::merkle_tag(arity), std::span(preimages).first(count), std::span(variables).first(count),
                std::span(digests).first(count));
    for (size_t i = 0; i < count; i++) waiting_[i].numbers.assign(1, Num<CS>{{}, digests[i]});
  }

  std::vector<unsigned> arities_;
  r1cs::Assigner::Position size_;  // of each path
  std::vector<Path> waiting_;
};

// Inclusion of `leaf` under `root`, with the leaf index as a public input. Spec C.2, private root.
template <class CS>
void prove_inclusion(CS& cs, NodeHash hash, std::span<const unsigned> arities, const Num<CS>& leaf, const Num<CS>& root,
                     std::span<const PathLevel> values) {
  Bits<CS> index;
  Num<CS> computed = path_root(cs, hash, arities, leaf, values, index);
  pack_into_inputs<CS>(cs, index);
  enforce_equal(cs, computed, root);
}
template <class CS>
void prove_inclusion(CS& cs, PoseidonPaths<CS>& paths, const std::vector<Num<CS>>& leaf, const Num<CS>& root,
                     std::span<const PathLevel> values) {
  Bits<CS> index;
  Num<CS> computed = paths.root(cs, leaf, values, index);
  pack_into_inputs<CS>(cs, index);
  enforce_equal(cs, computed, root);
}

}  // namespace cuzk::gadgets
