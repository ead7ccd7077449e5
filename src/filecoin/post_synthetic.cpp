#include "filecoin/post_synthetic.h"

#include <algorithm>
#include <set>

#include "filecoin/challenges.h"
#include "filecoin/synthetic_trees.h"

namespace cuzk::filecoin {
namespace {

using synthetic::Random, synthetic::SparseTree;

// Everything but comm_r is a function of seed and id; comm_r follows from the tree.
PostSectorProof made_up_sector(const PostShape& shape, uint64_t id, std::span<const uint64_t> challenges, uint64_t seed,
                               exec::Pool& pool) {
  const Random random(seed);
  std::vector<SparseTree::Node> leaves;
  for (uint64_t leaf : std::set<uint64_t>(challenges.begin(), challenges.end())) {
    leaves.emplace_back(leaf, random("replica leaf", leaf));
  }
  const SparseTree tree(std::move(leaves), path_arities(shape.sector), random, "replica tree", pool);
  PostSectorProof proof;
  proof.sector_id = id;
  proof.comm_c = random("comm_c");
  proof.comm_r_last = tree.root();
  proof.comm_r = synthetic::poseidon(std::array{proof.comm_c, proof.comm_r_last});
  for (uint64_t challenge : challenges) proof.inclusion.push_back(tree.proof(challenge));
  return proof;
}

}  // namespace

Result<PostInput> synthetic_post(const RegisteredPost& kind, size_t sectors, uint64_t seed, exec::Pool& pool) {
  CUZK_TRY_ASSIGN(const PostShape shape, post_shape(kind.kind, kind.sector_bytes));
  if (sectors == 0 || (kind.kind == PostKind::kWinning && sectors != 1)) {
    return fail(Code::kInvalidInput, "{} cannot be of {} sectors", kind.name, sectors);
  }
  const Random random(seed);
  PostInput input{kind, random("randomness"), prover_id(load_le<uint32_t>(random("miner").data())), {}, 0};
  // Ids ascend by steps of 1 to 256.
  PostStatement statement{input.randomness, {}, 0};
  uint64_t id = 0;
  for (size_t i = 0; i < sectors; i++) {
    id += 1 + random("sector id", i)[0];
    statement.sectors.push_back({id, {}});
  }
  input.sectors.resize(sectors);
  pool.for_each(sectors, [&](size_t i) {
    const uint64_t own_seed = load_le<uint64_t>(random("sector", statement.sectors[i].id).data());
    input.sectors[i] =
        made_up_sector(shape, statement.sectors[i].id, post_challenges(shape, kind.api, statement, i), own_seed, pool);
  });
  return input;
}

}  // namespace cuzk::filecoin
