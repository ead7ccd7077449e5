#pragma once
// A client of the daemon, for the tools. Plain types only, so that callers need no gRPC.
//
// host:port addresses are spoken to over TLS where the environment names files: CUZK_TLS_CA (whom to trust),
// CUZK_TLS_CERT and CUZK_TLS_KEY (a certificate of one's own), CUZK_TOKEN_FILE.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.h"
#include "filecoin/proof_request.h"

namespace cuzk::service {

// GetStatus with the field names of the contract. `address` is unix:///path or host:port. kUnavailable where nobody
// answers; a daemon that is not up yet may take `wait_seconds`.
Result<nlohmann::json> remote_status(const std::string& address, unsigned wait_seconds = 0);

// GetMetrics: text in the format of Prometheus.
Result<std::string> remote_metrics(const std::string& address);

// Proves and returns job_id, status, proof (hex), error_message and the times in ms. An empty request id has the daemon
// make one.
Result<nlohmann::json> remote_prove(const std::string& address, const std::string& request_id,
                                    const filecoin::ProofRequest& proof);

}  // namespace cuzk::service
