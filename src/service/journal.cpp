#include "service/journal.h"

#include <sqlite3.h>

#include "base/log.h"
#include "engine/guarded.h"
#include "groth16/verify.h"
#include "hash/sha256.h"

namespace cuzk::service {

using engine::State;

namespace {

constexpr int64_t kApplication = 0x63757a6b;  // "cuzk"
constexpr int64_t kVersion = 1;
constexpr uint64_t kRowBytes = 4096;              // counted for a job beside its payload or proof
constexpr uint64_t kTransactionBytes = 32 << 20;  // payloads in one transaction, before the next one begins

// The payload is the last column, so that SQLite fills it with zeros without making them in memory.
constexpr const char* kSchema = R"(
  CREATE TABLE jobs (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, kind TEXT NOT NULL, priority INTEGER NOT NULL, digest BLOB NOT NULL,
    state TEXT NOT NULL, bytes INTEGER NOT NULL, ended INTEGER NOT NULL, checksum BLOB NOT NULL, proof BLOB NOT NULL,
    code TEXT NOT NULL, message TEXT NOT NULL, times BLOB NOT NULL, payload BLOB NOT NULL);
  CREATE INDEX jobs_by_id ON jobs (id);
  CREATE INDEX jobs_by_end ON jobs (state, ended, number, bytes);
  CREATE TABLE proofs (
    job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE, partition INTEGER NOT NULL, proof BLOB NOT NULL,
    PRIMARY KEY (job, partition)) WITHOUT ROWID;
)";

Error error_of(sqlite3* database) {
  auto code = [&] {
    switch (sqlite3_errcode(database) & 0xff) {
      case SQLITE_CORRUPT:
      case SQLITE_NOTADB: return Code::kInvalidInput;
      case SQLITE_BUSY:
      case SQLITE_LOCKED: return Code::kUnavailable;
      case SQLITE_FULL:
      case SQLITE_NOMEM: return Code::kResourceExhausted;
      default: return Code::kIo;
    }
  }();
  return {code, sqlite3_errmsg(database)};
}

struct Zeros {
  uint64_t count;
};

// A statement with its values; they live until it ends.
class Query {
 public:
  template <class... Values>
  static Result<Query> make(sqlite3* database, std::string_view sql, const Values&... values) {
    Query query(database);
    bool good =
        sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &query.statement_, nullptr) == SQLITE_OK;
    int index = 1;
    ((good = good && query.bind(index++, values) == SQLITE_OK), ...);
    if (!good) return tl::unexpected(error_of(database));
    return query;
  }
  Query(Query&& other) noexcept : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)) {}
  Query& operator=(Query&&) = delete;
  ~Query() { sqlite3_finalize(statement_); }

  // Whether there is another row.
  Result<bool> next() {
    switch (sqlite3_step(statement_)) {
      case SQLITE_ROW: return true;
      case SQLITE_DONE: return false;
      default: return tl::unexpected(error_of(database_));
    }
  }
  int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  ByteSpan bytes(int column) const {
    const void* data = sqlite3_column_blob(statement_, column);
    return {static_cast<const uint8_t*>(data), static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
  }
  std::string text(int column) const { return std::string(as_text(bytes(column))); }

 private:
  explicit Query(sqlite3* database) : database_(database) {}
  int bind(int index, Zeros zeros) { return sqlite3_bind_zeroblob64(statement_, index, zeros.count); }
  // A null pointer would be NULL, so it is no way to say "empty".
  int bind(int index, std::string_view text) {
    return sqlite3_bind_text64(statement_, index, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC,
                               SQLITE_UTF8);
  }
  int bind(int index, ByteSpan bytes) {
    const void* data = bytes.empty() ? "" : static_cast<const void*>(bytes.data());
    return sqlite3_bind_blob64(statement_, index, data, bytes.size(), SQLITE_STATIC);
  }
  int bind(int index, std::integral auto number) {
    return sqlite3_bind_int64(statement_, index, static_cast<int64_t>(number));
  }

  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
};

