#pragma once
// Everything between the configuration and whoever asks: what the daemon serves and what a program embeds.

#include <functional>
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "engine/plan.h"
#include "gpu/device.h"
#include "service/config.h"

namespace cuzk::service {

// What there is to work with.
struct Machine {
  engine::HostPlan host;
  struct Gpu {
    gpu::DeviceInfo device;
    uint64_t memory_bytes;
  };
  std::vector<Gpu> gpus;
};
Result<Machine> check_machine(const Config& config);

// What stands before a back end.
using WrapBackend = std::function<std::unique_ptr<engine::Backend>(std::unique_ptr<engine::Backend>)>;

// The order of the members is the order of dependence. Configuration and recorder, which may be none, outlive them.
struct Parts {
  exec::Pool pool;
  engine::CircuitStore circuits;
  engine::ParamsStore params;
  std::vector<std::unique_ptr<engine::Backend>> backends;
  engine::Engine engine;

  Parts(const Config& config, const Machine& machine, engine::Recorder* recorder, const WrapBackend& wrap = {});

 private:
  std::vector<engine::Device> make_devices(const Config& config, const Machine& machine, const WrapBackend& wrap);
};

}  // namespace cuzk::service
