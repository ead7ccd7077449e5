#pragma once
// Where sectors meet jobs: payloads become statements, circuit ids parameter files.

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/job.h"
#include "filecoin/proof_request.h"
#include "groth16/circuit_source.h"
#include "service/config.h"

namespace cuzk::service {

using filecoin::ProofKind;
// As status fields and metrics name it: "porep-c2", "snap-update", "window-post", "winning-post".
std::string_view kind_name(ProofKind kind);
inline constexpr std::array kKinds = {ProofKind::kPorep, ProofKind::kUpdate, ProofKind::kWindowPost,
                                      ProofKind::kWinningPost};

// What a request carries beside its id and priority; views into the message.
using Payload = filecoin::ProofRequest;

using MakeSource = std::function<Result<std::shared_ptr<const groth16::CircuitSource>>(const Payload&)>;

// filecoin::make_source on a pool, which outlives it.
MakeSource filecoin_sources(exec::Pool& pool);

// A job for the engine; `payload` and `make_source` are used within submit() alone. An empty id is replaced by a random
// one, `priority` is a number of cuzk.v1.Priority, and what is none stands for the usual one of the kind or for normal.
engine::Request engine_request(const std::string& id, int priority, const Payload& payload,
                               const MakeSource& make_source);

struct NamedCircuit {
  std::string id;  // as the engine knows it, such as "porep-32GiB"
  std::function<Result<r1cs::Circuit>()> compile;
};
using FindCircuit = std::function<Result<NamedCircuit>(std::string_view name)>;

// By any name that filecoin::parse_circuit_name knows; errors are its.
Result<NamedCircuit> find_circuit(std::string_view name);

// Path of the parameter file of a circuit id such as "porep-2KiB"; kNotFound where there is no such file.
Result<std::filesystem::path> locate_params(const Config& config, const std::string& circuit_id);
// groth16::visible_faults of the parameter files that the configuration names or that lie in its folder.
std::vector<std::string> faults_of_params(const Config& config);

}  // namespace cuzk::service
