#pragma once
// The reservations that cover what a stage makes, and the classes by which the ledger counts it.

#include <functional>

#include "engine/policy.h"
#include "mem/budget.h"
#include "mem/ledger.h"

namespace cuzk::engine {

// Travels with what is made under it, and ends with it.
struct Memory {
  mem::Reservation host, device;
  // Where a stage gives back a part before it ends: says how much of both it will need from then on. Empty where
  // nobody wants to know.
  std::function<void(Footprint left)> shrunk = {};
};

// Two are of devices, the others of the host. Mapped parameters are the system's to drop: no reservation covers them.
enum class Class : size_t {
  kC1,
  kCircuit,
  kParams,
  kMappedParams,
  kWitness,
  kEvaluations,
  kPending,
  kDeviceParams,
  kDeviceScratch
};

inline mem::Ledger make_ledger() {
  return mem::Ledger({{"c1"},
                      {"circuit", false},
                      {"params", false},
                      {"params_mapped", false},
                      {"witness"},
                      {"evaluations"},
                      {"pending"},
                      {"device_params", false},
                      {"device_scratch"}});
}

// Lines in the ledger for one footprint.
struct Entries {
  mem::Ledger::Entry host, device;
};
inline Entries add(mem::Ledger& ledger, Class host, Class device, Footprint bytes) {
  Entries entries{ledger.add(static_cast<size_t>(host), bytes.host), {}};
  if (bytes.device > 0) entries.device = ledger.add(static_cast<size_t>(device), bytes.device);
  return entries;
}

}  // namespace cuzk::engine
