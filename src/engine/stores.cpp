#include "engine/stores.h"

#include "base/log.h"
#include "groth16/files.h"
#include "r1cs/file.h"

namespace cuzk::engine {
namespace {

// Takes the value out, so that it is destroyed after the store's mutex is free: that may take long on a device.
template <class T>
Stored<T> taken(Stored<T>& stored) {
  Stored<T> old = std::move(stored);
  stored = {.value = nullptr, .bytes = old.bytes, .load_time = old.load_time};
  return old;
}

}  // namespace

Result<CircuitStore::Circuit> CircuitStore::load(const std::string& circuit_id, const Compile& compile) const {
  const std::filesystem::path path = folder_ / (circuit_id + ".circuit");
  if (!folder_.empty()) {
    Result<r1cs::Circuit> kept = r1cs::load(path);
    if (kept) return std::make_shared<const r1cs::Circuit>(std::move(*kept));
    if (kept.error().code != Code::kNotFound) log::warn("compiling again: {}", kept.error().message);
  }
  CUZK_TRY_ASSIGN(r1cs::Circuit circuit, compile());
  if (!folder_.empty()) {
    if (Status saved = r1cs::save(circuit, path); !saved)
      log::warn("the circuit is not kept: {}", saved.error().message);
  }
  return std::make_shared<const r1cs::Circuit>(std::move(circuit));
}

void CircuitStore::put(const std::string& circuit_id, Stored<r1cs::Circuit> stored) {
  std::lock_guard lock(mutex_);
  circuits_[circuit_id] = std::move(stored);
}

CircuitStore::Circuit CircuitStore::find(const std::string& circuit_id) const {
  std::lock_guard lock(mutex_);
  auto found = circuits_.find(circuit_id);
  return found == circuits_.end() ? nullptr : found->second.value;
}

void CircuitStore::evict(const std::string& circuit_id) {
  std::unique_lock lock(mutex_);
  auto old = taken(circuits_[circuit_id]);
  lock.unlock();
}

std::vector<CircuitStore::Loaded> CircuitStore::loaded() const {
  std::lock_guard lock(mutex_);
  std::vector<Loaded> list;
  for (const auto& [id, stored] : circuits_) {
    if (stored.value) list.push_back({id, stored.bytes, stored.load_time});
  }
  return list;
}

Result<std::shared_ptr<const Params>> ParamsStore::load(const std::string& circuit_id, const r1cs::Circuit& circuit,
                                                        Backend& backend, Memory memory) const {
  CUZK_TRY_ASSIGN(std::filesystem::path path, locate_(circuit_id));
  return backend.load(path, circuit, std::move(memory));
}

void ParamsStore::put(const std::string& circuit_id, size_t device, Stored<Params> stored) {
  std::lock_guard lock(mutex_);
  params_[{circuit_id, device}] = std::move(stored);
}

std::shared_ptr<const Params> ParamsStore::find(const std::string& circuit_id, size_t device) const {
  std::lock_guard lock(mutex_);
  auto found = params_.find({circuit_id, device});
  return found == params_.end() ? nullptr : found->second.value;
}

void ParamsStore::evict(const std::string& circuit_id, size_t device) {
  std::unique_lock lock(mutex_);
  auto old = taken(params_[{circuit_id, device}]);
  lock.unlock();
}

void ParamsStore::forget_check(const std::string& circuit_id) const {
  std::error_code ignored;  // a record that nobody can remove costs the check, not the load
  if (auto path = locate_(circuit_id)) std::filesystem::remove(groth16::checked_record_path(*path), ignored);
}

std::vector<ParamsStore::Loaded> ParamsStore::loaded() const {
  std::lock_guard lock(mutex_);
  std::vector<Loaded> list;
  for (const auto& [key, stored] : params_) {
    const Tier tier = stored.value ? stored.value->tier() : Tier::kCold;
    list.push_back({key.first, key.second, tier, stored.bytes, stored.load_time});
  }
  return list;
}

}  // namespace cuzk::engine
