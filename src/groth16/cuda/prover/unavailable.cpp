// Linked in place of the .cu files where there is no CUDA compiler.
#include "groth16/cuda/prover/prove.h"

namespace cuzk::groth16 {
namespace {

tl::unexpected<Error> absent() { return fail(Code::kUnavailable, "this build has no CUDA"); }

}  // namespace

ProvingPoints points_of(const DeviceParameters&) { return {}; }
ProvingPoints points_of(const Parameters&) { return {}; }
uint64_t DeviceProver::resident_bytes(const r1cs::Circuit&) { return 0; }
Result<DeviceProver> DeviceProver::make(const r1cs::Circuit&, gpu::DeviceMemory, const gpu::Stream&) {
  return absent();
}
Result<uint64_t> DeviceProver::workspace_bytes(bool, uint64_t) const { return absent(); }
Result<Pending> DeviceProver::start(const ProvingPoints&, const r1cs::Witness&, gpu::DeviceSpan<std::byte>,
                                    const gpu::Stream&, ProveTimes*) const {
  return absent();
}

}  // namespace cuzk::groth16