template <class... Values>
Status run(sqlite3* database, std::string_view sql, const Values&... values) {
  CUZK_TRY_ASSIGN(Query query, Query::make(database, sql, values...));
  for (Result<bool> row = true; row && *row;) {
    row = query.next();
    if (!row) return tl::unexpected(std::move(row).error());
  }
  return {};
}

Result<std::string> first_value(sqlite3* database, std::string_view sql) {
  CUZK_TRY_ASSIGN(Query query, Query::make(database, sql));
  CUZK_TRY_ASSIGN(const bool row, query.next());
  return row ? query.text(0) : std::string();
}

// The payload of a job, in place.
class Payload {
 public:
  static Result<Payload> open(sqlite3* database, uint64_t number, bool to_write) {
    Payload payload(database);
    if (sqlite3_blob_open(database, "main", "jobs", "payload", static_cast<int64_t>(number), to_write,
                          &payload.blob_) != SQLITE_OK)
      return tl::unexpected(error_of(database));
    return payload;
  }
  Payload(Payload&& other) noexcept : database_(other.database_), blob_(std::exchange(other.blob_, nullptr)) {}
  Payload& operator=(Payload&&) = delete;
  ~Payload() { sqlite3_blob_close(blob_); }

  Status write(const std::string& text) {
    return done(sqlite3_blob_write(blob_, text.data(), static_cast<int>(text.size()), 0));
  }
  Result<std::string> read() {
    std::string text(static_cast<size_t>(sqlite3_blob_bytes(blob_)), '\0');
    CUZK_TRY(done(sqlite3_blob_read(blob_, text.data(), static_cast<int>(text.size()), 0)));
    return text;
  }

 private:
  explicit Payload(sqlite3* database) : database_(database) {}
  Status done(int result) const {
    if (result == SQLITE_OK) return {};
    return tl::unexpected(error_of(database_));
  }

  sqlite3* database_;
  sqlite3_blob* blob_ = nullptr;
};

constexpr std::string_view kOpen = "open";
constexpr std::array kEnds = {std::pair{State::kCompleted, std::string_view("completed")},
                              std::pair{State::kFailed, std::string_view("failed")},
                              std::pair{State::kCancelled, std::string_view("cancelled")}};

// kParsing for one that has not ended.
State state_of(std::string_view name) {
  for (const auto& [state, known] : kEnds) {
    if (known == name) return state;
  }
  return State::kParsing;
}

std::string_view name_of(State state) {
  for (const auto& [known, name] : kEnds) {
    if (known == state) return name;
  }
  return kOpen;
}

Code code_of(std::string_view name) {
  for (int code = 0; code < static_cast<int>(Code::kInternal); code++) {
    if (code_name(static_cast<Code>(code)) == name) return static_cast<Code>(code);
  }
  return Code::kInternal;
}

int64_t unix_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// Nanoseconds in all and by stage, 8 bytes each.
Bytes encode_times(const engine::Outcome& outcome) {
  Bytes bytes(8 * (1 + engine::kStages));
  store_le(bytes.data(), static_cast<uint64_t>(outcome.total.count()));
  for (size_t i = 0; i < engine::kStages; i++)
    store_le(&bytes[8 * (1 + i)], static_cast<uint64_t>(outcome.times.spent[i].count()));
  return bytes;
}

void decode_times(ByteSpan bytes, engine::Outcome& outcome) {
  if (bytes.size() != 8 * (1 + engine::kStages)) return;
  outcome.total = engine::Clock::duration(load_le<int64_t>(bytes.data()));
  for (size_t i = 0; i < engine::kStages; i++)
    outcome.times.spent[i] = engine::Clock::duration(load_le<int64_t>(&bytes[8 * (1 + i)]));
}

