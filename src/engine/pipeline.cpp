// The path of a job: admit -> parse -> (load -> synthesise -> start) -> (finish -> verify -> place).
// admit and parse run on the thread that submits; each bracket is one task a partition, on any worker.

#include <algorithm>

#include "base/log.h"
#include "engine/engine.h"
#include "engine/guarded.h"
#include "groth16/verify.h"

namespace cuzk::engine {

Result<Ticket> Engine::submit(Request request) {
  auto to_source = std::move(request.parse);
  CUZK_TRY_ASSIGN(Admission admission, admit(std::move(request)));
  if (admission.joined) return admission.ticket;
  const std::shared_ptr<Job>& job = admission.ticket.job;
  if (Result<Source> source = parse(*job, to_source)) {
    enqueue(job, *source);
  } else {
    fail_job(*job, std::move(source).error());
  }
  return admission.ticket;
}

void Engine::run_task(Task task) {
  if (task.pending) {
    finish_partition(std::move(task));
  } else {
    start_partition(std::move(task));
  }
}

void Engine::start_partition(Task task) {
  if (Status loaded = load(task); !loaded) return fail_job(*task.job, std::move(loaded).error());
  Result<r1cs::Witness> witness = synthesise(task);
  if (!witness) return fail_job(*task.job, std::move(witness).error());
  if (Status started = start(task, std::move(*witness)); !started)
    return fail_job(*task.job, std::move(started).error());
  std::lock_guard lock(mutex_);
  add_task(std::move(task));
}

void Engine::finish_partition(Task task) {
  Result<groth16::Proof> proof = finish(task);
  if (!proof) return fail_job(*task.job, std::move(proof).error());
  if (Status verified = verify(task, *proof); !verified)
    return prove_again_or_fail(std::move(task), std::move(verified).error());
  place(task, *proof);
}

// --- stages

namespace {

tl::unexpected<Error> in_partition(const Task& task, std::string_view what, Error error) {
  return tl::unexpected(std::move(error).within(fmt::format("partition {} {} failed", task.partition, what)));
}

}  // namespace

Result<Engine::Admission> Engine::admit(Request request) {
  std::lock_guard lock(mutex_);
  forget_old_results();
  auto position = static_cast<uint32_t>(waiting_);
  auto known = jobs_.find(request.id);
  if (known != jobs_.end()) {
    const Job& job = *known->second;
    bool worth_keeping = job.state != State::kFailed && job.state != State::kCancelled;
    if (worth_keeping && job.payload_digest == request.payload_digest)
      return Admission{{known->second, position}, true};
  }
  if (draining_) return fail(Code::kUnavailable, "the engine is shutting down; send the request again later");
  if (waiting_ >= options_.max_waiting) {
    return fail(Code::kResourceExhausted, "{} jobs wait already, which is the limit; send the request again later",
                waiting_);
  }
  if (known != jobs_.end()) {
    conclude(*known->second, State::kCancelled,
             Error{Code::kCancelled, "superseded: the same id came with another payload"});
  }
  auto job = std::make_shared<Job>(Job{std::move(request.id), std::move(request.kind), request.priority,
                                       request.payload_digest, next_sequence_++, options_.now()});
  jobs_[job->id] = job;
  waiting_++;
  open_++;
  return Admission{{job, position}, false};
}

Result<Engine::Source> Engine::parse(Job& job, const std::function<Result<Source>()>& parse) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return parsing_ < options_.parsers; });
    parsing_++;
  }
  Result<Source> source = timed(job, Stage::kParse, [&] { return guarded<Source>(parse); });
  std::lock_guard lock(mutex_);
  parsing_--;
  changed_.notify_all();
  if (source && (*source)->partitions() == 0)
    return fail(Code::kInvalidInput, "the payload holds no partition to prove");
  return source;
}

void Engine::enqueue(const std::shared_ptr<Job>& job, const Source& source) {
  std::lock_guard lock(mutex_);
  if (is_final(job->state)) return;
  job->state = State::kWaiting;
  job->enqueued = options_.now();
  job->proofs_left = source->partitions();
  job->proof.resize(groth16::kProofBytes * job->proofs_left);
  for (uint32_t partition = 0; partition < job->proofs_left; partition++) add_task({job, source, partition});
}

Status Engine::load(Task& task) {
  CUZK_TRY_ASSIGN(task.setting.circuit, timed(*task.job, Stage::kCircuit, [&] { return circuits_.get(*task.source); }));
  CUZK_TRY_ASSIGN(task.setting.params, timed(*task.job, Stage::kParams, [&] {
                    return params_.get(task.source->circuit_id(), *task.setting.circuit);
                  }));
  return {};
}

Result<r1cs::Witness> Engine::synthesise(const Task& task) {
  auto witness = timed(*task.job, Stage::kSynthesise,
                       [&] { return task.source->synthesise(task.partition, *task.setting.circuit); });
  if (!witness) return in_partition(task, "synthesis", std::move(witness).error());
  return witness;
}

Status Engine::start(Task& task, r1cs::Witness witness) {
  auto pending = timed(*task.job, Stage::kStart, [&] { return backend_.start(task.setting, std::move(witness)); });
  if (!pending) return in_partition(task, "prove", std::move(pending).error());
  task.pending = std::move(*pending);
  return {};
}

Result<groth16::Proof> Engine::finish(Task& task) {
  auto proof = timed(*task.job, Stage::kFinish, [&] { return task.pending->finish(); });
  task.pending.reset();
  if (!proof) return in_partition(task, "prove", std::move(proof).error());
  return proof;
}

Status Engine::verify(const Task& task, const groth16::Proof& proof) {
  return timed(*task.job, Stage::kVerify, [&]() -> Status {
    CUZK_TRY_ASSIGN(std::vector<Fr> inputs, task.source->public_inputs(task.partition));
    CUZK_TRY_ASSIGN(bool holds, groth16::verify(task.setting.params->verifying, inputs, proof, pool_));
    if (holds) return {};
    return fail(Code::kVerifyFailed, "partition {}: the proof made here does not verify", task.partition);
  });
}

void Engine::prove_again_or_fail(Task task, Error error) {
  // A witness that breaks a row cannot be proved however often it is tried; anything else may have been the machine.
  if (Result<r1cs::Witness> witness = synthesise(task)) {
    Error cause = groth16::explain_failure(*task.setting.circuit, *witness, pool_);
    if (cause.code == Code::kUnsatisfied)
      return fail_job(*task.job, in_partition(task, "prove", std::move(cause)).value());
  }
  log::error("job '{}': {} (attempt {} of {})", printable(task.job->id), error.message, task.attempt,
             options_.attempts);
  if (task.attempt == options_.attempts) return fail_job(*task.job, std::move(error));
  task.attempt++;
  std::lock_guard lock(mutex_);
  add_task(std::move(task));
}

void Engine::place(const Task& task, const groth16::Proof& proof) {
  std::lock_guard lock(mutex_);
  Job& job = *task.job;
  if (is_final(job.state)) return;
  auto bytes = groth16::encode_proof(proof);
  std::copy(bytes.begin(), bytes.end(),
            job.proof.begin() + static_cast<ptrdiff_t>(task.partition * groth16::kProofBytes));
  if (--job.proofs_left == 0) conclude(job, State::kCompleted, std::nullopt);
}

void Engine::fail_job(Job& job, Error error) {
  std::lock_guard lock(mutex_);
  conclude(job, State::kFailed, std::move(error));
}

}  // namespace cuzk::engine
