#pragma once
// Where proofs are made. A back end stands for one device. It starts a partition, which takes the device, and finishes
// it, which does not (D8); what both take is known before (plan, size, run).

#include <filesystem>
#include <memory>

#include "base/result.h"
#include "engine/memory.h"
#include "exec/pool.h"
#include "groth16/cuda/params/params.h"
#include "groth16/keys.h"
#include "groth16/prove.h"
#include "r1cs/witness.h"

namespace cuzk::engine {

// Where parameters are (wire.md, SRSStatus).
enum class Tier : uint8_t {
  kHot,   // where the device computes with them
  kWarm,  // in host memory, from where they are streamed to it
  kCold,  // on disk
};

// Parameters as a back end keeps them, ready to prove and to verify with. They own the memory that they were loaded
// into.
class Params {
 public:
  virtual ~Params() = default;
  virtual Tier tier() const { return Tier::kHot; }
  // Points in a mapped file, which the system may drop and read again: they count as no one's memory.
  virtual uint64_t mapped_bytes() const { return 0; }
  // What they keep of the memory that load() was given, of the host.
  virtual uint64_t host_bytes() const = 0;

  groth16::PreparedVerifyingKey verifying;
};

// A circuit and its parameters, kept in memory while anyone holds this.
struct Setting {
  std::shared_ptr<const r1cs::Circuit> circuit;
  std::shared_ptr<const Params> params;
};

// A proof under way. It owns all it needs.
class Pending {
 public:
  virtual ~Pending() = default;
  // Called once, on a thread that no device worker waits for.
  virtual Result<groth16::Proof> finish() = 0;
};

// All but the constructor may be called from several threads. Codes of failures: kUnavailable for a device that failed,
// kResourceExhausted for one without room, so that the partition is tried elsewhere; anything else ends the job.
class Backend {
 public:
  virtual ~Backend() = default;

  // Pure: what a circuit takes on this device.
  virtual Needs needs(const r1cs::Circuit& circuit) const = 0;
  // What the parameters of this file take, where that is told by looking at the file; it may be absent.
  virtual Footprint params_needs(const r1cs::Circuit& circuit, const std::filesystem::path&) const {
    return needs(circuit).params;
  }
  // Reads and checks a parameter file. `memory` is params_needs(); the result keeps it.
  virtual Result<std::shared_ptr<const Params>> load(const std::filesystem::path& path, const r1cs::Circuit& circuit,
                                                     Memory memory) = 0;
  // The device stage. `setting.params` came from this back end's load(). `memory` is needs().start; at its end all of
  // it and of the witness is given back but needs().pending, which the result keeps.
  virtual Result<std::unique_ptr<Pending>> start(const Setting& setting, r1cs::Witness witness, Memory memory) = 0;
};

// Proves on the processor. `pool` outlives the back end.
std::unique_ptr<Backend> make_cpu_backend(exec::Pool& pool);

struct GpuOptions {
  gpu::DeviceInfo device;
  size_t workers = 2;         // proofs at a time: one uses the device while another waits for the host
  uint64_t memory_bytes = 0;  // of the device that this process may use
  // Whether the processor sums the b_g2 query, while it finishes a proof: shortens the device stage by some 8 % and
  // takes host memory for the points.
  bool b_g2_on_host = false;
  // Makes parameters instead of reading them, where that is wanted (groth16/cuda/prover/setup.h). The memory is of
  // groth16::device_bytes.
  std::function<Result<groth16::DeviceParameters>(const r1cs::Circuit&, gpu::DeviceMemory)> make_params = {};
  std::function<void(const groth16::ProveTimes&)> timed = {};  // told of each device stage; costs some overlap
};
// Proves on a CUDA device. Parameters lie in its memory where they fit beside the workers' needs, else in pinned host
// memory. `pool` outlives the back end.
std::unique_ptr<Backend> make_gpu_backend(GpuOptions options, exec::Pool& pool);

}  // namespace cuzk::engine
