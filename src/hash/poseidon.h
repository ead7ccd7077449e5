#pragma once
// Poseidon over Fr as Filecoin uses it: S-box x^5, 8 full rounds, 128-bit security, "standard" strength (filecoin-spec
// B; Grassi, Khovratovich, Rechberger, Roy, Schofnegger 2019, with the optimised form of its appendix B). Constants are
// generated at first use, not stored.

#include <span>
#include <vector>

#include "field/kernels.h"

namespace cuzk::hash {

inline constexpr unsigned kPoseidonFullRounds = FrPoseidon::kFullRounds;
inline constexpr unsigned kPoseidonMaxWidth = FrPoseidon::kMaxWidth;
// The arities that exist; every `arity` below is one of these.
inline constexpr unsigned kPoseidonArities[] = {2, 4, 8, 11};

// new[0] = <w_hat, state>, new[j] = state[j] + state[0] v_rest[j - 1].
struct SparseMatrix {
  std::vector<Fr> w_hat;   // width values
  std::vector<Fr> v_rest;  // width - 1 values
};

// What the optimised form and the circuit consume. Matrices are row-major, width x width, and act on row vectors:
// new[j] = sum_i state[i] matrix[i][j].
struct PoseidonConstants {
  unsigned arity, width, partial_rounds;
  std::vector<Fr> compressed_round_constants;  // 8 width + partial_rounds, in order of use (B.5)
  std::vector<Fr> mds;                         // symmetric
  std::vector<Fr> pre_sparse;                  // in place of mds after the fourth full round (B.6)
  std::vector<SparseMatrix> sparse;            // one a partial round, first round first
};

// Made once per arity, 1 to 8 ms; safe from any thread.
const PoseidonConstants& poseidon_constants(unsigned arity);
// The (8 + partial_rounds) width constants of the plain permutation (Grain LFSR, B.2), made anew at each call.
std::vector<Fr> poseidon_round_constants(unsigned arity);

// Domain tag of Merkle nodes, columns and comm_r.
constexpr Fr merkle_tag(unsigned arity) { return Fr::from_u64((uint64_t{1} << arity) - 1); }
// Domain tag of the update circuit's randomness (arity 2).
inline constexpr Fr kRandomnessTag = Fr::from_u64(uint64_t{1} << 40);

// Hashes of many preimages of one arity, in the lanes of a processor's kernels.
class Poseidon {
 public:
  Poseidon(unsigned arity, const Kernels& kernels);
  Poseidon(const Poseidon&) = delete;

  // Variables that a hash has in the circuit (gadgets/poseidon.h), with the digest as the last.
  size_t variables() const { return FrPoseidon::variables(plan_.width, plan_.partial_rounds); }
  // preimages[i] points to `arity` elements; variables[i] to room for variables(). No variables: digests alone.
  void hash(const Fr& tag, std::span<const Fr* const> preimages, std::span<Fr* const> variables,
            std::span<Fr> digests) const;

 private:
  const Kernels& kernels_;
  std::vector<Fr> added_;
  std::vector<uint64_t> factors_;
  FrPoseidon plan_{};  // points to them
};
// With kernels(); made once per arity.
const Poseidon& poseidon_hasher(unsigned arity);

// The digest of preimage.size() = arity elements under a domain tag.
Fr poseidon(std::span<const Fr> preimage, const Fr& tag);
// The same with the Merkle tag of its arity.
Fr poseidon(std::span<const Fr> preimage);

}  // namespace cuzk::hash
