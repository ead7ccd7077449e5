#include "filecoin/post_input.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace cuzk::filecoin {
namespace {

using Json = nlohmann::ordered_json;

constexpr uintmax_t kMaxFileBytes = uintmax_t{64} << 20;

Result<Bytes32> element(std::string_view name, ByteSpan bytes) {
  Bytes32 out;
  if (bytes.size() != out.size()) {
    return fail(Code::kInvalidInput, "{} must be exactly 32 bytes, got {}", name, bytes.size());
  }
  std::ranges::copy(bytes, out.begin());
  if (!Fr::from_bytes_le(out)) {
    return fail(Code::kInvalidInput, "{} is not below the field order; clear the top two bits of its last byte", name);
  }
  return out;
}

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

Result<Bytes> read_file(const std::filesystem::path& path) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return fail(Code::kNotFound, "'{}' cannot be read: {}", path.string(), error.message());
  if (size > kMaxFileBytes) {
    return fail(Code::kTooLarge, "'{}' has {} bytes, more than the limit of {}", path.string(), size, kMaxFileBytes);
  }
  Bytes bytes(size);
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size))) {
    return fail(Code::kIo, "'{}' cannot be read", path.string());
  }
  return bytes;
}

Status write_file(const std::filesystem::path& path, ByteSpan bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  return file ? Status() : fail(Code::kIo, "'{}' cannot be written", path.string());
}

Result<std::string> text(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return fail(Code::kInvalidInput, "'{}' is no text", name);
  return found->get<std::string>();
}

Result<Bytes32> hex_element(const Json& object, const char* name) {
  CUZK_TRY_ASSIGN(const std::string hex, text(object, name));
  auto bytes = from_hex(hex);
  if (!bytes) return tl::unexpected<Error>(std::move(bytes).error().within(name));
  return element(name, *bytes);
}

// Big-endian without leading zeros.
std::string short_hex(const Fr& value) {
  Bytes32 bytes;
  value.to_bytes_be(bytes);
  const std::string digits = to_hex(bytes);
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size() - 1));
}

Result<PostInput> read_fields(const Json& json, const std::filesystem::path& folder) {
  if (!json.is_object()) return fail(Code::kInvalidInput, "the file holds no json object");
  CUZK_TRY_ASSIGN(const std::string kind_name, text(json, "kind"));
  PostKind kind = PostKind::kWinning;
  if (kind_name != post_kind_name(kind)) kind = PostKind::kWindow;
  if (kind_name != post_kind_name(kind)) return fail(Code::kInvalidInput, "'kind' is neither winning nor window");
  CUZK_TRY_ASSIGN(const std::string size_name, text(json, "size"));
  CUZK_TRY_ASSIGN(const uint64_t size, parse_size(size_name));
  CUZK_TRY_ASSIGN(const std::string api_name, text(json, "api"));
  CUZK_TRY_ASSIGN(const ApiVersion api, parse_api_version(api_name));

  PostRequest request;
  CUZK_TRY_ASSIGN(request.proof, post_proof(kind, size, api));
  CUZK_TRY_ASSIGN(const Bytes32 randomness, hex_element(json, "randomness"));
  request.randomness = randomness;
  CUZK_TRY_ASSIGN(request.prover_id, hex_element(json, "prover_id"));
  const auto sectors = json.find("sectors");
  if (sectors == json.end() || !sectors->is_array()) return fail(Code::kInvalidInput, "'sectors' is no list");
  std::vector<Bytes> files;
  for (const Json& sector : *sectors) {
    if (!sector.is_object()) return fail(Code::kInvalidInput, "'sectors' holds something else than objects");
    CUZK_TRY_ASSIGN(const std::string name, text(sector, "vanilla"));
    if (std::filesystem::path(name).filename() != name) {
      return fail(Code::kInvalidInput, "'{}' is no file beside the json file", name);
    }
    CUZK_TRY_ASSIGN(files.emplace_back(), read_file(folder / name));
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
  CUZK_TRY_ASSIGN(input.randomness, element("randomness", request.randomness));
  CUZK_TRY_ASSIGN(input.prover_id, element("prover_id", request.prover_id));
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
  CUZK_TRY_ASSIGN(const Bytes bytes, read_file(path));
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
    Json& list = json["public_inputs"].emplace_back();
    for (const Fr& value : inputs) list.push_back(short_hex(value));
  }
  return write_file(folder / fmt::format("{}.json", kind), as_bytes(json.dump(2)));
}

}  // namespace cuzk::filecoin
