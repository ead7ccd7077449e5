#pragma once
// Faults on purpose. A plan says which call fails and how; a back end, a statement and, by the linker's --wrap, some
// functions ask it. Linked into test programs only.
//
// A plan is orders parted by ';', each PLACE WHICH FAULT, as in "start 1 flip; start 3+ fail unavailable":
//   PLACE  load, start, finish   of the back end
//          synthesise            of a FaultySource
//          reserve, random       Budget::try_reserve of several pools, getrandom
//   WHICH  3: the third call there; 3+: that and all later ones; */3: each third
//   FAULT  fail CODE             an error; codes are those of code_name()
//          throw                 an exception
//          flip                  a bit is wrong: of a point that was loaded and is mapped, of the witness that the
//          device
//                                is given, of the proof that is finished
//          stall PATH            opens this FIFO and reads to its end (Gate)
//          starve N              the Nth allocation of this thread throws

#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/allocation_testing.h"
#include "engine/backend.h"
#include "engine/testing.h"

namespace cuzk::engine::testing {

class Faults {
 public:
  // Replaces the plan and begins to count; kUsage.
  Status plan(std::string_view text);
  Status plan_from_environment();  // CUZK_FAULTS; none where it is not set

  // Counts a call and does what the plan says of it. True where a bit is to be flipped.
  Result<bool> meet(std::string_view place);
  // body(flip), as the plan has it.
  template <class Body>
  auto around(std::string_view place, Body&& body) -> decltype(body(true)) {
    const EndOfStarvation end;
    CUZK_TRY_ASSIGN(const bool flip, meet(place));
    return body(flip);
  }
  size_t calls(std::string_view place);

 private:
  struct EndOfStarvation {
    ~EndOfStarvation() { cuzk::testing::fail_allocation(0); }
  };
  struct Order {
    size_t first, last, step;
    std::string fault, detail;
  };

  std::mutex mutex_;
  std::multimap<std::string, Order, std::less<>> orders_;
  std::map<std::string, size_t, std::less<>> calls_;
};

// The one that wrapped functions ask.
Faults& faults();

// Where a stage stalls: a FIFO in a folder.
class Gate {
 public:
  explicit Gate(const TemporaryFolder& folder);
  ~Gate() { release(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  const std::string& path() const { return path_; }
  void wait_for_stage();  // returns when it is there
  void release();         // it goes on

 private:
  std::string path_;
  std::ofstream writer_;
};

// Asks before each call of the other.
std::unique_ptr<Backend> make_faulty(std::unique_ptr<Backend> backend);

class FaultySource final : public CubicSource {
 public:
  using CubicSource::CubicSource;
  Status assign(uint32_t partition, const r1cs::Circuit& circuit, const r1cs::Assignment& to) const override;
};

}  // namespace cuzk::engine::testing
