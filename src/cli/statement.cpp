#include "cli/statement.h"

#include "filecoin/porep_source.h"
#include "filecoin/post_source.h"
#include "filecoin/update_source.h"

namespace cuzk::cli {
namespace {

using filecoin::ProofKind;

// The miner's number in a prover id: an unsigned LEB128 varint.
uint64_t actor_of(const Bytes32& prover_id) {
  uint64_t actor = 0;
  for (unsigned i = 0; i < 10; i++) {
    actor |= uint64_t{prover_id[i] & 0x7fu} << (7 * i);
    if (prover_id[i] < 0x80) break;
  }
  return actor;
}

Status read_post_request(const std::string& path, OwnedRequest& out) {
  CUZK_TRY_ASSIGN(filecoin::PostInput post, filecoin::read_post(path));
  if (!post.proof.number) {
    return fail(Code::kUsage, "'{}': the network registers no proof {}, so a daemon cannot be asked for it", path,
                post.proof.name);
  }
  const bool winning = post.proof.kind == filecoin::PostKind::kWinning;
  CUZK_TRY_ASSIGN(filecoin::PostShape shape, filecoin::post_shape(post.proof.kind, post.proof.sector_bytes));
  out.request.kind = winning ? ProofKind::kWinningPost : ProofKind::kWindowPost;
  out.request.registered_proof = *post.proof.number;
  out.request.miner_id = actor_of(post.prover_id);
  out.request.randomness = out.keep(Bytes(post.randomness.begin(), post.randomness.end()));
  out.request.partition_index = post.first_partition;
  for (const filecoin::PostSectorProof& sector : post.sectors) {
    out.request.vanilla_proofs.push_back(out.keep(filecoin::write_post_proof(sector, shape)));
  }
  return {};
}

Status read_update_request(const std::string& path, OwnedRequest& out) {
  CUZK_TRY_ASSIGN(filecoin::SectorUpdate update, filecoin::read_update(path));
  uint64_t number = 0;
  for (Result<filecoin::UpdateShape> shape; (shape = filecoin::registered_update(number)); number++) {
    if (shape->sector_bytes == update.shape.sector_bytes) break;
  }
  if (!filecoin::registered_update(number)) {
    return fail(Code::kUsage,
                "'{}': the network registers no update of sectors of {}, so a daemon cannot be asked for it", path,
                format_size(update.shape.sector_bytes));
  }
  out.request.kind = ProofKind::kUpdate;
  out.request.registered_proof = number;
  auto keep = [&](const Bytes32& bytes) { return out.keep(Bytes(bytes.begin(), bytes.end())); };
  out.request.comm_r_old = keep(update.statement.comm_r_old);
  out.request.comm_r_new = keep(update.statement.comm_r_new);
  out.request.comm_d_new = keep(update.statement.comm_d_new);
  for (const auto& partition : update.partitions) {
    if (partition)
      out.request.vanilla_proofs.push_back(out.keep(filecoin::write_update_proof(update.shape, *partition)));
  }
  return {};
}

Status read_raw_request(const StatementOptions& options, OwnedRequest& out) {
  out.request.kind = *options.kind == "winning"  ? ProofKind::kWinningPost
                     : *options.kind == "window" ? ProofKind::kWindowPost
                                                 : ProofKind::kUpdate;
  out.request.registered_proof = options.registered_proof;
  out.request.partition_index = options.partition_index;
  for (const std::string& path : options.vanilla) {
    CUZK_TRY_ASSIGN(Bytes bytes, read_file(path));
    out.request.vanilla_proofs.push_back(out.keep(std::move(bytes)));
  }
  for (auto [text, field] : {std::pair{&options.randomness, &out.request.randomness},
                             {&options.comm_r_old, &out.request.comm_r_old},
                             {&options.comm_r_new, &out.request.comm_r_new},
                             {&options.comm_d_new, &out.request.comm_d_new}}) {
    CUZK_TRY_ASSIGN(Bytes bytes, from_hex(*text));
    *field = out.keep(std::move(bytes));
  }
  return {};
}

Status read_porep_request(const std::string& path, OwnedRequest& out) {
  CUZK_TRY_ASSIGN(Bytes c1, read_file(path));
  out.request.kind = ProofKind::kPorep;
  out.request.vanilla_proof = out.keep(std::move(c1));
  return {};
}

}  // namespace

Result<OwnedRequest> read_request(const StatementOptions& options) {
  OwnedRequest out;
  out.request.miner_id = options.miner_id;
  out.request.sector_number = options.sector_number;
  CUZK_TRY(options.c1       ? read_porep_request(*options.c1, out)
           : options.post   ? read_post_request(*options.post, out)
           : options.update ? read_update_request(*options.update, out)
                            : read_raw_request(options, out));
  return out;
}

Result<std::shared_ptr<const groth16::CircuitSource>> read_source(const StatementOptions& options, Context& context,
                                                                  filecoin::VanillaCheck check) {
  if (options.post) return filecoin::make_post_source_from_json(*options.post, context.pool, check);
  if (options.update) return filecoin::make_update_source_from_json(*options.update, context.pool, check);
  CUZK_TRY_ASSIGN(OwnedRequest read, read_request(options));
  if (options.c1) return filecoin::make_porep_source(read.request.vanilla_proof, context.pool, check);
  return filecoin::make_source(read.request, context.pool);
}

}  // namespace cuzk::cli
