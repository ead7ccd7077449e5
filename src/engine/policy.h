#pragma once
// What the scheduler is told about the machine, the circuits and the operator's wishes.

#include <optional>
#include <string>
#include <vector>

#include "engine/job.h"

namespace cuzk::engine {

// Bytes of host memory and of one device's.
struct Footprint {
  uint64_t host = 0, device = 0;

  bool operator==(const Footprint&) const = default;
};

// "1.5 GiB", for people.
std::string readable_size(uint64_t bytes);

// What a circuit takes on one device; pure functions of the circuit and the back end (backend.h).
struct Needs {
  Footprint params;   // its parameters, loaded
  Footprint start;    // the device stage of a partition, beside its witness
  Footprint pending;  // what a partition keeps from then until it is finished; no more than witness and start together
};

struct CircuitNeeds {
  uint64_t circuit_bytes = 0;  // host
  uint64_t witness_bytes = 0;  // host; of one partition, from synthesis to the end of the device stage
  std::vector<Needs> devices;  // one a device
};

struct DeviceSpec {
  std::string name;
  size_t workers = 1;         // device stages at a time: one copies while another computes
  uint64_t memory_bytes = 0;  // 0 for the processor, which works in host memory
};

// What only jobs of one priority class and of higher ones may use.
struct Reserve {
  size_t lanes = 0;           // further places at every stage
  size_t waiting = 0;         // further jobs that may wait
  uint64_t host_bytes = 0;    // of Policy::host_bytes
  uint64_t device_bytes = 0;  // of each device's memory
  uint64_t request_bytes = 0;
};

struct Policy {
  // Places. A partition holds its synthesis permit until a device takes it, so this bounds those that wait, too.
  size_t partition_workers = 1;
  size_t parsers = 2;
  size_t loaders = 2;
  size_t finishers = 0;      // 0: as many as device workers
  size_t max_waiting = 256;  // jobs parsing or waiting; one more is refused

  // Memory. Requests have a part of their own, so jobs that wait cannot take what partitions need to go on.
  uint64_t host_bytes = uint64_t{1} << 60;
  uint64_t request_bytes = uint64_t{1} << 60;
  uint64_t circuit_allowance = uint64_t{256} << 20;  // held while a circuit is loaded for the first time

  Reserve high, critical;

  // Failures.
  unsigned attempts = 2;                                 // of one partition before its job fails
  unsigned device_failures = 2;                          // in a row, before a device gets no work for a while
  Clock::duration quarantine = std::chrono::minutes(1);  // doubled each time, up to 64 times this
  // A stage that takes longer is given up; 0: none is.
  Clock::duration stage_limit = std::chrono::hours(1);

  // A job goes before those of the next lower class that came up to so much earlier (Scheduler).
  Clock::duration ageing = std::chrono::hours(1);
  Clock::duration grace = std::chrono::seconds(30);  // a job that nobody waits for any more is cancelled after this

  // False: the permit goes back when synthesis ends, as in the engine before this one. For the simulator.
  bool permit_through_hand_over = true;
};

}  // namespace cuzk::engine
