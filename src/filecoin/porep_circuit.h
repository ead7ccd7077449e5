#pragma once
// The PoRep (stacked DRG) circuit of one partition. Source: filecoin-spec C.4 to C.6; the order of every allocation and
// row is the reference's, so that the published parameters fit.

#include "base/bytes.h"
#include "filecoin/shapes.h"
#include "filecoin/vanilla.h"
#include "gadgets/merkle.h"

namespace cuzk::filecoin {

// One challenge's vanilla proof as field elements, in the form that the circuit consumes it.
struct PorepChallengeValues {
  struct Path {
    Fr leaf;
    std::vector<gadgets::PathLevel> levels;
  };
  struct Parent {
    std::vector<Fr> column;  // layer 1 first
    Path path;
  };
  Path comm_d, comm_r_last, c_x;
  std::vector<Parent> parents;  // 6 DRG, then 8 expander
  uint64_t node = 0;
};
struct PorepValues {
  Fr replica_id, comm_d, comm_r, comm_r_last, comm_c;
  std::vector<PorepChallengeValues> challenges;
};

// The values of a partition. kInvalidInput where a node value is not below r or a count is not the shape's.
Result<PorepValues> porep_values(const PorepShape& shape, const SealCommit& commit, uint32_t partition);

namespace porep_circuit {

using gadgets::Bits;
using gadgets::Num;

// SHA-256 over replica id, layer, node and 37 parents, packed into a number. Spec C.6.
template <class CS>
Num<CS> label(CS& cs, const Bits<CS>& replica_id, const std::vector<Bits<CS>>& parents, uint32_t layer,
              const Bits<CS>& node) {
  using gadgets::Bit;
  Bits<CS> preimage = replica_id;
  for (int i = 31; i >= 0; i--) preimage.push_back(Bit<CS>::constant(layer >> i & 1));
  preimage.insert(preimage.end(), node.rbegin(), node.rend());
  preimage.resize(512, Bit<CS>::constant(false));
  for (size_t i = 0; i < kLabelParents; i++) {
    const Bits<CS>& parent = parents[i % parents.size()];
    preimage.insert(preimage.end(), parent.begin(), parent.end());
  }
  return gadgets::sha256_to_num(cs, std::move(preimage));
}

template <class CS>
Bits<CS> sha_bits(CS& cs, const Num<CS>& x) {
  return gadgets::reverse_bit_numbering(gadgets::to_bits_le(cs, x));
}

// The trees that all challenges are in, with the roots that are committed to.
template <class CS>
struct Trees {
  std::vector<unsigned> d_arities;
  Num<CS> comm_d, comm_c, comm_r_last;
  gadgets::PoseidonPaths<CS> c, r_last;
};

// Spec C.5. `values` is null where rows are recorded.
template <class CS>
void challenge(CS& cs, const PorepShape& shape, const Bits<CS>& replica_id, Trees<CS>& trees,
               const PorepChallengeValues* values) {
  using gadgets::alloc_num;
  using gadgets::value_of;
  using Levels = std::span<const gadgets::PathLevel>;
  const auto levels = [&](const PorepChallengeValues::Path* path) { return path ? Levels(path->levels) : Levels(); };
  const auto in_tree_c = [&](const std::vector<Num<CS>>& column, const PorepChallengeValues::Path* path) {
    gadgets::prove_inclusion(cs, trees.c, column, trees.comm_c, levels(path));
  };
  Num<CS> data_leaf = alloc_num(cs, value_of<CS>([&] { return values->comm_d.leaf; }));
  gadgets::prove_inclusion<CS>(cs, gadgets::NodeHash::kSha256, trees.d_arities, data_leaf, trees.comm_d,
                               levels(values ? &values->comm_d : nullptr));

  std::vector<std::vector<Num<CS>>> columns(kDrgDegree + kExpanderDegree);
  for (size_t i = 0; i < columns.size(); i++) {
    for (size_t layer = 0; layer < shape.layers; layer++) {
      columns[i].push_back(alloc_num(cs, value_of<CS>([&] { return values->parents[i].column[layer]; })));
    }
    in_tree_c(columns[i], values ? &values->parents[i].path : nullptr);
  }

  Bits<CS> node(64);
  gadgets::alloc_bits<CS>(cs, values ? values->node : 0, node);
  gadgets::pack_into_inputs<CS>(cs, node);

  std::vector<Num<CS>> labels;
  for (uint32_t layer = 1; layer <= shape.layers; layer++) {
    // Each layer decomposes its parents' values anew: DRG parents in this layer, expander parents in the one before.
    std::vector<Bits<CS>> parents;
    for (size_t i = 0; i < kDrgDegree; i++) parents.push_back(sha_bits(cs, columns[i][layer - 1]));
    for (size_t i = kDrgDegree; layer > 1 && i < columns.size(); i++)
      parents.push_back(sha_bits(cs, columns[i][layer - 2]));
    labels.push_back(label(cs, replica_id, parents, layer, node));
  }

  Num<CS> encoded = gadgets::sum(cs, labels.back(), data_leaf);
  gadgets::prove_inclusion(cs, trees.r_last, {encoded}, trees.comm_r_last,
                           levels(values ? &values->comm_r_last : nullptr));
  in_tree_c(labels, values ? &values->c_x : nullptr);
}

// Spec C.4. `challenges` is the number in this circuit: the shape's for a partition, fewer to look at a part of it.
template <class CS>
void partition(CS& cs, const PorepShape& shape, unsigned challenges, const PorepValues* values) {
  using gadgets::alloc_num;
  using gadgets::value_of;
  Num<CS> replica_id = alloc_num(cs, value_of<CS>([&] { return values->replica_id; }));
  gadgets::inputize(cs, replica_id);
  Bits<CS> replica_id_bits = sha_bits(cs, replica_id);
  Num<CS> comm_d = alloc_num(cs, value_of<CS>([&] { return values->comm_d; }));
  gadgets::inputize(cs, comm_d);
  Num<CS> comm_r = alloc_num(cs, value_of<CS>([&] { return values->comm_r; }));
  gadgets::inputize(cs, comm_r);
  Num<CS> comm_r_last = alloc_num(cs, value_of<CS>([&] { return values->comm_r_last; }));
  Num<CS> comm_c = alloc_num(cs, value_of<CS>([&] { return values->comm_c; }));
  gadgets::enforce_equal(cs, comm_r, gadgets::poseidon<CS>(cs, {comm_c, comm_r_last}));

  const std::vector<unsigned> arities = path_arities(shape);
  Trees<CS> trees{
      std::vector<unsigned>(shape.log2_nodes(), 2), comm_d, comm_c, comm_r_last, gadgets::PoseidonPaths<CS>(arities),
      gadgets::PoseidonPaths<CS>(arities)};
  for (unsigned i = 0; i < challenges; i++) {
    challenge(cs, shape, replica_id_bits, trees, values ? &values->challenges[i] : nullptr);
  }
  trees.c.flush(cs);
  trees.r_last.flush(cs);
}

}  // namespace porep_circuit

// Names the circuit and its parameters: "porep-32GiB". The same for every API version and feature of a size.
std::string porep_circuit_id(const PorepShape& shape);

// The compiled circuit of a partition with this many challenges (the shape's, unless a part is wanted).
r1cs::Circuit compile_porep(const PorepShape& shape, unsigned challenges);
inline r1cs::Circuit compile_porep(const PorepShape& shape) {
  return compile_porep(shape, shape.challenges_per_partition);
}

// The witness of a partition for that circuit.
Status assign_porep(const r1cs::Circuit& circuit, const PorepShape& shape, const PorepValues& values,
                    const r1cs::Assignment& to);

}  // namespace cuzk::filecoin
