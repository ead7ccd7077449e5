#include "mem/ledger.h"

#include <algorithm>
#include <mutex>

namespace cuzk::mem {

struct LedgerState {
  std::mutex mutex;
  std::vector<Ledger::Line> lines;

  void change(size_t index, uint64_t less_bytes, uint64_t more_bytes, uint64_t less_objects, uint64_t more_objects) {
    std::lock_guard lock(mutex);
    Ledger::Line& line = lines.at(index);
    line.bytes += more_bytes - less_bytes;
    line.objects += more_objects - less_objects;
    line.high_water_bytes = std::max(line.high_water_bytes, line.bytes);
    line.high_water_objects = std::max(line.high_water_objects, line.objects);
  }
};

Ledger::Ledger(std::vector<Class> classes) : state_(std::make_shared<LedgerState>()) {
  for (Class& each : classes) state_->lines.push_back({std::move(each.name), each.transient, 0, 0, 0, 0});
}

Ledger::Entry Ledger::add(size_t index, uint64_t bytes) {
  state_->change(index, 0, bytes, 0, 1);
  Entry entry;
  entry.state_ = state_;
  entry.index_ = index;
  entry.bytes_ = bytes;
  return entry;
}

std::vector<Ledger::Line> Ledger::lines() const {
  std::lock_guard lock(state_->mutex);
  return state_->lines;
}

bool Ledger::idle() const {
  std::lock_guard lock(state_->mutex);
  return std::none_of(state_->lines.begin(), state_->lines.end(),
                      [](const Line& line) { return line.transient && (line.bytes != 0 || line.objects != 0); });
}

Ledger::Entry::~Entry() {
  if (state_) state_->change(index_, bytes_, 0, 1, 0);
}

void Ledger::Entry::resize(uint64_t bytes) {
  if (state_) state_->change(index_, bytes_, bytes, 0, 0);
  bytes_ = bytes;
}

}  // namespace cuzk::mem
