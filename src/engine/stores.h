#pragma once
// The circuits and parameters in memory. What is loaded and evicted, and when, is the scheduler's business; it also
// sees to it that each is loaded once however many jobs ask, and that nothing is evicted that a partition holds.

#include <filesystem>
#include <map>
#include <mutex>
#include <vector>

#include "engine/backend.h"
#include "groth16/circuit_source.h"

namespace cuzk::engine {

// A value in a store, or what is known of one that was evicted.
template <class T>
struct Stored {
  std::shared_ptr<const T> value;  // null: evicted
  uint64_t bytes = 0;              // while it is in memory
  Clock::duration load_time{};     // of the last load
  Memory memory = {};
  Entries entries = {};
};

class CircuitStore {
 public:
  using Compile = std::function<Result<r1cs::Circuit>()>;
  using Circuit = std::shared_ptr<const r1cs::Circuit>;

  // Compiled circuits are kept as FOLDER/ID.circuit; an empty folder keeps none on disk. A folder that cannot be
  // written costs a warning in the log and a compilation at each start, as does a file that cannot be read.
  explicit CircuitStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // From the disk, or compiled; not kept in memory until put().
  Result<Circuit> load(const std::string& circuit_id, const Compile& compile) const;

  void put(const std::string& circuit_id, Stored<r1cs::Circuit> stored);
  Circuit find(const std::string& circuit_id) const;  // null where it is not in memory
  void evict(const std::string& circuit_id);

  struct Loaded {
    std::string circuit_id;
    uint64_t bytes;
    Clock::duration load_time;
    uint32_t users = 0;      // partitions under way that hold it; the engine knows
    Clock::duration idle{};  // since its last use; the engine knows
  };
  std::vector<Loaded> loaded() const;

 private:
  const std::filesystem::path folder_;
  mutable std::mutex mutex_;
  std::map<std::string, Stored<r1cs::Circuit>> circuits_;
};

class ParamsStore {
 public:
  // Path of the parameter file of a circuit id.
  using Locate = std::function<Result<std::filesystem::path>(const std::string& circuit_id)>;

  explicit ParamsStore(Locate locate) : locate_(std::move(locate)) {}

  Result<std::filesystem::path> locate(const std::string& circuit_id) const { return locate_(circuit_id); }
  // Reads the file and checks it, which is remembered beside it; not kept until put().
  Result<std::shared_ptr<const Params>> load(const std::string& circuit_id, const r1cs::Circuit& circuit,
                                             Backend& backend, Memory memory) const;

  // By circuit and number of the device.
  void put(const std::string& circuit_id, size_t device, Stored<Params> stored);
  std::shared_ptr<const Params> find(const std::string& circuit_id, size_t device) const;
  void evict(const std::string& circuit_id, size_t device);
  // The next load makes the full check, whatever is remembered.
  void forget_check(const std::string& circuit_id) const;

  struct Loaded {
    std::string circuit_id;
    size_t device;
    Tier tier;       // kCold: evicted since
    uint64_t bytes;  // of host and device, mapped files included
    Clock::duration load_time;
    // The engine knows these.
    uint32_t users = 0;      // partitions under way that hold them
    Clock::duration idle{};  // since their last use
    uint64_t doubts = 0;     // how often they were dropped because a proof was wrong, so far
  };
  std::vector<Loaded> loaded() const;

 private:
  const Locate locate_;
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, size_t>, Stored<Params>> params_;
};

}  // namespace cuzk::engine
