#pragma once
// The fallback PoSt circuit, Winning and Window alike. Source: filecoin-spec D.2; the order of every allocation and row
// is the reference's, so that the published parameters fit.

#include "filecoin/paths.h"
#include "filecoin/post_vanilla.h"

namespace cuzk::filecoin {

// One of the circuit's sectors as field elements.
struct PostSectorValues {
  Fr comm_r, comm_c, comm_r_last;
  std::vector<PathValues> challenges;
};

namespace post_circuit {

using gadgets::Num;

// The hashes of some sectors.
template <class CS>
struct Hashes {
  explicit Hashes(std::span<const unsigned> arities) : path({arities.begin(), arities.end()}) {}
  void flush(CS& cs) {
    comm_r.flush(cs);
    path.flush(cs);
  }
  gadgets::PoseidonPaths<CS> comm_r{{}}, path;  // a commitment is a path without levels
};

// Ties comm_r, a public input, to the root of the sector's replica tree, which it returns. `values` is null where rows
// are recorded.
template <class CS>
Num<CS> commitments(CS& cs, Hashes<CS>& hashes, const PostSectorValues* values) {
  using gadgets::alloc_num;
  using gadgets::value_of;
  const Num<CS> public_comm_r = gadgets::alloc_input(cs, value_of<CS>([&] { return values->comm_r; }));
  return cs.region(
      "post-commitments",
      [&](CS& inner, const Num<CS>& input) {
        Num<CS> comm_r_last = alloc_num(inner, value_of<CS>([&] { return values->comm_r_last; }));
        Num<CS> comm_c = alloc_num(inner, value_of<CS>([&] { return values->comm_c; }));
        Num<CS> comm_r = alloc_num(inner, value_of<CS>([&] { return values->comm_r; }));
        gadgets::enforce_equal(inner, input, comm_r);
        gadgets::Bits<CS> none;
        gadgets::enforce_equal(inner, comm_r, hashes.comm_r.root(inner, {comm_c, comm_r_last}, {}, none));
        return comm_r_last;
      },
      public_comm_r);
}

// Opens a leaf under `root`; its index is a public input. The input is allocated ahead, so that a whole path is one
// region: a production circuit has 23,490 of them.
template <class CS>
void challenge(CS& cs, std::span<const unsigned> arities, Hashes<CS>& hashes, const Num<CS>& root,
               const PathValues* values) {
  using gadgets::value_of;
  const Num<CS> public_index =
      gadgets::alloc_input(cs, value_of<CS>([&] { return Fr::from_u64(leaf_index(values->levels, arities)); }));
  cs.region(
      "post-challenge",
      [&](CS& inner, const Num<CS>& tree_root, const Num<CS>& input) {
        Num<CS> leaf = gadgets::alloc_num(inner, value_of<CS>([&] { return values->leaf; }));
        std::span<const gadgets::PathLevel> levels;
        if (values) levels = values->levels;
        gadgets::Bits<CS> index;
        Num<CS> computed = hashes.path.root(inner, {leaf}, levels, index);
        gadgets::enforce_packed<CS>(inner, index, input);
        gadgets::enforce_equal(inner, computed, tree_root);
        return leaf;
      },
      root, public_index);
}

template <class CS>
void sector(CS& cs, std::span<const unsigned> arities, Hashes<CS>& hashes, unsigned challenges,
            const PostSectorValues* values) {
  const Num<CS> comm_r_last = commitments(cs, hashes, values);
  for (unsigned i = 0; i < challenges; i++) {
    challenge(cs, arities, hashes, comm_r_last, values ? &values->challenges[i] : nullptr);
  }
}

}  // namespace post_circuit

// Names the circuit and its parameters: "winning-2KiB", "window-32GiB". The same for every version.
std::string post_circuit_id(const PostShape& shape);

// The compiled circuit of one partition.
r1cs::Circuit compile_post(const PostShape& shape);

// The witness of a partition for that circuit, from the vanilla proofs of its sectors: at least one, and no more than
// it holds. The last one fills up an incomplete partition. Sectors are spread over the pool, a few at a time.
// kInvalidInput names sector and challenge of a proof of another shape.
Status assign_post(const r1cs::Circuit& circuit, const PostShape& shape, std::span<const PostSectorProof> sectors,
                   exec::Pool& pool, const r1cs::Assignment& to);

}  // namespace cuzk::filecoin
