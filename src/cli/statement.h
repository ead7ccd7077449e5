#pragma once
// What a command is to prove or verify, read from its files.

#include <deque>

#include "cli/commands.h"
#include "filecoin/check.h"
#include "filecoin/proof_request.h"

namespace cuzk::cli {

// A request and the bytes that it views.
struct OwnedRequest {
  filecoin::ProofRequest request;
  std::deque<Bytes> storage;

  ByteSpan keep(Bytes bytes) { return storage.emplace_back(std::move(bytes)); }
};

// As a daemon is asked; kUsage where the statement is of a size that the network registers no proof for.
Result<OwnedRequest> read_request(const StatementOptions& options);

// To be proved or verified here. Raw vanilla proofs are always fully checked.
Result<std::shared_ptr<const groth16::CircuitSource>> read_source(const StatementOptions& options, Context& context,
                                                                  filecoin::VanillaCheck check);

}  // namespace cuzk::cli
