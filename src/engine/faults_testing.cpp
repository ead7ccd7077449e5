#include "engine/faults_testing.h"

#include <sys/stat.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "groth16/native_file.h"

namespace cuzk::engine::testing {
namespace {

Result<Code> code_called(std::string_view name) {
  for (int code = 0; code <= static_cast<int>(Code::kInternal); code++) {
    if (code_name(static_cast<Code>(code)) == name) return static_cast<Code>(code);
  }
  return fail(Code::kUsage, "there is no code '{}'", name);
}

}  // namespace

Faults& faults() {
  static Faults all;
  return all;
}

Status Faults::plan(std::string_view text) {
  std::lock_guard lock(mutex_);
  orders_.clear();
  calls_.clear();
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line, ';');) {
    std::istringstream words(line);
    std::string place, which;
    Order order{};
    if (!(words >> place >> which >> order.fault)) return fail(Code::kUsage, "'{}' is no order", line);
    words >> order.detail;
    const bool each = which.starts_with("*/");
    const size_t number = std::strtoul(which.c_str() + (each ? 2 : 0), nullptr, 10);
    if (number == 0) return fail(Code::kUsage, "'{}' names no call", which);
    order.first = number;
    order.last = each || which.ends_with('+') ? SIZE_MAX : number;
    order.step = each ? number : 1;
    if (order.fault == "fail") CUZK_TRY(code_called(order.detail));
    orders_.emplace(place, std::move(order));
  }
  return {};
}

Status Faults::plan_from_environment() {
  const char* text = std::getenv("CUZK_FAULTS");
  return plan(text ? text : "");
}

size_t Faults::calls(std::string_view place) {
  std::lock_guard lock(mutex_);
  auto known = calls_.find(place);
  return known == calls_.end() ? 0 : known->second;
}

Result<bool> Faults::meet(std::string_view place) {
  std::vector<Order> met;
  {
    std::lock_guard lock(mutex_);
    const size_t number = ++calls_[std::string(place)];
    for (auto [order, end] = orders_.equal_range(place); order != end; ++order) {
      const auto& [first, last, step, fault, detail] = order->second;
      if (first <= number && number <= last && number % step == 0) met.push_back(order->second);
    }
  }
  bool flip = false;
  for (const Order& order : met) {
    if (order.fault == "stall") std::ifstream(order.detail).get();
    if (order.fault == "fail") return fail(*code_called(order.detail), "made to fail");
    if (order.fault == "throw") throw std::runtime_error("made to throw");
    if (order.fault == "starve") cuzk::testing::fail_allocation(std::stoul(order.detail));
    flip = flip || order.fault == "flip";
  }
  return flip;
}

Gate::Gate(const TemporaryFolder& folder) : path_((folder.path() / "gate").string()) { mkfifo(path_.c_str(), 0600); }
void Gate::wait_for_stage() { writer_.open(path_); }
void Gate::release() { writer_.close(); }

namespace {

void flip_bit(Fr& value) { value = value + Fr::one(); }
// The point leaves the curve.
void flip_bit(G1Affine& point) { reinterpret_cast<unsigned char&>(point) ^= 1; }

// The first byte of the first point of h, for all who map the file.
void flip_bit(const std::filesystem::path& params) {
  constexpr std::streamoff kFirstPoint = 4096;
  std::fstream points(groth16::native_path(params), std::ios::in | std::ios::out | std::ios::binary);
  points.seekg(kFirstPoint);
  const char byte = static_cast<char>(points.get() ^ 1);
  points.seekp(kFirstPoint);
  points.put(byte);
}

class FaultyPending final : public Pending {
 public:
  explicit FaultyPending(std::unique_ptr<Pending> inner) : inner_(std::move(inner)) {}
  Result<groth16::Proof> finish() override {
    return faults().around("finish", [&](bool flip) {
      Result<groth16::Proof> proof = inner_->finish();
      if (proof && flip) flip_bit(proof->c);
      return proof;
    });
  }

 private:
  std::unique_ptr<Pending> inner_;
};

class FaultyBackend final : public Backend {
 public:
  explicit FaultyBackend(std::unique_ptr<Backend> inner) : inner_(std::move(inner)) {}

  Needs needs(const r1cs::Circuit& circuit) const override { return inner_->needs(circuit); }
  Footprint params_needs(const r1cs::Circuit& circuit, const std::filesystem::path& path) const override {
    return inner_->params_needs(circuit, path);
  }
  Result<std::shared_ptr<const Params>> load(const std::filesystem::path& path, const r1cs::Circuit& circuit,
                                             Memory memory) override {
    return faults().around("load", [&](bool flip) {
      auto params = inner_->load(path, circuit, std::move(memory));
      if (params && flip) flip_bit(path);
      return params;
    });
  }
  Result<std::unique_ptr<Pending>> start(const Setting& setting, r1cs::Witness witness, Memory memory) override {
    return faults().around("start", [&](bool flip) -> Result<std::unique_ptr<Pending>> {
      if (flip) flip_bit(witness.fields[0]);
      CUZK_TRY_ASSIGN(auto pending, inner_->start(setting, std::move(witness), std::move(memory)));
      return std::make_unique<FaultyPending>(std::move(pending));
    });
  }

 private:
  std::unique_ptr<Backend> inner_;
};

}  // namespace

std::unique_ptr<Backend> make_faulty(std::unique_ptr<Backend> backend) {
  return std::make_unique<FaultyBackend>(std::move(backend));
}

Status FaultySource::assign(uint32_t partition, const r1cs::Circuit& circuit, const r1cs::Assignment& to) const {
  return faults().around("synthesise", [&](bool flip) -> Status {
    CUZK_TRY(CubicSource::assign(partition, circuit, to));
    if (flip) flip_bit(to.fields[0]);
    return {};
  });
}

}  // namespace cuzk::engine::testing

// --- functions that the linker puts before others (--wrap)

using namespace cuzk;
using namespace engine::testing;

extern "C" {
ssize_t __real_getrandom(void* to, size_t bytes, unsigned flags);
ssize_t __wrap_getrandom(void* to, size_t bytes, unsigned flags) {
  if (faults().meet("random")) return __real_getrandom(to, bytes, flags);
  errno = ENOSYS;
  return -1;
}
}

#define TRY_RESERVE "_ZN4cuzk3mem6Budget11try_reserveESt4spanIKNS1_4NeedELm18446744073709551615EE"
using Reservations = Result<std::vector<mem::Reservation>>;
Reservations real_try_reserve(mem::Budget*, std::span<const mem::Budget::Need>) asm("__real_" TRY_RESERVE);
Reservations wrap_try_reserve(mem::Budget*, std::span<const mem::Budget::Need>) asm("__wrap_" TRY_RESERVE);
Reservations wrap_try_reserve(mem::Budget* budget, std::span<const mem::Budget::Need> needs) {
  return faults().around("reserve", [&](bool) { return real_try_reserve(budget, needs); });
}
