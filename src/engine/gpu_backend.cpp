#include <map>
#include <mutex>

#include "base/log.h"
#include "engine/sums.h"
#include "groth16/cuda/prover/prove.h"
#include "groth16/query.h"

namespace cuzk::engine {
namespace {

struct GpuParams final : Params {
  Tier tier() const override { return resident ? Tier::kHot : Tier::kWarm; }
  uint64_t host_bytes() const override { return groth16::lengths_of(on_host).native_bytes(); }

  bool resident = true;
  std::optional<groth16::DeviceProver> prover;
  groth16::DeviceParameters on_device;  // where resident
  groth16::Parameters on_host;          // where not, with the pins that make uploads fast; b_g2 also where it is summed
  std::vector<gpu::Pin> pins;
  Memory memory;
};

// A proof whose sum over b_g2 is the processor's.
class PendingWithoutB final : public Pending {
 public:
  PendingWithoutB(const groth16::Pending& sums, Setting setting, r1cs::Witness witness, mem::Reservation memory,
                  exec::Pool& pool)
      : sums_(sums),
        setting_(std::move(setting)),
        witness_(std::move(witness)),
        memory_(std::move(memory)),
        pool_(pool) {}

  Result<groth16::Proof> finish() override {
    const auto& params = static_cast<const GpuParams&>(*setting_.params);
    const r1cs::WitnessView view(*setting_.circuit, witness_);
    CUZK_TRY_ASSIGN(const mem::Buffer workspace, mem::Buffer::make(std::move(memory_)));
    CUZK_TRY_ASSIGN(sums_.b_g2, groth16::sum_b_g2(view, params.on_host.b_g2, workspace.bytes(), pool_));
    return SumsPending(sums_, setting_.params).finish();
  }

 private:
  groth16::Pending sums_;
  Setting setting_;
  r1cs::Witness witness_;
  mem::Reservation memory_;
  exec::Pool& pool_;
};

// Where a proof is made. Between proofs it waits for the next, as making it anew would stop the device.
struct Slot {
  gpu::Stream stream;
  gpu::DeviceMemory memory;
};

class GpuBackend final : public Backend {
 public:
  GpuBackend(GpuOptions options, exec::Pool& pool) : options_(std::move(options)), pool_(pool) {}

  Needs needs(const r1cs::Circuit& circuit) const override {
    const groth16::DeviceProofPlan plan = plan_of(circuit);
    const Placement placement = place(plan);
    Needs needs{.params = {groth16::load_bytes(plan.lengths, pool_.threads()) + plan.lengths.native_bytes(),
                           plan.resident_bytes},
                .start = {0, placement.workspace_bytes},
                .pending = {sizeof(SumsPending), 0}};
    if (placement.resident) {
      needs.params.host = groth16::kParamsStagingBytes + b_g2_bytes(plan);
      needs.params.device += groth16::device_bytes(plan.lengths);
    }
    if (options_.b_g2_on_host) {
      needs.start.host = groth16::sum_b_g2_bytes(circuit, pool_.threads());
      needs.pending.host = r1cs::witness_bytes(circuit) + needs.start.host;
    }
    return needs;
  }

  Result<std::shared_ptr<const Params>> load(const std::filesystem::path& path, const r1cs::Circuit& circuit,
                                             Memory memory) override {
    drop_idle_slots();
    const groth16::DeviceProofPlan plan = plan_of(circuit);
    auto params = std::make_shared<GpuParams>();
    params->resident = place(plan).resident;
    CUZK_TRY_ASSIGN(const gpu::Stream stream, gpu::Stream::make(ordinal()));
    CUZK_TRY_ASSIGN(auto tables, memory.device.split(plan.resident_bytes));
    CUZK_TRY_ASSIGN(auto table_memory, gpu::DeviceMemory::make(ordinal(), std::move(tables)));
    CUZK_TRY_ASSIGN(params->prover, groth16::DeviceProver::make(circuit, std::move(table_memory), stream));
    CUZK_TRY(params->resident ? load_to_device(path, circuit, memory, *params)
                              : load_to_host(path, circuit, memory.host, *params));
    params->memory = std::move(memory);
    return params;
  }

