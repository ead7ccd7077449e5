#include "engine/engine.h"

#include <algorithm>

#include "base/log.h"
#include "engine/guarded.h"

namespace cuzk::engine {

std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

namespace {

void log_end(const Job& job) {
  auto in_seconds = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
  if (job.error) {
    log::warn("job '{}' ({}): {}: {}", printable(job.id), job.kind, code_name(job.error->code),
              printable(job.error->message));
    return;
  }
  std::string stages;
  for (size_t i = 0; i < kStages; i++)
    stages += fmt::format(" {} {:.3f}", kStageNames[i], in_seconds(job.times.spent[i]));
  log::info("job '{}' ({}): completed in {:.3f} s:{}", printable(job.id), job.kind,
            in_seconds(job.ended - job.submitted), stages);
}

}  // namespace

Engine::Engine(Options options, CircuitStore& circuits, ParamsStore& params, Backend& backend, exec::Pool& pool)
    : options_(std::move(options)), circuits_(circuits), params_(params), backend_(backend), pool_(pool) {
  for (size_t i = 0; i < options_.workers; i++) workers_.emplace_back([this] { work(); });
}

Engine::~Engine() {
  drain();
  std::lock_guard lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
}

Result<Ticket> Engine::find(const std::string& id) {
  std::lock_guard lock(mutex_);
  forget_old_results();
  auto found = jobs_.find(id);
  if (found == jobs_.end()) return fail(Code::kNotFound, "job not found: {}", id);
  return Ticket{found->second, static_cast<uint32_t>(waiting_)};
}

std::optional<Outcome> Engine::await(const Ticket& ticket, std::optional<Clock::duration> timeout) {
  std::unique_lock lock(mutex_);
  const Job& job = *ticket.job;
  auto ended = [&] { return is_final(job.state); };
  if (!timeout) {
    changed_.wait(lock, ended);
  } else if (!changed_.wait_for(lock, *timeout, ended)) {
    return std::nullopt;
  }
  return Outcome{job.state, job.state == State::kCompleted ? job.proof : Bytes{}, job.error, job.times,
                 job.ended - job.submitted};
}

Snapshot Engine::snapshot() {
  Snapshot snapshot;
  snapshot.params = params_.loaded();
  std::lock_guard lock(mutex_);
  forget_old_results();
  for (const auto& [id, job] : jobs_) {
    if (is_final(job->state)) continue;
    KindCount& count = snapshot.kinds[job->kind];
    (job->state == State::kRunning ? count.running : count.waiting)++;
  }
  snapshot.completed = completed_;
  snapshot.failed = failed_;
  return snapshot;
}

bool Engine::drain(std::optional<Clock::duration> limit) {
  std::unique_lock lock(mutex_);
  draining_ = true;
  for (const auto& [id, job] : jobs_) {
    if (job->state == State::kRunning) continue;
    conclude(*job, State::kFailed,
             Error{Code::kUnavailable, "the engine is shutting down; send the request again later"});
  }
  auto idle = [&] { return open_ == 0 && busy_ == 0 && parsing_ == 0; };
  if (limit) return changed_.wait_for(lock, *limit, idle);
  changed_.wait(lock, idle);
  return true;
}

void Engine::abandon() {
  std::lock_guard lock(mutex_);
  for (const auto& [id, job] : jobs_) {
    conclude(*job, State::kFailed, Error{Code::kUnavailable, "the engine shut down; send the request again later"});
  }
}

void Engine::conclude(Job& job, State state, std::optional<Error> error) {
  if (is_final(job.state)) return;
  if (job.state != State::kRunning) waiting_--;
  open_--;
  (state == State::kCompleted ? completed_ : failed_) += state != State::kCancelled;
  job.state = state;
  job.error = std::move(error);
  job.ended = options_.now();
  log_end(job);
  std::erase_if(tasks_, [&](const auto& entry) { return entry.second.job.get() == &job; });
  changed_.notify_all();
}

void Engine::add_task(Task task) {
  if (is_final(task.job->state)) return;
  TaskKey key = task.key();
  tasks_.emplace(key, std::move(task));
  changed_.notify_all();
}

void Engine::forget_old_results() {
  Clock::time_point oldest = options_.now() - options_.result_ttl;
  std::erase_if(jobs_,
                [&](const auto& entry) { return is_final(entry.second->state) && entry.second->ended < oldest; });
}

void Engine::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    Task task = std::move(tasks_.extract(tasks_.begin()).mapped());
    std::shared_ptr<Job> job = task.job;
    if (job->state == State::kWaiting) {
      job->state = State::kRunning;
      job->times[Stage::kWait] = options_.now() - job->enqueued;
      waiting_--;
    }
    busy_++;
    lock.unlock();
    Status ran = guarded<void>([&]() -> Status {
      run_task(std::move(task));
      return {};
    });
    if (!ran) fail_job(*job, std::move(ran).error());
    job.reset();
    lock.lock();
    busy_--;
    changed_.notify_all();
  }
}

}  // namespace cuzk::engine
