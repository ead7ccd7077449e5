#include "filecoin/proof_request.h"

#include <gmock/gmock.h>

#include "filecoin/c1.h"
#include "filecoin/post_testing.h"
#include "filecoin/synthetic.h"

namespace cuzk::filecoin {
namespace {

using ::testing::StartsWith;

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr std::string_view kName = "StackedDrg2KiBV1_1";

std::string c1_of(const SealCommit& commit) {
  std::string text;
  EXPECT_TRUE(write_c1(commit, C1Form::kBare, [&](std::string_view piece) -> Status {
    text += piece;
    return {};
  }));
  return text;
}

// What a request says about its proof must be true of it; the refusal names both sides.
TEST(Acceptance, Case55_LabelsThatDisagree) {
  exec::Pool pool(2);
  const auto refusal = [&](const ProofRequest& request) {
    auto source = make_source(request, pool);
    return source ? "" : source.error().message;
  };

  const std::string c1 = c1_of(synthetic_porep(kName, cuzk::testing::seed(), pool).value());
  const auto labelled = [&](std::string_view registered_proof, uint64_t sector_bytes) {
    std::string text = c1;
    text.replace(text.find(kName), kName.size(), registered_proof);
    return refusal({.kind = ProofKind::kPorep, .sector_bytes = sector_bytes, .vanilla_proof = as_bytes(text)});
  };
  for (const uint64_t right : {uint64_t{0}, uint64_t{2048}}) EXPECT_EQ(labelled(kName, right), "");
  EXPECT_EQ(labelled(kName, 32 * kGiB), "C1 parse failed: sector_size says 32GiB, but the proof is of porep-2KiB");
  EXPECT_EQ(labelled("StackedDrg32GiBV1_1", 0),
            "C1 parse failed: vanilla_proofs are of a 2KiB sector, but registered_proof is StackedDrg32GiBV1_1");
  // Both versions are of one shape; the graph tells them apart, by its parents.
  EXPECT_THAT(labelled("StackedDrg2KiBV1", 0),
              StartsWith("C1 check failed: partition 0, challenge 0: drg_parents[0]: is the column of node "));

  const PostInput window = testing::made_up_post(PostKind::kWindow, 2048, 1, cuzk::testing::seed(), pool);
  const Bytes vanilla = write_post_proof(window.sectors[0], post_shape(PostKind::kWindow, 2048).value());
  ProofRequest post{.kind = ProofKind::kWindowPost, .registered_proof = 10, .miner_id = 1000};
  post.vanilla_proofs = {vanilla};
  post.randomness = window.randomness;
  const auto as = [&](ProofKind kind, uint64_t registered_proof) {
    ProofRequest other = post;
    other.kind = kind, other.registered_proof = registered_proof;
    return refusal(other);
  };
  EXPECT_EQ(as(ProofKind::kWinningPost, 10), "WinningPoSt parse failed: StackedDrgWindow2KiBV1_2 is no winning PoSt");
  EXPECT_EQ(as(ProofKind::kWinningPost, 0),
            "WinningPoSt parse failed: vanilla proof 0 is cut short: 5680 bytes of 36816");
  EXPECT_EQ(as(ProofKind::kWindowPost, 0), "WindowPoSt parse failed: StackedDrgWinning2KiBV1 is no window PoSt");
  EXPECT_EQ(as(ProofKind::kWindowPost, 9999),
            "WindowPoSt parse failed: registered PoSt proof 9999 is newer than this build, which knows up to 14");
  EXPECT_EQ(refusal({.kind = ProofKind::kUpdate, .registered_proof = 9999}),
            "SnapDeals parse failed: registered update proof 9999 is newer than this build, which knows up to 4");
}

}  // namespace
}  // namespace cuzk::filecoin