  Result<std::unique_ptr<Pending>> start(const Setting& setting, r1cs::Witness witness, Memory memory) override {
    const auto& params = static_cast<const GpuParams&>(*setting.params);
    CUZK_TRY_ASSIGN(Slot slot, take_slot(memory.device));
    auto points = params.resident ? groth16::points_of(params.on_device) : groth16::points_of(params.on_host);
    if (options_.b_g2_on_host) points.b_g2.reset();
    groth16::ProveTimes times;
    auto sums =
        params.prover->start(points, witness, slot.memory.bytes(), slot.stream, options_.timed ? &times : nullptr);
    if (!sums) return tl::unexpected(std::move(sums).error());  // the slot may be of no use any more
    if (options_.timed) options_.timed(times);
    {
      std::lock_guard lock(mutex_);
      idle_.push_back(std::move(slot));
    }
    if (options_.b_g2_on_host)
      return std::make_unique<PendingWithoutB>(*sums, setting, std::move(witness), std::move(memory.host), pool_);
    return std::make_unique<SumsPending>(*sums, setting.params);
  }

 private:
  struct Placement {
    bool resident;
    uint64_t workspace_bytes;  // of one worker
  };

  int ordinal() const { return options_.device.ordinal; }

  // Made once a circuit, as it takes a walk over all its rows.
  groth16::DeviceProofPlan plan_of(const r1cs::Circuit& circuit) const {
    std::lock_guard lock(plans_mutex_);
    auto [plan, is_new] = plans_.try_emplace(circuit.name);
    if (is_new) plan->second = groth16::plan_device_proof(circuit);
    return plan->second;
  }
  // Of the host, beside resident parameters.
  uint64_t b_g2_bytes(const groth16::DeviceProofPlan& plan) const {
    return options_.b_g2_on_host ? plan.lengths.b_g2 * sizeof(G2Affine) : 0;
  }

  // Parameters go to the device where the least workspace of each worker still fits beside them. What can be had then
  // is shared by the workers; where even one does not fit, the scheduler refuses what is asked for.
  Placement place(const groth16::DeviceProofPlan& plan) const {
    const uint64_t sections = groth16::device_bytes(plan.lengths), workers = std::max<size_t>(options_.workers, 1);
    for (bool resident : {true, false}) {
      const uint64_t taken = plan.resident_bytes + (resident ? sections : 0);
      if (taken > options_.memory_bytes) continue;
      for (uint64_t share = workers; share >= 1; share = resident ? 0 : share - 1) {
        if (auto bytes = plan.workspace_bytes(!resident, (options_.memory_bytes - taken) / share)) {
          return {resident, *bytes};
        }
      }
    }
    // What would do, for the refusal to tell.
    for (uint64_t limit = std::max<uint64_t>(options_.memory_bytes, 1);; limit *= 2) {
      if (auto bytes = plan.workspace_bytes(true, limit)) return {false, *bytes};
    }
  }

