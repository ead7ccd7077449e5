#include "filecoin/vanilla.h"

namespace cuzk::filecoin {

Result<RegisteredProof> seal_proof(std::string_view name) {
  auto proof = registered_proof(name);
  if (proof) return proof;
  auto unregistered = unregistered_proof(name);
  return unregistered ? unregistered : proof;
}

}  // namespace cuzk::filecoin
