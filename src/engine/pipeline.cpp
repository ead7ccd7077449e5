// The path of a job: admit -> parse -> (synthesise -> start -> finish -> verify -> place), the bracket once a
// partition. A circuit and its parameters are loaded before the first partition that needs them. Each stage begins when
// the scheduler says so, has its memory by then, and the scheduler hears when it has ended.

#include <algorithm>

#include "base/log.h"
#include "engine/engine.h"
#include "engine/guarded.h"
#include "groth16/verify.h"

namespace cuzk::engine {

Result<Ticket> Engine::submit(Request request) {
  CUZK_TRY_ASSIGN(Admission admission, admit(request));
  Job& job = *admission.ticket.job;
  if (request.resumed) return admission.ticket;
  if (!admission.joined) {
    if (auto statement = await_turn(job)) parse(job, std::move(statement), request.parse);
  }
  if (options_.recorder) options_.recorder->settle();
  return admission.ticket;
}

void Engine::carry_out(const Decision& decision) {
  using Kind = Decision::Kind;
  switch (decision.kind) {
    case Kind::kParse: return let_parse(decision);
    case Kind::kLoadCircuit:
    case Kind::kLoadParams: return post_load(decision);
    case Kind::kEvict: return post([this, decision] { evict_resident(decision); });
    case Kind::kSynthesise: return post_stage(decision, &Engine::synthesise, &Scheduler::synthesised);
    case Kind::kStart: return post_stage(decision, &Engine::start, &Scheduler::started);
    case Kind::kFinish: return post_stage(decision, &Engine::finish, &Scheduler::finished);
    case Kind::kDrop: return post([this, decision] { drop(decision.id()); });
    case Kind::kOverdue: return note_overdue(decision);
    case Kind::kEnd: return conclude(decision);
  }
}

// --- stages

namespace {

uint64_t verify_bytes(const r1cs::Circuit& circuit, size_t threads) {
  return groth16::verify_bytes(circuit.num_inputs - 1, threads);
}

tl::unexpected<Error> in_partition(const Work& work, std::string_view what, Error error) {
  return tl::unexpected(std::move(error).within(fmt::format("partition {} {} failed", work.partition, what)));
}

}  // namespace

CircuitNeeds needs_of(const r1cs::Circuit& circuit, std::span<Backend* const> backends, size_t threads) {
  CircuitNeeds needs{circuit.bytes(), r1cs::witness_bytes(circuit), {}};
  for (const Backend* backend : backends) {
    Needs& there = needs.devices.emplace_back(backend->needs(circuit));
    there.start.host += verify_bytes(circuit, threads);
    there.pending.host += verify_bytes(circuit, threads);
  }
  return needs;
}

Result<Engine::Admission> Engine::admit(Request& request) {
  std::lock_guard lock(mutex_);
  forget_old_results();
  const Time now = options_.now();
  const auto position = static_cast<uint32_t>(scheduler_.waiting());
  auto known = jobs_.find(request.id);
  if (known != jobs_.end()) {
    const Job& job = *known->second;
    const bool worth_keeping = job.state != State::kFailed && job.state != State::kCancelled;
    if (worth_keeping && job.payload_digest == request.payload_digest) {
      known->second->keep |= request.keep;
      return Admission{{known->second, position}, true};
    }
  }
  JobSpec spec{request.priority, request.bytes, std::nullopt, request.resumed.has_value()};
  if (request.time_limit) spec.deadline = now + *request.time_limit;
  const JobId number = request.resumed ? request.resumed->number : next_job_;
  if (Status admitted = scheduler_.admit(number, spec, now); !admitted) {
    refused_[admitted.error().code]++;
    return tl::unexpected(std::move(admitted).error());
  }
  if (known != jobs_.end()) {
    scheduler_.end(known->second->number, State::kCancelled,
                   {Code::kCancelled, "superseded: the same id came with another payload"}, now);
  }
  next_job_ = std::max(next_job_, number + 1);
  auto job = std::make_shared<Job>(
      Job{std::move(request.id), std::move(request.kind), request.priority, request.payload_digest, number, now});
  job->keep = request.keep;
  if (request.resumed) {
    job->parse = std::move(request.parse);
    job->known = std::move(request.resumed->proofs);
  } else if (options_.recorder) {
    options_.recorder->accepted(*job, std::move(request.payload));
  }
  jobs_[job->id] = open_[job->number] = job;
  round();
  return Admission{{job, position}, false};
}

void Engine::parse(Job& job, std::shared_ptr<Statement> statement, const std::function<Result<Source>()>& to_source) {
  Status made = timed(job, {Stage::kParse}, [&]() -> Status {
    CUZK_TRY(statement->granted);
    CUZK_TRY_ASSIGN(statement->source, guarded<Source>(to_source));
    if (statement->source->partitions() > 0) return {};
    return fail(Code::kInvalidInput, "the payload holds no partition to prove");
  });
  std::lock_guard lock(mutex_);
  Result<Scheduler::Parsed> parsed = Scheduler::Parsed{};
  if (!made) {
    job.statement.reset();
    parsed = tl::unexpected(std::move(made).error());
  } else if (!is_final(job.state)) {
    const uint32_t partitions = statement->source->partitions();
    job.circuit = scheduler_.circuit(statement->source->circuit_id());
    job.partitions = partitions;
    job.state = State::kWaiting;
    job.enqueued = options_.now();
    job.proof.resize(groth16::kProofBytes * partitions);
    parsed = Scheduler::Parsed{job.circuit, partitions};
  }
  statement.reset();  // before its memory goes to others
  parsing_--;
  scheduler_.parsed(job.number, std::move(parsed), options_.now());
  round();
}

void Engine::load_circuit(size_t circuit, const CircuitStore::Compile& compile, Result<Memory> memory) {
  const std::string id = name_of(circuit);
  const Clock::time_point begin = options_.now();
  auto loaded = guarded<CircuitNeeds>([&]() -> Result<CircuitNeeds> {
    if (!memory) return tl::unexpected(memory.error());
    // Without parameters there is nothing to compile it for.
    CUZK_TRY_ASSIGN(const std::filesystem::path params_path, params_.locate(id));
    CUZK_TRY_ASSIGN(CircuitStore::Circuit made, circuits_.load(id, compile));
    std::vector<Backend*> backends;
    for (const Device& device : devices_) backends.push_back(device.backend);
    CircuitNeeds needs = needs_of(*made, backends, pool_.threads());
    for (size_t d = 0; d < backends.size(); d++)
      needs.devices[d].params = backends[d]->params_needs(*made, params_path);
    if (needs.circuit_bytes > memory->host.bytes()) return needs;  // the scheduler refuses it
    memory->host.shrink_to(needs.circuit_bytes);
    circuits_.put(id, {.value = std::move(made),
                       .bytes = needs.circuit_bytes,
                       .load_time = options_.now() - begin,
                       .memory = std::move(*memory),
                       .entries = add(ledger_, Class::kCircuit, Class::kCircuit, {needs.circuit_bytes, 0})});
    return needs;
  });
  memory = Memory{};
  std::lock_guard lock(mutex_);
  note_load(circuit, Stage::kCircuit, options_.now() - begin, loaded ? Status() : tl::unexpected(loaded.error()));
  scheduler_.circuit_loaded(circuit, std::move(loaded), options_.now());
  round();
}

void Engine::load_params(size_t circuit, size_t device, Result<Memory> memory) {
  const std::string id = name_of(circuit);
  const Clock::time_point begin = options_.now();
  uint64_t on_host = UINT64_MAX;
  Status loaded = guarded<void>([&]() -> Status {
    if (!memory) return tl::unexpected(memory.error());
    const uint64_t on_device = memory->device.bytes();
    CUZK_TRY_ASSIGN(std::shared_ptr<const Params> made,
                    params_.load(id, *circuits_.find(id), *devices_[device].backend, std::move(*memory)));
    const uint64_t mapped = made->mapped_bytes();
    on_host = made->host_bytes();
    auto entries = mapped > 0 ? add(ledger_, Class::kMappedParams, Class::kDeviceParams, {mapped, on_device})
                              : add(ledger_, Class::kParams, Class::kDeviceParams, {on_host, on_device});
    params_.put(id, device,
                {.value = std::move(made),
                 .bytes = mapped + on_host + on_device,
                 .load_time = options_.now() - begin,
                 .entries = std::move(entries)});
    return {};
  });
  memory = Memory{};
  std::lock_guard lock(mutex_);
  note_load(circuit, Stage::kParams, options_.now() - begin, loaded);
  scheduler_.params_shrunk(circuit, device, on_host);
  scheduler_.params_loaded(circuit, device, std::move(loaded), options_.now());
  round();
}

void Engine::evict_resident(const Decision& decision) {
  const size_t circuit = decision.circuit, device = decision.device;
  const std::string id = name_of(circuit);
  if (decision.doubted) {
    log::warn({{"circuit", id}, {"device", devices_[device].spec.name}},
              "a proof did not verify although its witness holds: the parameters are dropped, to be loaded and checked "
              "again");
    params_.forget_check(id);
  }
  device == kNoDevice ? circuits_.evict(id) : params_.evict(id, device);
  std::lock_guard lock(mutex_);
  scheduler_.evicted(circuit, device, options_.now());
  round();
}

Status Engine::synthesise(Work& work) {
  if (!work.proof.empty()) return {};  // it cannot be verified before the parameters are there
  const r1cs::Circuit& circuit = *work.setting.circuit;
  auto witness = timed(*work.job, work.span(Stage::kSynthesise), [&]() -> Result<r1cs::Witness> {
    CUZK_TRY_ASSIGN(auto memory, work.memory.host.split(r1cs::witness_bytes(circuit)));
    return work.statement->source->synthesise(work.partition, circuit, std::move(memory));
  });
  if (!witness) return in_partition(work, "synthesis", std::move(witness).error());
  if (work.check_rows) CUZK_TRY(check(work, *witness));
  work.witness = std::move(*witness);
  return {};
}

// A proof of this partition did not verify. Where the witness is the reason, another attempt is of no use.
Status Engine::check(const Work& work, const r1cs::Witness& witness) {
  Error cause = groth16::explain_failure(*work.setting.circuit, witness, pool_);
  if (cause.code == Code::kUnsatisfied) return in_partition(work, "prove", std::move(cause));
  CUZK_TRY_ASSIGN(std::vector<Fr> inputs, work.statement->source->public_inputs(work.partition));
  if (!std::equal(inputs.begin(), inputs.end(), witness.inputs.begin() + 1, witness.inputs.end()))
    return fail(Code::kInternal, "partition {}: the witness has other public inputs than the statement",
                work.partition);
  return {};
}

Status Engine::start(Work& work) {
  CUZK_TRY_ASSIGN(auto verification, work.memory.host.split(verify_bytes(*work.setting.circuit, pool_.threads())));
  CUZK_TRY_ASSIGN(work.verification, mem::Buffer::make(std::move(verification)));
  if (!work.proof.empty()) {
    if (known_proof_holds(work)) {
      work.memory = {};
      work.verification = {};
      work.entries = {};
      return {};
    }
    work.proof.clear();
    CUZK_TRY(synthesise(work));
  }
  Backend& backend = *devices_[work.device].backend;
  const Needs needs = backend.needs(*work.setting.circuit);
  work.scratch = add(ledger_, Class::kEvaluations, Class::kDeviceScratch, needs.start);
  auto pending = timed(*work.job, work.span(Stage::kStart), [&] {
    return backend.start(work.setting, *std::exchange(work.witness, std::nullopt), std::move(work.memory));
  });
  work.scratch = {};
  if (!pending) return in_partition(work, "prove", std::move(pending).error());
  work.entries = add(ledger_, Class::kPending, Class::kDeviceScratch,
                     {needs.pending.host + work.verification.bytes().size(), needs.pending.device});
  work.pending = std::move(*pending);
  return {};
}

Status Engine::finish(Work& work) {
  if (work.proof.empty()) {
    auto proof = timed(*work.job, work.span(Stage::kFinish), [&] { return work.pending->finish(); });
    work.pending.reset();
    if (!proof) return in_partition(work, "prove", std::move(proof).error());
    CUZK_TRY(verify(work, *proof));
    const auto bytes = groth16::encode_proof(*proof);
    work.proof.assign(bytes.begin(), bytes.end());
  }
  place(work);
  return {};
}

Status Engine::verify(const Work& work, const groth16::Proof& proof) {
  return timed(*work.job, work.span(Stage::kVerify), [&]() -> Status {
    CUZK_TRY_ASSIGN(std::vector<Fr> inputs, work.statement->source->public_inputs(work.partition));
    CUZK_TRY_ASSIGN(bool holds,
                    groth16::verify(work.setting.params->verifying, inputs, proof, work.verification.bytes(), pool_));
    if (holds) return {};
    return fail(Code::kVerifyFailed, "partition {}: the proof made here does not verify", work.partition);
  });
}

bool Engine::known_proof_holds(const Work& work) {
  const Result<groth16::Proof> proof = groth16::decode_proof(work.proof);
  const Status holds = proof ? verify(work, *proof) : tl::unexpected(proof.error());
  if (!holds) {
    log::warn({{"job", work.job->id}, {"partition", uint64_t{work.partition}}},
              "the proof kept from before does not hold, another one is made: {}", holds.error().message);
  }
  return holds.has_value();
}

void Engine::place(const Work& work) {
  std::lock_guard lock(mutex_);
  if (is_final(work.job->state)) return;
  std::copy(work.proof.begin(), work.proof.end(),
            work.job->proof.begin() + static_cast<ptrdiff_t>(work.partition * groth16::kProofBytes));
  if (options_.recorder) options_.recorder->proved(*work.job, work.partition, work.proof);
}

}  // namespace cuzk::engine