  Status load_to_device(const std::filesystem::path& path, const r1cs::Circuit& circuit, Memory& memory,
                        GpuParams& params) {
    CUZK_TRY_ASSIGN(auto sections, gpu::DeviceMemory::make(ordinal(), std::move(memory.device)));
    if (options_.make_params) {
      CUZK_TRY_ASSIGN(params.on_device, options_.make_params(circuit, std::move(sections)));
    } else {
      CUZK_TRY_ASSIGN(auto room, memory.host.split(groth16::kParamsStagingBytes));
      CUZK_TRY_ASSIGN(const auto staging, gpu::PinnedMemory::make(std::move(room)));
      CUZK_TRY_ASSIGN(auto loaded, groth16::load_device_params(path, groth16::lengths_of(circuit), {.digest = false},
                                                               std::move(sections), staging.bytes(), pool_));
      for (const std::string& warning : loaded.warnings) log::warn("{}: {}", path.string(), warning);
      params.on_device = std::move(loaded.parameters);
    }
    if (options_.b_g2_on_host) {
      CUZK_TRY_ASSIGN(const gpu::Stream stream, gpu::Stream::make(ordinal()));
      CUZK_TRY_ASSIGN(auto room, memory.host.split(params.on_device.b_g2.size * sizeof(G2Affine)));
      CUZK_TRY_ASSIGN(mem::Buffer b_g2, mem::Buffer::make(std::move(room)));
      CUZK_TRY(stream.download(b_g2.as<G2Affine>(), params.on_device.b_g2.as_const().as<const G2Affine>()));
      CUZK_TRY(stream.synchronize());
      params.on_host.b_g2 = std::move(b_g2);
    }
    params.verifying = groth16::prepare(params.on_device.vk);
    return {};
  }

  Status load_to_host(const std::filesystem::path& path, const r1cs::Circuit& circuit, mem::Reservation& memory,
                      GpuParams& params) {
    if (options_.make_params) {
      const uint64_t bytes = groth16::device_bytes(groth16::lengths_of(circuit));
      CUZK_TRY_ASSIGN(auto sections, gpu::DeviceMemory::make_uncovered(ordinal(), bytes));
      CUZK_TRY_ASSIGN(const auto made, options_.make_params(circuit, std::move(sections)));
      CUZK_TRY_ASSIGN(params.on_host, groth16::download_params(made));
    } else {
      CUZK_TRY_ASSIGN(auto loaded,
                      groth16::load_params(path, groth16::lengths_of(circuit), {}, std::move(memory), pool_));
      for (const std::string& warning : loaded.warnings) log::warn("{}: {}", path.string(), warning);
      params.on_host = std::move(loaded.parameters);
    }
    const auto pin = [&](const auto& points) -> Status {
      CUZK_TRY_ASSIGN(gpu::Pin pinned, gpu::Pin::make(std::as_bytes(std::span(points))));
      params.pins.push_back(std::move(pinned));
      return {};
    };
    auto& [vk, h, l, a, b_g1, b_g2] = params.on_host;
    for (auto* points : {&h, &l, &a, &b_g1}) CUZK_TRY(pin(*points));
    if (!options_.b_g2_on_host) CUZK_TRY(pin(b_g2));
    params.verifying = groth16::prepare(vk);
    return {};
  }

  // An idle slot, else a new one. The reservation covers it while it is used; `memory` keeps that.
  Result<Slot> take_slot(mem::Reservation& memory) {
    const uint64_t bytes = memory.bytes();
    {
      std::lock_guard lock(mutex_);
      for (Slot& slot : idle_) {
        if (slot.memory.bytes().size != bytes) continue;
        std::swap(slot, idle_.back());
        Slot taken = std::move(idle_.back());
        idle_.pop_back();
        return taken;
      }
    }
    drop_idle_slots();  // of another size
    CUZK_TRY_ASSIGN(auto stream, gpu::Stream::make(ordinal()));
    CUZK_TRY_ASSIGN(auto room, gpu::DeviceMemory::make_uncovered(ordinal(), bytes));
    return Slot{std::move(stream), std::move(room)};
  }
  void drop_idle_slots() {
    std::lock_guard lock(mutex_);
    idle_.clear();
  }

  const GpuOptions options_;
  exec::Pool& pool_;
  std::mutex mutex_;
  std::vector<Slot> idle_;
  mutable std::mutex plans_mutex_;
  mutable std::map<std::string, groth16::DeviceProofPlan> plans_;
};

}  // namespace

std::unique_ptr<Backend> make_gpu_backend(GpuOptions options, exec::Pool& pool) {
  return std::make_unique<GpuBackend>(std::move(options), pool);
}

}  // namespace cuzk::engine