// What the journal keeps of a job.
engine::Ended record_of(const engine::Job& job) {
  return {job.number,
          job.id,
          job.kind,
          job.payload_digest,
          {job.state, job.state == State::kCompleted ? job.proof : Bytes{}, job.error, job.times,
           job.ended - job.submitted},
          {}};
}

}  // namespace

Journal::Database::~Database() { sqlite3_close_v2(handle); }

// --- opening

Result<std::unique_ptr<Journal>> Journal::open(const std::filesystem::path& path, uint64_t max_bytes) {
  std::unique_ptr<Journal> journal(new Journal(max_bytes));
  Status opened = journal->connect(path);
  if (opened) opened = journal->check_or_make_schema();
  if (opened) opened = journal->take_stock();
  if (!opened) {
    Error error = std::move(opened).error();
    const char* advice = error.code == Code::kInvalidInput  ? "; move the file away to begin a new one"
                         : error.code == Code::kUnavailable ? "; another process uses it"
                                                            : "";
    return fail(error.code, "journal '{}': {}{}", path.string(), error.message, advice);
  }
  journal->writer_ = std::jthread([self = journal.get()] { self->write_events(); });
  return journal;
}

Status Journal::connect(const std::filesystem::path& path) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error) return fail(Code::kIo, "cannot make its folder: {}", error.message());
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(path.c_str(), &database_.handle, kFlags, nullptr) != SQLITE_OK)
    return tl::unexpected(error_of(database_.handle));
  // Nobody else comes to the file while it is open, and what is committed is on the disk.
  for (const char* pragma : {"locking_mode = EXCLUSIVE", "page_size = 16384", "journal_mode = WAL",
                             "synchronous = FULL", "foreign_keys = ON", "journal_size_limit = 67108864"})
    CUZK_TRY(run(database_.handle, fmt::format("PRAGMA {}", pragma)));
  return {};
}

Status Journal::check_or_make_schema() {
  sqlite3* database = database_.handle;
  CUZK_TRY_ASSIGN(const std::string fault, first_value(database, "PRAGMA quick_check(1)"));
  if (fault != "ok") return fail(Code::kInvalidInput, "damaged: {}", fault.substr(fault.rfind('\n') + 1));
  CUZK_TRY_ASSIGN(const std::string tables, first_value(database, "SELECT count(*) FROM sqlite_schema"));
  if (tables == "0") {
    return transaction([&]() -> Status {
      if (sqlite3_exec(database, kSchema, nullptr, nullptr, nullptr) != SQLITE_OK)
        return tl::unexpected(error_of(database));
      CUZK_TRY(run(database, fmt::format("PRAGMA application_id = {}", kApplication)));
      return run(database, fmt::format("PRAGMA user_version = {}", kVersion));
    });
  }
  CUZK_TRY_ASSIGN(const std::string application, first_value(database, "PRAGMA application_id"));
  if (application != std::to_string(kApplication)) return fail(Code::kInvalidInput, "this is no journal of cuzk");
  CUZK_TRY_ASSIGN(const std::string version, first_value(database, "PRAGMA user_version"));
  if (version != std::to_string(kVersion))
    return fail(Code::kInvalidInput, "of version {}, and this program knows version {}", version, kVersion);
  // An id belongs to the newest job that came with it.
  return run(database, "DELETE FROM jobs WHERE number < (SELECT max(number) FROM jobs AS j WHERE j.id = jobs.id)");
}

Status Journal::take_stock() {
  CUZK_TRY_ASSIGN(Query query,
                  Query::make(database_.handle,
                              "SELECT total(bytes), count(*), count(*) FILTER (WHERE state = ?) FROM jobs", kOpen));
  CUZK_TRY(query.next());
  std::lock_guard lock(mutex_);
  condition_.bytes = static_cast<uint64_t>(query.integer(0));
  condition_.jobs = static_cast<uint64_t>(query.integer(2));
  condition_.results = static_cast<uint64_t>(query.integer(1)) - condition_.jobs;
  return {};
}

Journal::~Journal() {
  std::lock_guard lock(mutex_);
  stopping_ = true;
  told_.notify_all();
}

