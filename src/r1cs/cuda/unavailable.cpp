// Linked in place of the .cu files where there is no CUDA compiler.
#include "r1cs/cuda/qap.h"
#include "r1cs/cuda/query.h"

namespace cuzk::r1cs {
namespace {

tl::unexpected<Error> absent() { return fail(Code::kUnavailable, "this build has no CUDA"); }

}  // namespace

Status evaluate(const DeviceCircuit&, const DeviceWitness&, gpu::DeviceSpan<device::Fr>, gpu::DeviceSpan<device::Fr>,
                const gpu::Stream&) {
  return absent();
}

Status list_ones(const DeviceCircuit&, Query, const DeviceWitness&, gpu::DeviceSpan<uint32_t>,
                 gpu::DeviceSpan<uint32_t>, gpu::DeviceSpan<std::byte>, const gpu::Stream&) {
  return absent();
}
Status list_scalars(const DeviceCircuit&, Query, gpu::DeviceSpan<uint32_t>, gpu::DeviceSpan<uint32_t>,
                    gpu::DeviceSpan<std::byte>, const gpu::Stream&) {
  return absent();
}
Status keep_present(const DeviceCircuit&, Query, gpu::DeviceSpan<const device::Fr>, gpu::DeviceSpan<device::Fr>,
                    const gpu::Stream&) {
  return absent();
}

Status powers(const Fr&, const Fr&, gpu::DeviceSpan<device::Fr>, const gpu::Stream&) { return absent(); }
Status lagrange_at(const Fr&, unsigned, gpu::DeviceSpan<device::Fr>, const gpu::Stream&) { return absent(); }
Status column_sums(const DeviceCircuit&, const DeviceColumns&, unsigned, gpu::DeviceSpan<const device::Fr>,
                   gpu::DeviceSpan<device::Fr>, gpu::DeviceSpan<std::byte>, const gpu::Stream&) {
  return absent();
}
Status combine(const Fr&, const Fr&, const Fr&, gpu::DeviceSpan<const device::Fr>, gpu::DeviceSpan<const device::Fr>,
               gpu::DeviceSpan<device::Fr>, const gpu::Stream&) {
  return absent();
}

}  // namespace cuzk::r1cs
