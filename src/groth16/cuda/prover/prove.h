#pragma once
// The prover on a device: groth16::start() for circuits, witnesses and parameters in device memory. finish() is the
// same as on the processor (groth16/prove.h), and so are the bytes of the proof for equal r and s.
//
// a and b never exist on the host (decision D3): the packed witness is uploaded, rows are evaluated, the quotient is
// made in place, and its coefficients are the scalars of the h query, where they lie.

#include "groth16/cuda/params/params.h"
#include "groth16/prove.h"
#include "ntt/cuda/ntt.h"
#include "r1cs/cuda/query.h"

namespace cuzk::groth16 {

// The points of a query: in device memory, or in host memory, best pinned, from where they pass through the device in
// windows.
template <class Point>
struct QueryPoints {
  gpu::DeviceSpan<const device::TwinOf<Point>> resident;
  std::span<const Point> host;

  size_t size() const { return resident.size + host.size(); }
};
struct ProvingPoints {
  QueryPoints<G1Affine> h, l, a, b_g1;
  QueryPoints<G2Affine> b_g2;
};
ProvingPoints points_of(const DeviceParameters& parameters);
ProvingPoints points_of(const Parameters& parameters);

// A circuit ready to be proved on a device, shared by any number of streams.
class DeviceProver {
 public:
  // Device memory that a circuit occupies as long as it is ready.
  static uint64_t resident_bytes(const r1cs::Circuit& circuit);
  // `memory` is of that size. Waits.
  static Result<DeviceProver> make(const r1cs::Circuit& circuit, gpu::DeviceMemory memory, const gpu::Stream& stream);

  // Device memory in which a proof is made, as much as is of use within `limit_bytes`; kTooLarge where the least is
  // more than that. For 32 GiB PoRep about 30 GiB, at least 14: three vectors over the domain, then one and the largest
  // sum; with `windows` also two windows of kWindowPoints.
  Result<uint64_t> workspace_bytes(bool windows, uint64_t limit_bytes = UINT64_MAX) const;
  static constexpr uint64_t kWindowPoints = uint64_t{1} << 22;  // in G1; half as many in G2

  // The sums of a proof. `workspace` is of a size that workspace_bytes() returned, with windows where a query is in
  // host memory. Points and witness live until this returns. Errors as for groth16::start(), and those of gpu/stream.h.
  Result<Pending> start(const ProvingPoints& points, const r1cs::Witness& witness, gpu::DeviceSpan<std::byte> workspace,
                        const gpu::Stream& stream, ProveTimes* times = nullptr) const;

 private:
  struct Workspace;

  Result<G1> sum_h(const QueryPoints<G1Affine>& points, const Workspace& at, const gpu::Stream& stream) const;
  template <class F>
  Result<Xyzz<F>> sum_query(r1cs::Query query, const QueryPoints<Affine<F>>& points, const r1cs::DeviceWitness& witness,
                            const Workspace& at, const gpu::Stream& stream) const;

  gpu::DeviceMemory memory_;
  std::string name_;
  Lengths lengths_;
  uint64_t witness_bytes_ = 0, list_bytes_ = 0;
  r1cs::DeviceCircuit circuit_;
  std::optional<ntt::DeviceDomain> domain_;
};

}  // namespace cuzk::groth16