// --- what an earlier process left

Status Journal::resume(engine::Engine& engine, const Parse& parse) {
  CUZK_TRY_ASSIGN(std::vector<engine::Ended> jobs, read_jobs());
  size_t resumed = 0, kept = 0;
  for (engine::Ended& job : jobs) {
    if (is_final(job.outcome.state)) {
      engine.adopt(std::move(job));
      kept++;
      continue;
    }
    auto submitted = [&]() -> Status {
      CUZK_TRY_ASSIGN(engine::Request request, read_request(job, parse));
      CUZK_TRY(engine.submit(std::move(request)));
      return {};
    }();
    resumed += submitted.has_value();
    if (!submitted) {
      log::warn({{"job", job.id}}, "the job cannot go on: {}", submitted.error().message);
      job.outcome.state = State::kFailed;
      job.outcome.error = std::move(submitted).error();
      engine.adopt(std::move(job));
    }
  }
  if (resumed + kept > 0) log::info("journal: {} jobs go on, {} results are kept", resumed, kept);
  return {};
}

// Results in the order of their ends, then jobs in the order in which they came.
Result<std::vector<engine::Ended>> Journal::read_jobs() {
  std::lock_guard lock(database_mutex_);
  CUZK_TRY_ASSIGN(Query query, Query::make(database_.handle,
                                           "SELECT number, id, kind, digest, state, ended, checksum, proof, code, "
                                           "message, times FROM jobs ORDER BY state = ?, ended, number",
                                           kOpen));
  std::vector<engine::Ended> jobs;
  const int64_t now = unix_ms();
  while (true) {
    CUZK_TRY_ASSIGN(const bool row, query.next());
    if (!row) return jobs;
    engine::Ended job{static_cast<uint64_t>(query.integer(0)), query.text(1), query.text(2), {}, {}, {}};
    const ByteSpan digest = query.bytes(3), proof = query.bytes(7);
    std::copy_n(digest.begin(), std::min(digest.size(), job.payload_digest.size()), job.payload_digest.begin());
    job.outcome.state = state_of(query.text(4));
    job.outcome.proof.assign(proof.begin(), proof.end());
    decode_times(query.bytes(10), job.outcome);
    job.age = std::chrono::milliseconds(std::max<int64_t>(0, now - query.integer(5)));
    if (job.outcome.state == State::kFailed || job.outcome.state == State::kCancelled)
      job.outcome.error = Error{code_of(query.text(8)), query.text(9)};
    const Bytes32 checksum = hash::sha256(proof);
    if (job.outcome.state == State::kCompleted && !std::ranges::equal(query.bytes(6), checksum)) {
      log::warn("journal: the result of job '{}' is damaged and thrown away", engine::printable(job.id));
      CUZK_TRY(run(database_.handle, "DELETE FROM jobs WHERE number = ?", job.number));
      continue;
    }
    jobs.push_back(std::move(job));
  }
}

Result<engine::Request> Journal::read_request(const engine::Ended& job, const Parse& parse) {
  std::lock_guard lock(database_mutex_);
  engine::Request request{.id = job.id, .kind = job.kind, .payload_digest = job.payload_digest};
  CUZK_TRY_ASSIGN(Query row, Query::make(database_.handle,
                                         "SELECT priority, length(payload) FROM jobs WHERE number = ?", job.number));
  CUZK_TRY(row.next());
  request.priority = static_cast<engine::Priority>(
      std::clamp<int64_t>(row.integer(0), 0, static_cast<int64_t>(engine::Priority::kCritical)));
  request.bytes = static_cast<uint64_t>(row.integer(1));
  request.resumed = engine::Resumed{job.number, {}};
  CUZK_TRY_ASSIGN(Query proofs,
                  Query::make(database_.handle, "SELECT partition, proof FROM proofs WHERE job = ?", job.number));
  while (true) {
    CUZK_TRY_ASSIGN(const bool another, proofs.next());
    if (!another) break;
    const ByteSpan proof = proofs.bytes(1);
    request.resumed->proofs[static_cast<uint32_t>(proofs.integer(0))].assign(proof.begin(), proof.end());
  }
  request.parse = [this, number = job.number, parse]() -> Result<std::shared_ptr<const groth16::CircuitSource>> {
    CUZK_TRY_ASSIGN(std::string payload, read_payload(number));
    return parse(std::move(payload));
  };
  return request;
}

