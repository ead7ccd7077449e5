#pragma once
// The circuits and parameters in memory: each is made or read once, however many jobs ask at the same time.

#include <filesystem>
#include <vector>

#include "engine/backend.h"
#include "engine/single_flight.h"
#include "exec/pool.h"
#include "groth16/circuit_source.h"

namespace cuzk::engine {

class CircuitStore {
 public:
  // Compiled circuits are kept as FOLDER/ID.circuit; an empty folder keeps none on disk. A folder that cannot be
  // written costs a warning in the log and a compilation at each start, as does a file that cannot be read.
  explicit CircuitStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  Result<std::shared_ptr<const r1cs::Circuit>> get(const groth16::CircuitSource& source);

 private:
  Result<std::shared_ptr<const r1cs::Circuit>> make(const groth16::CircuitSource& source) const;

  std::filesystem::path folder_;
  SingleFlight<r1cs::Circuit> circuits_;
};

class ParamsStore {
 public:
  // Path of the parameter file of a circuit id.
  using Locate = std::function<Result<std::filesystem::path>(const std::string& circuit_id)>;

  ParamsStore(Locate locate, exec::Pool& pool) : locate_(std::move(locate)), pool_(pool) {}

  Result<std::shared_ptr<const Params>> get(const std::string& circuit_id, const r1cs::Circuit& circuit);

  struct Loaded {
    std::string circuit_id;
    uint64_t bytes;
    uint32_t users;  // partitions under way that hold them
  };
  std::vector<Loaded> loaded() const;

 private:
  Locate locate_;
  exec::Pool& pool_;
  SingleFlight<Params> params_;
};

}  // namespace cuzk::engine
