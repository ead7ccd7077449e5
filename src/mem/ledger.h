#pragma once
// What is alive, by class: bytes and objects, now and at most. The ledger does not limit anything (mem/budget.h does);
// it says where memory went, and that everything of a finished job is gone.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cuzk::mem {

class Ledger {
 public:
  struct Class {
    std::string name;
    bool transient = true;  // belongs to jobs, so it reads zero when there is none
  };
  struct Line {
    std::string name;
    bool transient;
    uint64_t bytes, objects, high_water_bytes, high_water_objects;
  };

  // One live object. Default and moved-from ones count nothing.
  class Entry {
   public:
    Entry() = default;
    ~Entry();
    Entry(Entry&& other) noexcept { swap(other); }
    Entry& operator=(Entry other) noexcept {
      swap(other);
      return *this;
    }
    uint64_t bytes() const { return bytes_; }
    // The object is of this size now.
    void resize(uint64_t bytes);

   private:
    friend class Ledger;
    void swap(Entry& other) noexcept {
      std::swap(state_, other.state_);
      std::swap(index_, other.index_);
      std::swap(bytes_, other.bytes_);
    }

    std::shared_ptr<struct LedgerState> state_;
    size_t index_ = 0;
    uint64_t bytes_ = 0;
  };

  explicit Ledger(std::vector<Class> classes);

  // Counts an object of the class with this index among those given to the constructor.
  Entry add(size_t index, uint64_t bytes);
  std::vector<Line> lines() const;
  // True where every transient class reads zero.
  bool idle() const;

 private:
  std::shared_ptr<LedgerState> state_;
};

}  // namespace cuzk::mem