Result<std::string> Journal::read_payload(uint64_t number) {
  std::lock_guard lock(database_mutex_);
  CUZK_TRY_ASSIGN(Query row, Query::make(database_.handle, "SELECT checksum FROM jobs WHERE number = ?", number));
  CUZK_TRY_ASSIGN(const bool found, row.next());
  if (!found) return fail(Code::kIo, "input lost: the journal does not hold the request any more; send it again");
  CUZK_TRY_ASSIGN(Payload blob, Payload::open(database_.handle, number, false));
  CUZK_TRY_ASSIGN(std::string payload, blob.read());
  if (std::ranges::equal(row.bytes(0), hash::sha256(as_bytes(payload)))) return payload;
  return fail(Code::kIo, "input lost: the journal holds a damaged request; send it again");
}

// --- what is told

void Journal::accepted(const engine::Job& job, std::function<std::string()> payload) {
  tell([this, record = record_of(job), priority = job.priority, payload = std::move(payload)]() -> Status {
    CUZK_TRY_ASSIGN(const std::string bytes, engine::guarded<std::string>([&] { return payload(); }));
    return insert_job(record, priority, bytes);
  });
}

void Journal::proved(const engine::Job& job, uint32_t partition, ByteSpan proof) {
  tell([this, number = job.number, partition, bytes = Bytes(proof.begin(), proof.end())] {
    return run(database_.handle,
               "INSERT OR REPLACE INTO proofs SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM jobs WHERE number = ?1)",
               number, partition, ByteSpan(bytes));
  });
}

void Journal::ended(const engine::Job& job) {
  tell([this, record = record_of(job), now = unix_ms()] { return insert_result(record, now); });
}

void Journal::forgotten(const engine::Job& job) {
  tell([this, number = job.number] { return run(database_.handle, "DELETE FROM jobs WHERE number = ?", number); });
}

void Journal::settle() {
  std::unique_lock lock(mutex_);
  settled_.wait(lock, [&, mark = events_told_] { return events_written_ >= mark; });
}

Journal::Condition Journal::condition() const {
  std::lock_guard lock(mutex_);
  return condition_;
}

void Journal::tell(Event event) {
  std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
  events_told_++;
  told_.notify_one();
}

// --- writing

void Journal::write_events() {
  std::unique_lock lock(mutex_);
  while (true) {
    told_.wait(lock, [&] { return stopping_ || !events_.empty(); });
    if (events_.empty()) return;
    std::deque<Event> events;
    events.swap(events_);
    lock.unlock();
    for (size_t first = 0; first < events.size();) {
      const size_t count = write(events, first);
      first += count;
      std::lock_guard counting(mutex_);
      events_written_ += count;
      settled_.notify_all();
    }
    lock.lock();
  }
}

// One transaction; says how many events it took. Where it fails, they are tried once more, each alone.
size_t Journal::write(const std::deque<Event>& events, size_t first) {
  std::lock_guard lock(database_mutex_);
  size_t count = 0;
  const Status together = transaction([&]() -> Status {
    for (written_bytes_ = 0; first + count < events.size() && written_bytes_ < kTransactionBytes;)
      CUZK_TRY(events[first + count++]());
    return {};
  });
  count = std::max<size_t>(count, 1);
  std::vector<Error> errors;
  for (size_t i = first; !together && i < first + count; i++) {
    if (Status alone = transaction(events[i]); !alone) errors.push_back(std::move(alone).error());
  }
  (void)take_stock();  // it fails where writing did
  std::lock_guard counting(mutex_);
  if (!condition_.error && !errors.empty())
    log::warn("journal: {}; until it is written again, jobs would not survive a restart", errors.front().message);
  if (condition_.error && errors.empty()) log::info("journal: written again");
  condition_.lost += errors.size();
  condition_.error = errors.empty() ? std::nullopt : std::optional(std::move(errors.back()));
  return count;
}

