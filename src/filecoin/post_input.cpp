#include "filecoin/post_input.h"

#include <algorithm>

#include "filecoin/input_files.h"

namespace cuzk::filecoin {
namespace {

Status check_counts(const PostRequest& request, const PostShape& shape) {
  const size_t count = request.vanilla_proofs.size();
  if (count == 0) return fail(Code::kInvalidInput, "there is no vanilla proof");
  if (shape.kind == PostKind::kWinning && count != 1) {
    return fail(Code::kInvalidInput, "{} is of one sector, but there are {} vanilla proofs", request.proof.name, count);
  }
  if (request.partition && count > shape.sectors) {
    return fail(Code::kInvalidInput, "{} vanilla proofs, but a partition of {} holds {} sectors", count,
                request.proof.name, shape.sectors);
  }
  const size_t least = post_proof_bytes(shape);
  for (size_t i = 0; i < count; i++) {
    if (request.vanilla_proofs[i].size() >= least) continue;
    return fail(Code::kInvalidInput, "vanilla proof {} is cut short: {} bytes of {}", i,
                request.vanilla_proofs[i].size(), least);
  }
  return {};
}

// Sorts by id and drops repetitions.
Status order_sectors(std::vector<PostSectorProof>& sectors) {
  std::ranges::stable_sort(sectors, {}, &PostSectorProof::sector_id);
  sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
  const auto twice = std::ranges::adjacent_find(sectors, {}, &PostSectorProof::sector_id);
  if (twice == sectors.end()) return {};
  return fail(Code::kInvalidInput, "sector {} is there twice, with different vanilla proofs", twice->sector_id);
}

Result<PostInput> read_fields(const Json& json, const std::filesystem::path& folder) {
  CUZK_TRY_ASSIGN(const std::string kind_name, text_member(json, "kind"));
  PostKind kind = PostKind::kWinning;
  if (kind_name != post_kind_name(kind)) kind = PostKind::kWindow;
  if (kind_name != post_kind_name(kind)) return fail(Code::kInvalidInput, "'kind' is neither winning nor window");
  CUZK_TRY_ASSIGN(const uint64_t size, size_member(json, "size"));
  CUZK_TRY_ASSIGN(const std::string api_name, text_member(json, "api"));
  CUZK_TRY_ASSIGN(const ApiVersion api, parse_api_version(api_name));

  PostRequest request;
  CUZK_TRY_ASSIGN(request.proof, post_proof(kind, size, api));
  CUZK_TRY_ASSIGN(const Bytes32 randomness, hex_member(json, "randomness"));
  request.randomness = randomness;
  CUZK_TRY_ASSIGN(request.prover_id, hex_member(json, "prover_id"));
  CUZK_TRY_ASSIGN(const Json sectors, list_member(json, "sectors"));
  std::vector<Bytes> files;
  for (const Json& sector : sectors) {
    CUZK_TRY_ASSIGN(const std::string name, text_member(sector, "vanilla"));
    CUZK_TRY_ASSIGN(files.emplace_back(), read_beside(folder, name));
  }
  request.vanilla_proofs.assign(files.begin(), files.end());
  return parse_post(request);
}

}  // namespace

PostStatement PostInput::statement() const {
  PostStatement out{randomness, {}, first_partition};
  for (const PostSectorProof& sector : sectors) out.sectors.push_back({sector.sector_id, sector.comm_r});
  return out;
}

Result<PostInput> parse_post(const PostRequest& request) {
  CUZK_TRY_ASSIGN(const PostShape shape, post_shape(request.proof.kind, request.proof.sector_bytes));
  PostInput input{request.proof, {}, {}, {}, request.partition.value_or(0)};
  CUZK_TRY_ASSIGN(input.randomness, element_from("randomness", request.randomness));
  CUZK_TRY_ASSIGN(input.prover_id, element_from("prover_id", request.prover_id));
  CUZK_TRY(check_counts(request, shape));
  for (size_t i = 0; i < request.vanilla_proofs.size(); i++) {
    auto proof = read_post_proof(request.vanilla_proofs[i], shape);
    if (!proof) return tl::unexpected<Error>(std::move(proof).error().within(fmt::format("vanilla proof {}", i)));
    input.sectors.push_back(*std::move(proof));
  }
  CUZK_TRY(order_sectors(input.sectors));
  return input;
}

Result<PostInput> read_post(const std::filesystem::path& path) {
  CUZK_TRY_ASSIGN(const Bytes bytes, read_input(path));
  auto input = read_fields(Json::parse(bytes, nullptr, /*allow_exceptions=*/false), path.parent_path());
  if (!input) return tl::unexpected<Error>(std::move(input).error().within(path.string()));
  return input;
}

Status write_post(const PostInput& input, const std::filesystem::path& folder) {
  CUZK_TRY_ASSIGN(const PostShape shape, post_shape(input.proof.kind, input.proof.sector_bytes));
  const PostStatement statement = input.statement();
  const std::string_view kind = post_kind_name(input.proof.kind);
  Json json = {{"kind", kind},
               {"size", format_size(input.proof.sector_bytes)},
               {"api", api_version_name(input.proof.api)},
               {"prover_id", to_hex(input.prover_id)},
               {"randomness", to_hex(input.randomness)}};
  for (size_t i = 0; i < input.sectors.size(); i++) {
    const PostSectorProof& sector = input.sectors[i];
    const std::string name = fmt::format("{}-{}.vanilla", kind, sector.sector_id);
    CUZK_TRY(write_file(folder / name, write_post_proof(sector, shape)));
    json["sectors"].push_back({{"sector_id", sector.sector_id},
                               {"comm_r", to_hex(sector.comm_r)},
                               {"challenges", post_challenges(shape, input.proof.api, statement, i)},
                               {"vanilla", name}});
  }
  const uint32_t partitions = post_partitions(shape, input.sectors.size());
  json["partitions"] = partitions;
  for (uint32_t k = 0; k < partitions; k++) {
    CUZK_TRY_ASSIGN(const std::vector<Fr> inputs, post_public_inputs(shape, input.proof.api, statement, k));
    json["public_inputs"].push_back(short_hex(inputs));
  }
  return write_file(folder / fmt::format("{}.json", kind), as_bytes(json.dump(2) + "\n"));
}

}  // namespace cuzk::filecoin
