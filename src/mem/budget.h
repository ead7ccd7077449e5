#pragma once
// Memory is promised before it is touched. A Budget holds the pools of one machine (host, pinned, each GPU); a
// Reservation is the right to some bytes of a pool, and large buffers are made from nothing else (mem/buffer.h).
//
// Requests are served in order of arrival: a small one never overtakes a large one that waits for the same pool, so the
// large one is not starved. A request that needs several pools gets all of it or waits holding none, so two of them
// cannot block each other.

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"

namespace cuzk::mem {

class Reservation;

class Budget {
 public:
  struct Pool {
    std::string name;
    uint64_t limit_bytes;
  };
  struct Need {
    size_t pool;  // index into the pools given to the constructor
    uint64_t bytes;
  };
  struct Usage {
    std::string name;
    uint64_t limit_bytes, reserved_bytes, high_water_bytes;
    size_t waiting;  // requests that wait for this pool, alone or among others
  };

  explicit Budget(std::vector<Pool> pools);

  // All needs together, as one reservation each and in their order. Waits for earlier requests and for room.
  // kTooLarge, at once, for what a pool's limit can never hold; kCancelled once `stop` is requested.
  Result<std::vector<Reservation>> reserve(std::span<const Need> needs, std::stop_token stop = {});
  Result<Reservation> reserve(Need need, std::stop_token stop = {});

  // The same without waiting: kResourceExhausted where `reserve` would wait.
  Result<std::vector<Reservation>> try_reserve(std::span<const Need> needs);
  Result<Reservation> try_reserve(Need need);

  std::vector<Usage> usage() const;

 private:
  friend class Reservation;
  struct State;
  std::shared_ptr<State> state_;  // reservations share it, so the order of destruction does not matter
};

// Gives its bytes back when it is destroyed. Default and moved-from ones hold nothing.
class Reservation {
 public:
  Reservation() = default;
  ~Reservation() { shrink_to(0); }
  Reservation(Reservation&& other) noexcept { swap(other); }
  Reservation& operator=(Reservation other) noexcept {
    swap(other);
    return *this;
  }

  uint64_t bytes() const { return bytes_; }

  // Takes `bytes` of this one into a new one; kInternal where it holds fewer.
  Result<Reservation> split(uint64_t bytes);
  // Takes over what another one of the same budget and pool holds; kInternal for another pool.
  Status absorb(Reservation other);
  // Gives back all but `bytes`; nothing where it holds no more than that.
  void shrink_to(uint64_t bytes);

 private:
  friend class Budget;
  Reservation(std::shared_ptr<Budget::State> state, size_t pool, uint64_t bytes);
  void swap(Reservation& other) noexcept {
    std::swap(state_, other.state_);
    std::swap(pool_, other.pool_);
    std::swap(bytes_, other.bytes_);
  }

  std::shared_ptr<Budget::State> state_;
  size_t pool_ = 0;
  uint64_t bytes_ = 0;
};

// Of a budget of its own, for programs that do one thing and end, and for tests.
Reservation unbudgeted(uint64_t bytes);

}  // namespace cuzk::mem
