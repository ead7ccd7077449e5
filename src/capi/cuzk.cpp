#include "capi/cuzk.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/log.h"
#include "groth16/files.h"
#include "groth16/verify.h"
#include "service/parts.h"
#include "service/wiring.h"

namespace {

using namespace cuzk;

constexpr int number_of(Code code) { return static_cast<int>(code) + 1; }
static_assert(number_of(Code::kInvalidInput) == CUZK_INVALID_INPUT);
static_assert(number_of(Code::kInvalidParams) == CUZK_INVALID_PARAMS);
static_assert(number_of(Code::kUnsatisfied) == CUZK_UNSATISFIED);
static_assert(number_of(Code::kVerifyFailed) == CUZK_VERIFY_FAILED);
static_assert(number_of(Code::kNotFound) == CUZK_NOT_FOUND);
static_assert(number_of(Code::kUsage) == CUZK_USAGE);
static_assert(number_of(Code::kTooLarge) == CUZK_TOO_LARGE);
static_assert(number_of(Code::kResourceExhausted) == CUZK_RESOURCE_EXHAUSTED);
static_assert(number_of(Code::kUnavailable) == CUZK_UNAVAILABLE);
static_assert(number_of(Code::kDeadline) == CUZK_DEADLINE);
static_assert(number_of(Code::kCancelled) == CUZK_CANCELLED);
static_assert(number_of(Code::kIo) == CUZK_IO);
static_assert(number_of(Code::kUnimplemented) == CUZK_UNIMPLEMENTED);
static_assert(number_of(Code::kInternal) == CUZK_INTERNAL);
static_assert(CUZK_PROOF_BYTES == groth16::kProofBytes);

// The only thing that is global: who embeds the library has nothing on stderr.
void silence_once() {
  static std::once_flag once;
  std::call_once(once, [] { log::redirect({}); });
}

int tell(cuzk_error* out, Code code, std::string_view message) noexcept {
  if (out) {
    out->code = number_of(code);
    const size_t length = std::min(message.size(), sizeof out->message - 1);
    std::memcpy(out->message, message.data(), length);
    out->message[length] = 0;
  }
  return number_of(code);
}

// The border: what the body returns or throws becomes a code.
template <class Body>
int answer(cuzk_error* out, Body&& body) noexcept {
  try {
    silence_once();
    if (const Status done = body(); !done) return tell(out, done.error().code, done.error().message);
    return CUZK_OK;
  } catch (const std::bad_alloc&) {
    return tell(out, Code::kResourceExhausted, "out of memory");
  } catch (const std::exception& exception) {
    return tell(out, Code::kInternal, exception.what());
  }
}

// The same where there is nobody to tell.
template <class Body>
void quietly(Body&& body) noexcept {
  answer(nullptr, [&]() -> Status {
    body();
    return {};
  });
}

ByteSpan span_of(const cuzk_bytes& bytes) { return {bytes.data, bytes.length}; }

Result<service::Payload> payload_of(const cuzk_request* request) {
  if (!request) return fail(Code::kUsage, "there is no request");
  if (request->size != sizeof *request)
    return fail(Code::kUsage, "cuzk_request.size is {}, {} is wanted", request->size, sizeof *request);
  if (request->kind < CUZK_POREP || request->kind > CUZK_WINNING_POST)
    return fail(Code::kInvalidInput, "no such kind of proof: {}", request->kind);
  service::Payload payload{.kind = static_cast<service::ProofKind>(request->kind),
                           .registered_proof = request->registered_proof,
                           .sector_number = request->sector_number,
                           .miner_id = request->miner_id,
                           .vanilla_proof = span_of(request->vanilla_proof),
                           .randomness = span_of(request->randomness),
                           .partition_index = request->partition_index,
                           .comm_r_old = span_of(request->comm_r_old),
                           .comm_r_new = span_of(request->comm_r_new),
                           .comm_d_new = span_of(request->comm_d_new)};
  for (size_t i = 0; i < request->vanilla_proof_count; i++)
    payload.vanilla_proofs.push_back(span_of(request->vanilla_proofs[i]));
  return payload;
}

struct Embedded {
  const service::Config config;
  service::Parts parts;

  Embedded(service::Config read, const service::Machine& machine)
      : config(std::move(read)), parts(config, machine, nullptr) {}
};

}  // namespace

struct cuzk_engine {
  std::shared_ptr<Embedded> embedded;
};

// One that waits for the job as long as it lives.
struct cuzk_job {
  const std::shared_ptr<Embedded> embedded;
  const engine::Ticket ticket;

  cuzk_job(std::shared_ptr<Embedded> owner, engine::Ticket job) : embedded(std::move(owner)), ticket(std::move(job)) {
    embedded->parts.engine.watch(ticket);
  }
  ~cuzk_job() { embedded->parts.engine.unwatch(ticket); }
  cuzk_job(const cuzk_job&) = delete;
  cuzk_job& operator=(const cuzk_job&) = delete;
};

