// What a file is, by what it holds; its name tells nothing.

#include <filesystem>

#include "cli/commands.h"
#include "filecoin/c1.h"
#include "filecoin/post_input.h"
#include "filecoin/update_input.h"
#include "groth16/files.h"
#include "groth16/verify.h"
#include "r1cs/file.h"

namespace cuzk::cli {
namespace {

// Nothing but a parameter file is larger than this, and of those only the section lengths are read.
constexpr uint64_t kMaxRead = filecoin::kMaxC1Bytes;

Result<Report> inspect_c1(ByteSpan bytes) {
  CUZK_TRY_ASSIGN(filecoin::SealCommit commit, filecoin::parse_c1(bytes));
  Report report = {{"type", "c1"},
                   {"registered_proof", commit.registered_proof},
                   {"partitions", commit.partitions.size()},
                   {"challenges", commit.partitions.empty() ? 0 : commit.partitions.front().size()},
                   {"comm_r", to_hex(commit.comm_r)},
                   {"comm_d", to_hex(commit.comm_d)},
                   {"replica_id", to_hex(commit.replica_id)},
                   {"seed", to_hex(commit.seed)},
                   {"ticket", to_hex(commit.ticket)},
                   {"wrapped", commit.sector_number.has_value()}};
  if (commit.sector_number) report["sector_number"] = *commit.sector_number;
  return report;
}

Result<Report> inspect_post(const std::string& path) {
  CUZK_TRY_ASSIGN(filecoin::PostInput post, filecoin::read_post(path));
  return Report{{"type", filecoin::post_kind_name(post.proof.kind)},
                {"registered_proof", post.proof.name},
                {"sectors", post.sectors.size()},
                {"randomness", to_hex(post.randomness)}};
}

Result<Report> inspect_update(const std::string& path) {
  CUZK_TRY_ASSIGN(filecoin::SectorUpdate update, filecoin::read_update(path));
  return Report{{"type", "update"},
                {"sector_size", format_size(update.shape.sector_bytes)},
                {"partitions", update.shape.partitions},
                {"comm_r_old", to_hex(update.statement.comm_r_old)},
                {"comm_r_new", to_hex(update.statement.comm_r_new)},
                {"comm_d_new", to_hex(update.statement.comm_d_new)}};
}

// PoSts and updates are small texts that name their vanilla files; anything else ought to be a C1.
Result<Report> inspect_json(const std::string& path, ByteSpan bytes) {
  constexpr size_t kMaxHead = 1 << 20;
  if (bytes.size() <= kMaxHead) {
    const auto json = nlohmann::json::parse(bytes.begin(), bytes.end(), nullptr, false);
    if (json.is_object() && json.contains("partition_proofs")) return inspect_update(path);
    if (json.is_object() && json.contains("kind")) return inspect_post(path);
  }
  return inspect_c1(bytes);
}

Result<Report> inspect_circuit(ByteSpan bytes) {
  CUZK_TRY_ASSIGN(r1cs::Circuit circuit, r1cs::deserialise(bytes));
  return Report{{"type", "circuit"},
                {"name", circuit.name},
                {"num_inputs", circuit.num_inputs},
                {"num_aux", circuit.num_aux},
                {"num_constraints", circuit.num_constraints},
                {"templates", circuit.templates.size()},
                {"instances", circuit.instances.size()},
                {"circuit_bytes", circuit.bytes()}};
}

Result<Report> inspect_params(const std::string& path) {
  CUZK_TRY_ASSIGN(groth16::Layout layout, groth16::params_layout(std::filesystem::path(path), std::nullopt));
  Report report = {{"type", "params"}};
  for (const groth16::Section& section : layout.sections) report[std::string(section.name)] = section.count;
  report["trailing_bytes"] = layout.trailing_bytes;
  return report;
}

Result<Report> inspect_bytes(const std::string& path, ByteSpan bytes) {
  std::string_view text = as_text(bytes);
  size_t start = text.find_first_not_of(" \t\r\n");
  if (start != text.npos && text[start] == '{') return inspect_json(path, bytes);
  if (text.starts_with(r1cs::kCircuitMagic)) return inspect_circuit(bytes);
  if (auto vk = groth16::decode_vk(bytes)) return Report{{"type", "vk"}, {"public_inputs", vk->ic.size() - 1}};
  if (auto proofs = groth16::decode_proofs(bytes)) return Report{{"type", "proof"}, {"partitions", proofs->size()}};
  if (auto params = inspect_params(path)) return params;
  return fail(Code::kInvalidInput,
              "'{}' is no C1, parameter file, verifying key, proof or compiled circuit that can be read", path);
}

}  // namespace

Result<int> inspect(const InspectOptions& options, Context& context) {
  std::error_code error;
  uint64_t size = std::filesystem::file_size(options.file, error);
  if (!error && size > kMaxRead) {
    CUZK_TRY_ASSIGN(Report report, inspect_params(options.file));
    report["bytes"] = size;
    context.print(report);
    return 0;
  }
  CUZK_TRY_ASSIGN(Bytes bytes, read_file(options.file));
  CUZK_TRY_ASSIGN(Report report, inspect_bytes(options.file, bytes));
  report["bytes"] = size;
  context.print(report);
  return 0;
}

}  // namespace cuzk::cli
