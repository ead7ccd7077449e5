#pragma once
// A client of the daemon, for the tools. Plain types only, so that callers need no gRPC.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace cuzk::service {

// GetStatus with the field names of the contract. `address` is unix:///path or host:port. kUnavailable where nobody
// answers; a daemon that is not up yet may take `wait_seconds`.
Result<nlohmann::json> remote_status(const std::string& address, unsigned wait_seconds = 0);

struct RemoteProve {
  std::string address;
  std::string request_id;  // empty: the daemon makes one
  uint64_t miner_id = 0;
  uint64_t sector_number = 0;
};
// Proves a C1 and returns job_id, status, proof (hex), error_message and the times in ms.
Result<nlohmann::json> remote_prove(const RemoteProve& options, ByteSpan c1);

}  // namespace cuzk::service
