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
  std::optional<QueryPoints<G2Affine>> b_g2;  // none: the processor sums them (sum_b_g2), not the device
};
ProvingPoints points_of(const DeviceParameters& parameters);
ProvingPoints points_of(const Parameters& parameters);

// What a circuit takes of device memory; a pure function of it.
struct DeviceProofPlan {
  std::string name;
  Lengths lengths;
  size_t domain;            // points
  uint64_t resident_bytes;  // as long as the circuit is ready: tables and twiddles
  uint64_t witness_bytes, list_bytes;
  struct Kinds {
    uint32_t bits, scalars;  // variables by kind
  };
  std::array<Kinds, r1cs::kQueries> queries;

  // In which a proof is made, as much as is of use within `limit_bytes`; kTooLarge where the least is more than that.
  // For 32 GiB PoRep about 30 GiB, at least 14: three vectors over the domain, then one and the largest sum; with
  // `windows` also two windows of kWindowPoints.
  Result<uint64_t> workspace_bytes(bool windows, uint64_t limit_bytes = UINT64_MAX) const;
  static constexpr uint64_t kWindowPoints = uint64_t{1} << 22;  // in G1; half as many in G2
};
DeviceProofPlan plan_device_proof(const r1cs::Circuit& circuit);

struct DeviceProofSpace;  // the arrays of a proof

// A circuit ready to be proved on a device, shared by any number of streams.
class DeviceProver {
 public:
  // `memory` is of plan.resident_bytes. Waits.
  static Result<DeviceProver> make(const r1cs::Circuit& circuit, gpu::DeviceMemory memory, const gpu::Stream& stream);

  const DeviceProofPlan& plan() const { return plan_; }

  // The sums of a proof; without points of b_g2 the identity stands for theirs. `workspace` is of a size that
  // plan().workspace_bytes() gave, with windows where a query is in host memory. Points and witness live until this
  // returns. Errors as for groth16::start(), and those of gpu/stream.h.
  Result<Pending> start(const ProvingPoints& points, const r1cs::Witness& witness, gpu::DeviceSpan<std::byte> workspace,
                        const gpu::Stream& stream, ProveTimes* times = nullptr) const;

 private:
  Result<G1> sum_h(const QueryPoints<G1Affine>& points, const DeviceProofSpace& at, const gpu::Stream& stream) const;
  template <class F>
  Result<Xyzz<F>> sum_query(r1cs::Query query, const QueryPoints<Affine<F>>& points, const r1cs::DeviceWitness& witness,
                            const DeviceProofSpace& at, const gpu::Stream& stream) const;

  gpu::DeviceMemory memory_;
  DeviceProofPlan plan_;
  r1cs::DeviceCircuit circuit_;
  std::optional<ntt::DeviceDomain> domain_;
};

}  // namespace cuzk::groth16
