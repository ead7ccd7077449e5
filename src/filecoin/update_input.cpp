#include "filecoin/update_input.h"

#include "filecoin/input_files.h"

namespace cuzk::filecoin {
namespace {

std::string proof_name(size_t partition) { return fmt::format("update-{}.vanilla", partition); }

Result<SectorUpdate> read_fields(const Json& json, const std::filesystem::path& folder) {
  CUZK_TRY_ASSIGN(const uint64_t size, size_member(json, "size"));
  SectorUpdate out;
  CUZK_TRY_ASSIGN(out.shape, update_shape(size));
  const auto h = json.find("h");
  if (h == json.end() || *h != out.shape.h()) {
    return fail(Code::kInvalidInput, "'h' is not {}, as it is for {}", out.shape.h(), format_size(size));
  }
  CUZK_TRY_ASSIGN(out.statement.comm_r_old, hex_member(json, "comm_r_old"));
  CUZK_TRY_ASSIGN(out.statement.comm_d_new, hex_member(json, "comm_d_new"));
  CUZK_TRY_ASSIGN(out.statement.comm_r_new, hex_member(json, "comm_r_new"));
  CUZK_TRY_ASSIGN(const Json names, list_member(json, "partition_proofs"));
  if (names.size() != out.shape.partitions) {
    return fail(Code::kInvalidInput, "'partition_proofs' names {} files, not {}", names.size(), out.shape.partitions);
  }
  for (const Json& name : names) {
    if (!name.is_string()) return fail(Code::kInvalidInput, "'partition_proofs' holds something else than names");
    const std::string file = name;
    std::optional<UpdateProof>& proof = out.partitions.emplace_back();
    auto bytes = read_beside(folder, file);
    if (!bytes && bytes.error().code == Code::kNotFound) continue;
    if (!bytes) return tl::unexpected<Error>(std::move(bytes).error());
    auto read = read_update_proof(out.shape, *bytes);
    if (!read) return tl::unexpected<Error>(std::move(read).error().within(file));
    proof = std::move(*read);
  }
  return out;
}

}  // namespace

Result<SectorUpdate> parse_update(const UpdateRequest& request) {
  const UpdateShape& shape = request.shape;
  const size_t count = request.vanilla_proofs.size(), least = update_proof_bytes(shape);
  if (count != shape.partitions) {
    return fail(Code::kInvalidInput, "an update of a {} sector has {} vanilla proofs, one a partition, not {}",
                format_size(shape.sector_bytes), shape.partitions, count);
  }
  for (size_t k = 0; k < count; k++) {
    if (request.vanilla_proofs[k].size() >= least) continue;
    return fail(Code::kInvalidInput, "partition {}: its vanilla proof is cut short: {} bytes of {}", k,
                request.vanilla_proofs[k].size(), least);
  }
  SectorUpdate out{shape, {}, {}};
  CUZK_TRY_ASSIGN(out.statement.comm_r_old, element_from("comm_r_old", request.comm_r_old));
  CUZK_TRY_ASSIGN(out.statement.comm_d_new, element_from("comm_d_new", request.comm_d_new));
  CUZK_TRY_ASSIGN(out.statement.comm_r_new, element_from("comm_r_new", request.comm_r_new));
  for (size_t k = 0; k < count; k++) {
    auto proof = read_update_proof(shape, request.vanilla_proofs[k]);
    if (!proof) return tl::unexpected<Error>(std::move(proof).error().within(fmt::format("partition {}", k)));
    out.partitions.push_back(std::move(*proof));
  }
  return out;
}

Result<SectorUpdate> read_update(const std::filesystem::path& path) {
  CUZK_TRY_ASSIGN(const Bytes bytes, read_input(path));
  auto update = read_fields(Json::parse(bytes, nullptr, /*allow_exceptions=*/false), path.parent_path());
  if (!update) return tl::unexpected<Error>(std::move(update).error().within(path.string()));
  return update;
}

Status write_update(const SectorUpdate& update, const std::filesystem::path& folder) {
  Json json = {{"size", format_size(update.shape.sector_bytes)},
               {"h", update.shape.h()},
               {"comm_r_old", to_hex(update.statement.comm_r_old)},
               {"comm_r_new", to_hex(update.statement.comm_r_new)},
               {"comm_d_new", to_hex(update.statement.comm_d_new)}};
  for (uint32_t k = 0; k < update.partitions.size(); k++) {
    CUZK_TRY_ASSIGN(const std::vector<Fr> inputs, update_public_inputs(update.shape, update.statement, k));
    json["partition_proofs"].push_back(proof_name(k));
    json["public_inputs"].push_back(short_hex(inputs));
    if (!update.partitions[k]) continue;
    const UpdateProof& proof = *update.partitions[k];
    json["comm_c"] = to_hex(proof.comm_c);
    json["comm_r_last_old"] = to_hex(proof.challenges[0].r_old.root);
    json["comm_r_last_new"] = to_hex(proof.challenges[0].r_new.root);
    CUZK_TRY(write_file(folder / proof_name(k), write_update_proof(update.shape, proof)));
  }
  return write_file(folder / "update.json", as_bytes(json.dump(2)));
}

}  // namespace cuzk::filecoin