namespace {

Result<std::unique_ptr<cuzk_job>> start(cuzk_engine& engine, const cuzk_request* request) {
  CUZK_TRY_ASSIGN(const service::Payload payload, payload_of(request));
  service::Parts& parts = engine.embedded->parts;
  const service::MakeSource make_source = service::filecoin_sources(parts.pool);
  engine::Request wanted =
      service::engine_request(request->id ? request->id : "", request->priority, payload, make_source);
  if (!request->id) wanted.id = to_hex(wanted.payload_digest);
  CUZK_TRY_ASSIGN(engine::Ticket ticket, parts.engine.submit(std::move(wanted)));
  return std::make_unique<cuzk_job>(engine.embedded, std::move(ticket));
}

Status finish(const cuzk_job& job, int64_t timeout_ms, uint8_t* proof, size_t& length) {
  constexpr int64_t kYear = int64_t{365} * 24 * 3600 * 1000;
  std::optional<engine::Clock::duration> timeout;
  if (timeout_ms >= 0) timeout = std::chrono::milliseconds(std::min(timeout_ms, kYear));
  const size_t room = std::exchange(length, 0);
  const std::optional<engine::Outcome> outcome = job.embedded->parts.engine.await(job.ticket, timeout);
  if (!outcome) return fail(Code::kDeadline, "the proof is not ready; the job goes on");
  if (outcome->error) return tl::unexpected(*outcome->error);
  length = outcome->proof.size();
  if (room < length) return fail(Code::kTooLarge, "the proof has {} bytes, the buffer {}", length, room);
  std::memcpy(proof, outcome->proof.data(), length);
  return {};
}

Status verify(const cuzk_request* request, const char* vk_path, ByteSpan bytes) {
  CUZK_TRY_ASSIGN(const service::Payload payload, payload_of(request));
  CUZK_TRY_ASSIGN(groth16::VerifyingKey vk, groth16::read_vk(vk_path));
  exec::Pool pool;
  CUZK_TRY_ASSIGN(const auto source, filecoin::make_source(payload, pool));
  std::vector<std::vector<Fr>> inputs(source->partitions());
  for (uint32_t i = 0; i < inputs.size(); i++) {
    CUZK_TRY_ASSIGN(inputs[i], source->public_inputs(i));
  }
  const size_t wanted = inputs.size() * groth16::kProofBytes;
  if (bytes.size() != wanted)
    return fail(Code::kInvalidInput, "a proof of {} partitions has {} bytes, not {}", inputs.size(), wanted,
                bytes.size());
  const Result<std::vector<groth16::Proof>> proofs = groth16::decode_proofs(bytes);
  if (!proofs) return fail(Code::kVerifyFailed, "{}", proofs.error().message);
  CUZK_TRY_ASSIGN(const bool holds, groth16::verify_batch(groth16::prepare(std::move(vk)), inputs, *proofs, pool));
  return holds ? Status() : fail(Code::kVerifyFailed, "the proof does not hold");
}

}  // namespace

const char* cuzk_version(void) { return CUZK_VERSION; }

const char* cuzk_code_name(int code) {
  if (code == CUZK_OK) return "ok";
  if (code < CUZK_OK || code > CUZK_INTERNAL) return nullptr;
  return code_name(static_cast<Code>(code - 1)).data();
}

void cuzk_log_to(cuzk_log_function function, void* context) {
  quietly([&] {
    log::Sink sink;
    if (function) {
      sink = [=](log::Level level, std::string_view line) {
        function(context, static_cast<int>(level), std::string(line).c_str());
      };
    }
    log::redirect(std::move(sink));
  });
}

int cuzk_engine_new(const char* toml, cuzk_engine** engine, cuzk_error* error) {
  return answer(error, [&]() -> Status {
    CUZK_TRY_ASSIGN(service::Config config, service::parse_config(toml, "configuration"));
    log::configure(config.log_level, false);
    for (const std::string& warning : config.warnings) log::warn("{}", warning);
    CUZK_TRY_ASSIGN(const service::Machine machine, service::check_machine(config));
    *engine = new cuzk_engine{std::make_shared<Embedded>(std::move(config), machine)};
    return {};
  });
}

void cuzk_engine_free(cuzk_engine* engine) {
  if (!engine) return;
  quietly([&] {
    engine->embedded->parts.engine.abandon();
    delete engine;
  });
}

int cuzk_prove(cuzk_engine* engine, const cuzk_request* request, uint8_t* proof, size_t* length, cuzk_error* error) {
  return answer(error, [&]() -> Status {
    CUZK_TRY_ASSIGN(const auto job, start(*engine, request));
    return finish(*job, -1, proof, *length);
  });
}

int cuzk_start(cuzk_engine* engine, const cuzk_request* request, cuzk_job** job, cuzk_error* error) {
  return answer(error, [&]() -> Status {
    CUZK_TRY_ASSIGN(auto started, start(*engine, request));
    *job = started.release();
    return {};
  });
}

int cuzk_finish(cuzk_job* job, int64_t timeout_ms, uint8_t* proof, size_t* length, cuzk_error* error) {
  return answer(error, [&] { return finish(*job, timeout_ms, proof, *length); });
}

void cuzk_cancel(cuzk_job* job) {
  quietly([&] { job->embedded->parts.engine.cancel(job->ticket); });
}

void cuzk_job_free(cuzk_job* job) {
  quietly([&] { delete job; });
}

int cuzk_verify(const cuzk_request* request, const char* vk_path, const uint8_t* proof, size_t length,
                cuzk_error* error) {
  return answer(error, [&] { return verify(request, vk_path, {proof, length}); });
}
