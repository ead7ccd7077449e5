#pragma once
// What outlives the daemon: accepted jobs with their payloads until they end, proofs of their partitions, and results
// as long as the engine keeps them. An SQLite file (docs/formats/journal.md), written by one thread: what comes while
// it writes shares the next transaction, and with it one flush of the disk.
//
// Where something cannot be written (the disk is full, or the journal is full of jobs that have not ended), the daemon
// goes on, warns, and counts it; the job is proved, but would not survive a restart.

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <thread>

#include "engine/engine.h"

struct sqlite3;

namespace cuzk::service {

class Journal final : public engine::Recorder {
 public:
  // Opens the file or makes it, with its folder; this process alone may use it. `max_bytes` bounds what is kept: the
  // oldest results leave first, jobs that have not ended never. kInvalidInput for a file that is damaged, is no journal
  // or is of another version, kUnavailable where another process has it, kIo.
  static Result<std::unique_ptr<Journal>> open(const std::filesystem::path& path, uint64_t max_bytes);
  // Writes what it was told.
  ~Journal() override;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Gives an engine what an earlier process left, before anything else is submitted to it: results are kept, jobs go on
  // under their ids. The engine must end before the journal does.
  using Parse = std::function<Result<std::shared_ptr<const groth16::CircuitSource>>(std::string payload)>;
  Status resume(engine::Engine& engine, const Parse& parse);

  struct Condition {
    uint64_t bytes = 0, max_bytes = 0;  // about what is kept
    uint64_t jobs = 0, results = 0;     // not ended, and ended
    uint64_t lost = 0;                  // events that could not be written, since the start
    std::optional<Error> error;         // of the last event, where that could not be written
  };
  Condition condition() const;

  void accepted(const engine::Job& job, std::function<std::string()> payload) override;
  void proved(const engine::Job& job, uint32_t partition, ByteSpan proof) override;
  void ended(const engine::Job& job) override;
  void forgotten(const engine::Job& job) override;
  void settle() override;

 private:
  using Event = std::function<Status()>;
  struct Database {
    sqlite3* handle = nullptr;
    ~Database();
  };

  explicit Journal(uint64_t max_bytes) : max_bytes_(max_bytes) { condition_.max_bytes = max_bytes; }
  Status connect(const std::filesystem::path& path);
  Status check_or_make_schema();
  Status take_stock();

  void tell(Event event);
  void write_events();
  size_t write(const std::deque<Event>& events, size_t first);
  Status transaction(const std::function<Status()>& body);
  Status insert_job(const engine::Ended& job, engine::Priority priority, const std::string& payload);
  Status insert_result(const engine::Ended& job, int64_t ended_ms);
  Status make_room(uint64_t bytes);
  Result<std::vector<engine::Ended>> read_jobs();
  Result<engine::Request> read_request(const engine::Ended& job, const Parse& parse);
  Result<std::string> read_payload(uint64_t number);

  const uint64_t max_bytes_;
  std::mutex database_mutex_;  // one statement at a time
  Database database_;
  uint64_t written_bytes_ = 0;  // of payloads, in this transaction

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable told_, settled_;
  std::deque<Event> events_;
  uint64_t events_told_ = 0, events_written_ = 0;
  Condition condition_;
  bool stopping_ = false;
  std::jthread writer_;
};

}  // namespace cuzk::service
