#pragma once
// The sector update circuit of one partition. Source: filecoin-spec E.4 to E.7; the order of every allocation and row
// is the reference's, so that the published parameters fit.

#include "filecoin/paths.h"
#include "filecoin/update_vanilla.h"
#include "gadgets/merkle.h"

namespace cuzk::filecoin {

// A partition's vanilla proof as field elements, in the form that the circuit consumes it.
struct UpdateValues {
  struct Challenge {
    PathValues r_old, d_new, r_new;  // the new replica's leaf is computed
  };
  uint32_t partition = 0;
  Fr comm_r_old, comm_d_new, comm_r_new, comm_c, root_r_old, root_r_new;
  std::vector<Fr> apex_leaves;
  std::vector<Challenge> challenges;
};

// kInvalidInput where the partition is missing, a node value is not below r or a count is not the shape's.
Result<UpdateValues> update_values(const SectorUpdate& update, uint32_t partition);

namespace update_circuit {

using gadgets::alloc_num;
using gadgets::Bits;
using gadgets::NodeHash;
using gadgets::Num;
using gadgets::value_of;

template <class CS>
Num<CS> digest(CS& cs, const Num<CS>& x, const Num<CS>& y) {
  return gadgets::poseidon<CS>(cs, {x, y}, hash::kRandomnessTag);
}

// The siblings of levels [begin, begin + arities.size()) of a path, one after another. `path` is null where rows are
// recorded.
template <class CS>
std::vector<Num<CS>> alloc_siblings(CS& cs, std::span<const unsigned> arities, const PathValues* path,
                                    size_t begin = 0) {
  std::vector<Num<CS>> out;
  for (size_t level = 0; level < arities.size(); level++) {
    for (size_t i = 0; i + 1 < arities[level]; i++)
      out.push_back(alloc_num(cs, value_of<CS>([&] { return path->levels[begin + level].siblings[i]; })));
  }
  return out;
}

// Row by row up to the root of a binary tree over a power of two of nodes.
template <class CS>
Num<CS> binary_root(CS& cs, std::vector<Num<CS>> row) {
  for (; row.size() > 1; row.resize(row.size() / 2)) {
    for (size_t i = 0; i < row.size() / 2; i++) row[i] = gadgets::sha256_node(cs, row[2 * i], row[2 * i + 1]);
  }
  return row[0];
}

// The random bits of each challenge, without the partition's. Spec E.6.
template <class CS>
std::vector<Bits<CS>> challenge_bits(CS& cs, const UpdateShape& shape, const Num<CS>& partition,
                                     const Num<CS>& comm_r_new) {
  std::vector<Bits<CS>> out;
  for (unsigned j = 0; j < shape.digests(); j++) {
    gadgets::Linear<CS> next;
    next.add(partition, Fr::from_u64(shape.digests()));
    next.add_constant(Fr::from_u64(j));
    const Bits<CS> bits = gadgets::allocated_num_to_bits(cs, digest(cs, comm_r_new, next.allocate(cs)));
    for (unsigned t = 0; t < shape.challenges_per_digest() && out.size() < shape.challenges; t++) {
      const auto first = bits.begin() + t * shape.random_bits();
      out.emplace_back(first, first + shape.random_bits());
    }
  }
  return out;
}

// The high bits of a challenge as a number: as many as the one h bit that is set says. Spec E.7 step 1.
template <class CS>
Num<CS> high_bits(CS& cs, const UpdateShape& shape, const Bits<CS>& challenge, const Bits<CS>& h_bits) {
  return cs.region(
      "update-high-bits",
      [&](CS& inner, const Bits<CS>& index, const Bits<CS>& choice) {
        gadgets::Linear<CS> chosen;
        for (size_t i = 0; i < shape.hs.size(); i++) {
          Num<CS> high = gadgets::pack_bits(inner, Bits<CS>(index.end() - shape.hs[i], index.end()));
          Num<CS> product =
              alloc_num(inner, value_of<CS>([&] { return choice[i].value ? high.value : typename CS::Value{}; }));
          inner.enforce([&](auto& row) {
            add(row.a, high);
            add(row.b, choice[i]);
            add(row.c, product);
          });
          chosen.add(product);
        }
        return chosen.allocate(inner);
      },
      challenge, h_bits);
}

// What all challenges of a partition share.
template <class CS>
struct Partition {
  Num<CS> phi, root_r_old, root_r_new;
  Bits<CS> h_bits;
  std::vector<Num<CS>> apex_leaves;
};

// Spec E.7. `index` is the challenge's L bits, least significant first; `values` is null where rows are recorded.
template <class CS>
void challenge(CS& cs, const UpdateShape& shape, const Partition<CS>& shared, gadgets::PoseidonPaths<CS>& replica_paths,
               const Bits<CS>& index, const UpdateValues::Challenge* values) {
  const std::span<const gadgets::Bit<CS>> bits = index;
  Num<CS> rho = digest(cs, shared.phi, high_bits(cs, shape, index, shared.h_bits));
  Num<CS> leaf_r_old = alloc_num(cs, value_of<CS>([&] { return values->r_old.leaf; }));
  Num<CS> leaf_d_new = alloc_num(cs, value_of<CS>([&] { return values->d_new.leaf; }));
  Num<CS> leaf_r_new = gadgets::sum(cs, leaf_r_old, gadgets::mul(cs, leaf_d_new, rho));

  const std::vector<unsigned> arities = path_arities(shape.nodes, shape.tree);
  auto in_replica = [&](const Num<CS>& leaf, const PathValues* path, const Num<CS>& root) {
    const std::vector<Num<CS>> siblings = alloc_siblings(cs, arities, path);
    gadgets::enforce_equal(cs, replica_paths.root_given(cs, {leaf}, index, siblings), root);
  };
  in_replica(leaf_r_old, values ? &values->r_old : nullptr, shared.root_r_old);
  in_replica(leaf_r_new, values ? &values->r_new : nullptr, shared.root_r_new);

  Num<CS> apex_leaf = gadgets::select<CS>(cs, shared.apex_leaves, bits.subspan(shape.apex_height(), shape.apex_bits()));
  const std::vector<unsigned> binary(shape.apex_height(), 2);
  const std::vector<Num<CS>> siblings = alloc_siblings(cs, binary, values ? &values->d_new : nullptr);
  gadgets::enforce_equal(cs, gadgets::path_root_given<CS>(cs, NodeHash::kSha256, binary, leaf_d_new, bits, siblings),
                         apex_leaf);
}

// Spec E.4.
template <class CS>
void partition(CS& cs, const UpdateShape& shape, const UpdateValues* values) {
  auto number = [&](Fr UpdateValues::*member) { return alloc_num(cs, value_of<CS>([&] { return values->*member; })); };
  uint64_t selector = 0;
  if constexpr (!CS::kRecords) selector = update_selector(shape, values->partition);
  Num<CS> k_and_h = alloc_num(cs, value_of<CS>([&] { return Fr::from_u64(selector); }));
  gadgets::inputize(cs, k_and_h);
  Bits<CS> partition_bits(shape.partition_bits() + shape.hs.size());
  gadgets::alloc_bits<CS>(cs, selector, partition_bits);
  gadgets::enforce_packed<CS>(cs, partition_bits, k_and_h);
  Partition<CS> shared;
  shared.h_bits.assign(partition_bits.end() - shape.hs.size(), partition_bits.end());
  partition_bits.resize(shape.partition_bits());
  Num<CS> partition = gadgets::pack_bits(cs, partition_bits);

  Num<CS> comm_r_old = number(&UpdateValues::comm_r_old);
  gadgets::inputize(cs, comm_r_old);
  Num<CS> comm_d_new = number(&UpdateValues::comm_d_new);
  gadgets::inputize(cs, comm_d_new);
  Num<CS> comm_r_new = number(&UpdateValues::comm_r_new);
  gadgets::inputize(cs, comm_r_new);
  shared.phi = digest(cs, comm_d_new, comm_r_old);

  Num<CS> comm_c = number(&UpdateValues::comm_c);
  shared.root_r_old = number(&UpdateValues::root_r_old);
  shared.root_r_new = number(&UpdateValues::root_r_new);
  for (unsigned i = 0; i < shape.apex_leaves; i++) {
    shared.apex_leaves.push_back(alloc_num(cs, value_of<CS>([&] { return values->apex_leaves[i]; })));
  }
  // The topmost levels of tree_d_new, the same for all challenges.
  const std::vector<unsigned> top(shape.partition_bits(), 2);
  const PathValues* path = values ? &values->challenges[0].d_new : nullptr;
  const std::vector<Num<CS>> siblings = alloc_siblings(cs, top, path, shape.random_bits());

  gadgets::enforce_equal(cs, gadgets::poseidon<CS>(cs, {comm_c, shared.root_r_old}), comm_r_old);
  gadgets::enforce_equal(cs, gadgets::poseidon<CS>(cs, {comm_c, shared.root_r_new}), comm_r_new);
  Num<CS> apex_root = binary_root(cs, shared.apex_leaves);
  Num<CS> root = gadgets::path_root_given<CS>(cs, NodeHash::kSha256, top, apex_root, partition_bits, siblings);
  gadgets::enforce_equal(cs, root, comm_d_new);

  std::vector<Bits<CS>> challenges = challenge_bits(cs, shape, partition, comm_r_new);
  gadgets::PoseidonPaths<CS> replica_paths(path_arities(shape.nodes, shape.tree));
  for (size_t i = 0; i < challenges.size(); i++) {
    challenges[i].insert(challenges[i].end(), partition_bits.begin(), partition_bits.end());
    challenge(cs, shape, shared, replica_paths, challenges[i], values ? &values->challenges[i] : nullptr);
  }
  replica_paths.flush(cs);
}

}  // namespace update_circuit

// Names the circuit and its parameters: "update-32GiB".
std::string update_circuit_id(const UpdateShape& shape);
r1cs::Circuit compile_update(const UpdateShape& shape);
// The witness of a partition for that circuit.
Status assign_update(const r1cs::Circuit& circuit, const UpdateShape& shape, const UpdateValues& values,
                     const r1cs::Assignment& to);

}  // namespace cuzk::filecoin