Status Journal::transaction(const std::function<Status()>& body) {
  CUZK_TRY(run(database_.handle, "BEGIN IMMEDIATE"));
  Status done = body();
  if (done) done = run(database_.handle, "COMMIT");
  if (!done) (void)run(database_.handle, "ROLLBACK");  // SQLite may have done so itself
  return done;
}

Status Journal::insert_job(const engine::Ended& job, engine::Priority priority, const std::string& payload) {
  sqlite3* database = database_.handle;
  const uint64_t bytes = payload.size() + kRowBytes;
  auto written = [&]() -> Status {
    CUZK_TRY(run(database, "DELETE FROM jobs WHERE id = ?", job.id));
    CUZK_TRY(make_room(bytes));
    CUZK_TRY(run(database, "INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, x'', '', '', x'', ?)", job.number,
                 job.id, job.kind, static_cast<int>(priority), ByteSpan(job.payload_digest), kOpen, bytes,
                 ByteSpan(hash::sha256(as_bytes(payload))), Zeros{payload.size()}));
    CUZK_TRY_ASSIGN(Payload blob, Payload::open(database, job.number, true));
    return blob.write(payload);
  }();
  written_bytes_ += payload.size();
  if (written) return {};
  return tl::unexpected(std::move(written).error().within(fmt::format("job '{}'", engine::printable(job.id))));
}

Status Journal::insert_result(const engine::Ended& job, int64_t ended_ms) {
  sqlite3* database = database_.handle;
  CUZK_TRY(run(database, "DELETE FROM jobs WHERE number = ?", job.number));
  const Bytes& proof = job.outcome.proof;
  const std::string message = job.outcome.error ? job.outcome.error->message : "";
  const uint64_t bytes = proof.size() + message.size() + kRowBytes;
  CUZK_TRY(make_room(bytes));
  // Its id may have gone to another job.
  return run(database,
             "INSERT INTO jobs SELECT ?1, ?2, ?3, 0, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, x'' "
             "WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE id = ?2)",
             job.number, job.id, job.kind, ByteSpan(job.payload_digest), name_of(job.outcome.state), bytes, ended_ms,
             ByteSpan(hash::sha256(proof)), ByteSpan(proof),
             job.outcome.error ? code_name(job.outcome.error->code) : std::string_view(), message,
             ByteSpan(encode_times(job.outcome)));
}

// The oldest results go, as many as stand before the bytes that are lacking.
Status Journal::make_room(uint64_t bytes) {
  sqlite3* database = database_.handle;
  CUZK_TRY_ASSIGN(Query query,
                  Query::make(database, "SELECT total(bytes), total(bytes) FILTER (WHERE state = ?) FROM jobs", kOpen));
  CUZK_TRY(query.next());
  const uint64_t used = static_cast<uint64_t>(query.integer(0)), open = static_cast<uint64_t>(query.integer(1));
  if (open + bytes > max_bytes_) {
    return fail(Code::kResourceExhausted, "{} are wanted, and jobs that have not ended take {} of {}",
                engine::readable_size(bytes), engine::readable_size(open), engine::readable_size(max_bytes_));
  }
  if (used + bytes <= max_bytes_) return {};
  return run(database,
             "DELETE FROM jobs WHERE number IN (SELECT number FROM (SELECT number, sum(bytes) OVER (ORDER BY ended, "
             "number) - bytes AS before FROM jobs WHERE state <> ?) WHERE before < ?)",
             kOpen, used + bytes - max_bytes_);
}

}  // namespace cuzk::service
