#include "service/wiring.h"

#include <algorithm>
#include <random>

#include "filecoin/circuits.h"
#include "groth16/files.h"
#include "hash/sha256.h"

namespace cuzk::service {
namespace {

std::string random_uuid() {
  std::random_device device;
  std::array<uint8_t, 16> bytes;
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(device());
  bytes[6] = (bytes[6] & 0x0f) | 0x40;  // version 4
  bytes[8] = (bytes[8] & 0x3f) | 0x80;  // variant of RFC 4122
  std::string hex = to_hex(bytes);
  return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4), hex.substr(16, 4),
                     hex.substr(20));
}

engine::Priority priority_of(ProofKind kind, int number) {
  switch (number) {
    case 0:
      if (kind == ProofKind::kWinningPost) return engine::Priority::kCritical;
      if (kind == ProofKind::kWindowPost) return engine::Priority::kHigh;
      return engine::Priority::kNormal;
    case 1: return engine::Priority::kLow;
    case 3: return engine::Priority::kHigh;
    case 4: return engine::Priority::kCritical;
    default: return engine::Priority::kNormal;
  }
}

template <class Visit>
void for_each_part(const Payload& payload, Visit&& visit) {
  visit(payload.vanilla_proof);
  for (ByteSpan proof : payload.vanilla_proofs) visit(proof);
  for (ByteSpan part : {payload.randomness, payload.comm_r_old, payload.comm_r_new, payload.comm_d_new}) visit(part);
}

// Of every field, with lengths.
Bytes32 digest(const Payload& payload) {
  hash::Sha256 hash;
  auto number = [&](uint64_t value) {
    std::array<uint8_t, 8> bytes;
    store_le(bytes.data(), value);
    hash.update(bytes);
  };
  for (uint64_t value : {static_cast<uint64_t>(payload.kind), payload.registered_proof, payload.sector_number,
                         payload.miner_id, uint64_t{payload.partition_index}, payload.vanilla_proofs.size()}) {
    number(value);
  }
  for_each_part(payload, [&](ByteSpan part) {
    number(part.size());
    hash.update(part);
  });
  return hash.finish();
}

uint64_t byte_count(const Payload& payload) {
  uint64_t bytes = 0;
  for_each_part(payload, [&](ByteSpan part) { bytes += part.size(); });
  return bytes;
}

}  // namespace

std::string_view kind_name(ProofKind kind) {
  switch (kind) {
    case ProofKind::kPorep: return "porep-c2";
    case ProofKind::kUpdate: return "snap-update";
    case ProofKind::kWindowPost: return "window-post";
    case ProofKind::kWinningPost: return "winning-post";
  }
  return "unknown";
}

MakeSource filecoin_sources(exec::Pool& pool) {
  return [&pool](const Payload& payload) { return filecoin::make_source(payload, pool); };
}

engine::Request engine_request(const std::string& id, int priority, const Payload& payload,
                               const MakeSource& make_source) {
  return {.id = id.empty() ? random_uuid() : id,
          .kind = std::string(kind_name(payload.kind)),
          .priority = priority_of(payload.kind, priority),
          .payload_digest = digest(payload),
          .parse = [&] { return make_source(payload); },
          .bytes = byte_count(payload)};
}

Result<NamedCircuit> find_circuit(std::string_view name) {
  CUZK_TRY_ASSIGN(const filecoin::CircuitName circuit, filecoin::parse_circuit_name(name));
  return NamedCircuit{circuit.id(),
                      [circuit] { return filecoin::compile_circuit(circuit.kind, circuit.sector_bytes); }};
}

Result<std::filesystem::path> locate_params(const Config& config, const std::string& circuit_id) {
  std::filesystem::path path;
  if (auto file = config.param_files.find(circuit_id); file != config.param_files.end()) {
    path = file->second;
  } else {
    CUZK_TRY_ASSIGN(std::string name, filecoin::parameter_name(circuit_id));
    path = config.param_cache / (name + ".params");
  }
  std::error_code error;
  if (std::filesystem::exists(path, error)) return path;
  return fail(Code::kNotFound, "the parameters of {} are not there: {}", circuit_id, path.string());
}

std::vector<std::string> faults_of_params(const Config& config) {
  std::vector<std::filesystem::path> files;
  for (const auto& [circuit, file] : config.param_files) files.push_back(file);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(config.param_cache, error)) {
    if (entry.path().extension() == ".params") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return groth16::visible_faults(files);
}

}  // namespace cuzk::service
