#include "filecoin/proof_request.h"

#include "filecoin/challenges.h"
#include "filecoin/porep_source.h"
#include "filecoin/post_source.h"
#include "filecoin/update_source.h"

namespace cuzk::filecoin {
namespace {

using Source = std::shared_ptr<const groth16::CircuitSource>;

Result<Source> make_post(const ProofRequest& request, exec::Pool& pool) {
  CUZK_TRY_ASSIGN(RegisteredPost proof, registered_post(request.registered_proof));
  PostRequest post{std::move(proof), request.randomness, prover_id(request.miner_id), request.vanilla_proofs, {}};
  if (request.kind == ProofKind::kWinningPost) return make_winning_source(post, pool);
  post.partition = request.partition_index;
  return make_window_source(post, pool);
}

Result<Source> make_update(const ProofRequest& request, exec::Pool& pool) {
  CUZK_TRY_ASSIGN(UpdateShape shape, registered_update(request.registered_proof));
  return make_update_source(
      UpdateRequest{shape, request.comm_r_old, request.comm_d_new, request.comm_r_new, request.vanilla_proofs}, pool);
}

Result<Source> make(const ProofRequest& request, exec::Pool& pool) {
  switch (request.kind) {
    case ProofKind::kPorep: return make_porep_source(request.vanilla_proof, pool);
    case ProofKind::kUpdate: return make_update(request, pool);
    case ProofKind::kWindowPost:
    case ProofKind::kWinningPost: return make_post(request, pool);
  }
  return fail(Code::kInvalidInput, "no such kind of proof: {}", static_cast<int>(request.kind));
}

// What a client states beside the proofs is no more than a check of them.
Result<Source> make_as_stated(const ProofRequest& request, exec::Pool& pool) {
  CUZK_TRY_ASSIGN(Source source, make(request, pool));
  const std::string size = format_size(request.sector_bytes), circuit = source->circuit_id();
  if (request.sector_bytes != 0 && !circuit.ends_with("-" + size))
    return fail(Code::kInvalidInput, "sector_size says {}, but the proof is of {}", size, circuit);
  return source;
}

std::string_view input_name(ProofKind kind) {
  switch (kind) {
    case ProofKind::kPorep: return "C1";
    case ProofKind::kUpdate: return "SnapDeals";
    case ProofKind::kWindowPost: return "WindowPoSt";
    case ProofKind::kWinningPost: return "WinningPoSt";
  }
  return "request";
}

}  // namespace

Result<Source> make_source(const ProofRequest& request, exec::Pool& pool) {
  Result<Source> source = make_as_stated(request, pool);
  if (source) return source;
  std::string_view step = source.error().code == Code::kUnsatisfied ? "check" : "parse";
  return tl::unexpected(std::move(source).error().within(fmt::format("{} {} failed", input_name(request.kind), step)));
}

}  // namespace cuzk::filecoin
