#pragma once
// Data-parallel loops on a fixed set of threads. An algorithm is given a Pool; it never asks how many cores there are.
//
// Why not TBB: its library is not instrumented, so ThreadSanitizer reports races in it (docs/decisions/0001).

#include <cstddef>
#include <functional>
#include <memory>

namespace cuzk::exec {

class Pool {
 public:
  // `threads` runs loops on that many threads, the caller included; 0 means one a core this process may use.
  explicit Pool(size_t threads = 0);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  size_t threads() const;

  // While it lives, loops that its thread calls go before those of lower levels, which stand still between two pieces.
  // 0 is the level of all else; at most kMostUrgent. Its thread must not wait for loops of lower levels.
  class Urgency {
   public:
    Urgency(Pool& pool, unsigned level);
    ~Urgency();
    Urgency(const Urgency&) = delete;
    Urgency& operator=(const Urgency&) = delete;

   private:
    Pool& pool_;
    const unsigned level_, before_;
  };
  static constexpr unsigned kMostUrgent = 2;

  // Calls body(begin, end) over disjoint pieces of [0, count) of at most `grain` elements, and returns when all are
  // done. Pieces are taken in order by whichever thread is free. Calls may come from several threads at once and may
  // nest. What a body throws comes out of here, once no piece is in progress; pieces not begun are left out.
  void for_each_chunk(size_t count, size_t grain, const std::function<void(size_t begin, size_t end)>& body);

  // body(i) for i in [0, count), one piece an index.
  void for_each(size_t count, const std::function<void(size_t index)>& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cuzk::exec
