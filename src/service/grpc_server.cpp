#include "service/grpc_server.h"

#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/resource_quota.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cuzk/v1/prover.grpc.pb.h"
#include "service/identity.h"
#include "service/listener.h"
#include "service/metrics.h"

namespace cuzk::service {
namespace {

using engine::Stage;

// A call that waits holds a thread; more calls than this at a time are refused with RESOURCE_EXHAUSTED.
constexpr int kMaxCalls = 1024;

grpc::StatusCode grpc_code(Code code) {
  switch (code) {
    case Code::kInvalidInput:
    case Code::kUsage: return grpc::StatusCode::INVALID_ARGUMENT;
    case Code::kNotFound: return grpc::StatusCode::NOT_FOUND;
    case Code::kTooLarge:
    case Code::kResourceExhausted: return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case Code::kUnavailable: return grpc::StatusCode::UNAVAILABLE;
    case Code::kDeadline: return grpc::StatusCode::DEADLINE_EXCEEDED;
    case Code::kCancelled: return grpc::StatusCode::CANCELLED;
    case Code::kUnimplemented: return grpc::StatusCode::UNIMPLEMENTED;
    default: return grpc::StatusCode::INTERNAL;
  }
}

grpc::Status to_grpc(const Error& error) { return {grpc_code(error.code), error.message}; }

uint64_t in_ms(engine::Clock::duration time) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

// Who runs many daemons sees which of them failed, and where in it.
std::string where_from(const engine::Outcome& outcome) {
  std::string text;
  if (outcome.origin) {
    const engine::Origin& origin = *outcome.origin;
    text = fmt::format("stage={} ", engine::kStageNames[static_cast<size_t>(origin.stage)]);
    if (origin.partition != engine::kWholeJob)
      text += fmt::format("partition={} attempt={} ", origin.partition, origin.attempt);
    if (!origin.device.empty()) text += fmt::format("device={} ", origin.device);
  }
  return fmt::format(" [{}host={} version={} retryable={}]", text, identity().host, identity().version,
                     retryable(outcome.error->code) ? "yes" : "no");
}

void fill(v1::AwaitProofResponse& response, const std::string& id, const std::optional<engine::Outcome>& outcome) {
  response.set_job_id(id);
  if (!outcome) {
    response.set_status(v1::AwaitProofResponse::TIMEOUT);
    response.set_error_message("deadline: the proof is not ready; the job goes on");
    return;
  }
  switch (outcome->state) {
    case engine::State::kCompleted: response.set_status(v1::AwaitProofResponse::COMPLETED); break;
    case engine::State::kCancelled: response.set_status(v1::AwaitProofResponse::CANCELLED); break;
    default: response.set_status(v1::AwaitProofResponse::FAILED); break;
  }
  response.set_proof(outcome->proof.data(), outcome->proof.size());
  if (outcome->error) {
    const std::string text = fmt::format("{}: {}", code_name(outcome->error->code), outcome->error->message);
    response.set_error_message(outcome->state == engine::State::kFailed ? text + where_from(*outcome) : text);
  }
  const engine::StageTimes& times = outcome->times;
  response.set_queue_wait_ms(in_ms(times[Stage::kWait]));
  response.set_srs_load_ms(in_ms(times[Stage::kParams]));
  response.set_synthesis_ms(in_ms(times[Stage::kParse] + times[Stage::kCircuit] + times[Stage::kSynthesise]));
  response.set_gpu_compute_ms(in_ms(times[Stage::kStart] + times[Stage::kFinish]));
  response.set_total_ms(in_ms(outcome->total));
}

Payload payload_of(const v1::SubmitProofRequest& request) {
  Payload payload;
  payload.kind = static_cast<ProofKind>(request.proof_kind());
  payload.registered_proof = request.registered_proof();
  payload.sector_bytes = request.sector_size();
  payload.sector_number = request.sector_number();
  payload.miner_id = request.miner_id();
  payload.vanilla_proof = as_bytes(request.vanilla_proof());
  for (const std::string& proof : request.vanilla_proofs()) payload.vanilla_proofs.push_back(as_bytes(proof));
  payload.randomness = as_bytes(request.randomness());
  payload.partition_index = request.partition_index();
  payload.comm_r_old = as_bytes(request.comm_r_old());
  payload.comm_r_new = as_bytes(request.comm_r_new());
  payload.comm_d_new = as_bytes(request.comm_d_new());
  return payload;
}

class ProvingService final : public v1::ProvingEngine::Service {
 public:
  ProvingService(engine::Engine& engine, const Observer& observer, MakeSource make_source, FindCircuit find_circuit)
      : engine_(engine),
        observer_(observer),
        make_source_(std::move(make_source)),
        find_circuit_(std::move(find_circuit)) {}

  grpc::Status SubmitProof(grpc::ServerContext*, const v1::SubmitProofRequest* request,
                           v1::SubmitProofResponse* response) override {
    Result<engine::Ticket> ticket = submit(*request);
    if (!ticket) return to_grpc(ticket.error());
    response->set_job_id(ticket->job->id);
    response->set_queue_position(ticket->queue_position);
    return grpc::Status::OK;
  }

  grpc::Status AwaitProof(grpc::ServerContext* context, const v1::AwaitProofRequest* request,
                          v1::AwaitProofResponse* response) override {
    Result<engine::Ticket> ticket = engine_.find(request->job_id());
    if (!ticket) return to_grpc(ticket.error());
    constexpr uint64_t kYear = uint64_t{365} * 24 * 3600 * 1000;
    std::optional<engine::Clock::duration> timeout;
    if (request->timeout_ms() != 0) timeout = std::chrono::milliseconds(std::min(request->timeout_ms(), kYear));
    return answer(*context, *ticket, timeout, *response);
  }

  grpc::Status Prove(grpc::ServerContext* context, const v1::ProveRequest* request,
                     v1::ProveResponse* response) override {
    if (!request->has_submit()) return {grpc::StatusCode::INVALID_ARGUMENT, "missing submit field"};
    Result<engine::Ticket> ticket = submit(request->submit());
    if (!ticket) return to_grpc(ticket.error());
    return answer(*context, *ticket, std::nullopt, *response->mutable_result());
  }

  grpc::Status CancelProof(grpc::ServerContext*, const v1::CancelProofRequest* request,
                           v1::CancelProofResponse* response) override {
    Result<bool> was_running = engine_.cancel(request->job_id());
    if (!was_running) return to_grpc(was_running.error());
    response->set_was_running(*was_running);
    return grpc::Status::OK;
  }

  grpc::Status PreloadSRS(grpc::ServerContext*, const v1::PreloadSrsRequest* request,
                          v1::PreloadSrsResponse* response) override {
    Result<NamedCircuit> circuit = find_circuit_(request->circuit_id());
    if (!circuit) return to_grpc(circuit.error());
    auto loaded = engine_.preload(circuit->id, std::move(circuit->compile));
    if (!loaded) return to_grpc(loaded.error());
    response->set_already_loaded(loaded->already);
    response->set_load_time_ms(in_ms(loaded->load_time));
    return grpc::Status::OK;
  }

  grpc::Status EvictSRS(grpc::ServerContext*, const v1::EvictSrsRequest* request,
                        v1::EvictSrsResponse* response) override {
    Result<NamedCircuit> circuit = find_circuit_(request->circuit_id());
    if (!circuit) return to_grpc(circuit.error());
    Result<uint64_t> freed = engine_.evict(circuit->id);
    if (!freed) return to_grpc(freed.error());
    response->set_was_loaded(*freed > 0);
    response->set_freed_bytes(*freed);
    return grpc::Status::OK;
  }

  grpc::Status GetStatus(grpc::ServerContext*, const v1::GetStatusRequest*, v1::GetStatusResponse* response) override {
    const Reading reading = observer_.read();
    const engine::Snapshot& snapshot = reading.engine;
    for (size_t d = 0; d < snapshot.devices.size(); d++) {
      if (!reading.gpus[d]) continue;  // the processor
      const auto& [info, free_bytes] = *reading.gpus[d];
      v1::GPUStatus& gpu = *response->add_gpus();
      gpu.set_ordinal(static_cast<uint32_t>(info.ordinal));
      gpu.set_name(info.name);
      gpu.set_vram_total_bytes(info.memory_bytes);
      gpu.set_vram_free_bytes(free_bytes);
      if (snapshot.devices[d].running.empty()) continue;
      gpu.set_current_job_id(snapshot.devices[d].running[0].id);
      gpu.set_current_proof_kind(snapshot.devices[d].running[0].kind);
    }
    for (const engine::ParamsStore::Loaded& params : snapshot.params) {
      v1::SRSStatus& srs = *response->add_loaded_srs();
      srs.set_circuit_id(params.circuit_id);
      srs.set_tier(static_cast<v1::SRSStatus::Tier>(params.tier));
      srs.set_size_bytes(params.bytes);
      srs.set_ref_count(params.users);
    }
    for (ProofKind kind : kKinds) {
      v1::QueueStatus& queue = *response->add_queues();
      queue.set_proof_kind(std::string(kind_name(kind)));
      auto count = snapshot.kinds.find(queue.proof_kind());
      if (count == snapshot.kinds.end()) continue;
      queue.set_pending(count->second.waiting);
      queue.set_in_progress(count->second.running);
    }
    response->set_total_proofs_completed(snapshot.completed);
    response->set_total_proofs_failed(snapshot.failed);
    response->set_uptime_seconds(static_cast<uint64_t>(reading.uptime_seconds));
    response->set_pinned_memory_bytes(reading.pinned_bytes);
    response->set_pinned_memory_limit_bytes(reading.pinned_limit_bytes);
    return grpc::Status::OK;
  }

  grpc::Status GetMetrics(grpc::ServerContext*, const v1::GetMetricsRequest*,
                          v1::GetMetricsResponse* response) override {
    response->set_prometheus_text(metrics_text(observer_.read()));
    return grpc::Status::OK;
  }

 private:
  // Waits as long as the client does: when the last one that waits for a job is gone, the engine gives it up after a
  // while.
  grpc::Status answer(grpc::ServerContext& context, const engine::Ticket& ticket,
                      std::optional<engine::Clock::duration> timeout, v1::AwaitProofResponse& response) {
    constexpr engine::Clock::duration kLook = std::chrono::seconds(1);  // a synchronous call is not told of its end
    const engine::Clock::time_point end = timeout ? engine::Clock::now() + *timeout : engine::Clock::time_point::max();
    engine_.watch(ticket);
    std::optional<engine::Outcome> outcome;
    while (!outcome && !context.IsCancelled()) {
      const engine::Clock::duration left = timeout ? end - engine::Clock::now() : kLook;
      outcome = engine_.await(ticket, std::min(left, kLook));
      if (!outcome && timeout && engine::Clock::now() >= end) break;
    }
    engine_.unwatch(ticket);
    fill(response, ticket.job->id, outcome);
    return grpc::Status::OK;
  }

  Result<engine::Ticket> submit(const v1::SubmitProofRequest& request) {
    int number = request.proof_kind();
    if (!v1::ProofKind_IsValid(number) || number == v1::PROOF_KIND_UNSPECIFIED) {
      return fail(Code::kInvalidInput, "invalid proof_kind: {}", number);
    }
    const Payload payload = payload_of(request);
    engine::Request wanted = engine_request(request.request_id(), request.priority(), payload, make_source_);
    wanted.payload = [&] { return request.SerializeAsString(); };
    return engine_.submit(std::move(wanted));
  }

  engine::Engine& engine_;
  const Observer& observer_;
  MakeSource make_source_;
  FindCircuit find_circuit_;
};

void log_grpc(gpr_log_func_args* args) {
  if (args->severity == GPR_LOG_SEVERITY_ERROR) log::warn("grpc: {}", args->message);
}

// Every call over TLS passes here before its message is read. Unix sockets are guarded by the mode of their file.
class TokenCheck final : public grpc::AuthMetadataProcessor {
 public:
  explicit TokenCheck(std::shared_ptr<const TokenGate> gate) : gate_(std::move(gate)) {}

  bool IsBlocking() const override { return false; }
  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext*, OutputMetadata* consumed,
                       OutputMetadata*) override {
    const auto [begin, end] = metadata.equal_range("authorization");
    const bool single = begin != end && std::next(begin) == end;
    const grpc::string_ref value = single ? begin->second : grpc::string_ref();
    if (!gate_->lets_pass({value.data(), value.size()}))
      return {grpc::StatusCode::UNAUTHENTICATED, "the header 'authorization: Bearer TOKEN' is wanted"};
    for (auto each = begin; each != end; ++each)
      consumed->emplace(std::string(each->first.data(), each->first.size()),
                        std::string(each->second.data(), each->second.size()));
    return grpc::Status::OK;
  }

 private:
  const std::shared_ptr<const TokenGate> gate_;
};

std::shared_ptr<grpc::ServerCredentials> credentials(const Tls& tls, std::shared_ptr<const TokenGate> gate) {
  grpc::SslServerCredentialsOptions options(tls.client_ca.empty()
                                                ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                                : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_key_cert_pairs.push_back({tls.key, tls.certificate});
  options.pem_root_certs = tls.client_ca;
  auto made = grpc::SslServerCredentials(options);
  made->SetAuthMetadataProcessor(std::make_shared<TokenCheck>(std::move(gate)));
  return made;
}

struct SocketFile {
  std::filesystem::path path;
  ino_t inode;
};

std::optional<ino_t> inode_of(const std::filesystem::path& path) {
  struct stat status;
  if (lstat(path.c_str(), &status) != 0) return std::nullopt;
  return status.st_ino;
}

}  // namespace

Journal::Parse parse_recorded(MakeSource make_source) {
  return [make_source = std::move(make_source)](std::string payload) {
    v1::SubmitProofRequest request;
    const bool whole = request.ParseFromString(payload);
    payload = {};
    return whole ? make_source(payload_of(request))
                 : fail(Code::kIo, "input lost: the journal holds no request; send it again");
  };
}

struct GrpcServer::State {
  std::unique_ptr<ProvingService> service;
  std::shared_ptr<TokenGate> gate = std::make_shared<TokenGate>();
  std::unique_ptr<grpc::Server> server;
  std::vector<std::string> addresses;
  std::vector<SocketFile> sockets;
};

GrpcServer::GrpcServer() : state_(std::make_unique<State>()) {}

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(engine::Engine& engine, const Observer& observer,
                                                      MakeSource make_source, FindCircuit find_circuit,
                                                      const GrpcOptions& options) {
  gpr_set_log_function(log_grpc);
  std::unique_ptr<GrpcServer> self(new GrpcServer);
  State& state = *self->state_;
  state.service = std::make_unique<ProvingService>(engine, observer, std::move(make_source), std::move(find_circuit));

  std::vector<ListenAddress> addresses;
  CUZK_TRY_ASSIGN(const Owner owner, find_owner(options.socket.owner));
  for (const std::string& text : options.listen) {
    CUZK_TRY_ASSIGN(ListenAddress address, parse_listen(text));
    addresses.push_back(std::move(address));
  }
  CUZK_TRY_ASSIGN(const SocketFolders folders, SocketFolders::lock(addresses));  // until all are bound
  for (const ListenAddress& address : addresses) {
    if (!address.socket.empty()) CUZK_TRY(prepare_socket(address.socket));
  }
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.SetMaxSendMessageSize(kMaxMessageBytes);
  builder.SetResourceQuota(grpc::ResourceQuota("cuzk").SetMaxThreads(kMaxCalls));
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // else two daemons could share a port unnoticed
  // A C1 of 51 MB would wait for the other side every 64 KiB.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 8 << 20);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, 1 << 20);
  // A client that vanished without a word is gone for Engine::unwatch(), too.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  builder.RegisterService(state.service.get());
  std::vector<int> ports(addresses.size(), 0);
  for (size_t i = 0; i < addresses.size(); i++) {
    const bool in_clear = !addresses[i].socket.empty() || !options.tls;
    builder.AddListeningPort(addresses[i].target(),
                             in_clear ? grpc::InsecureServerCredentials() : credentials(*options.tls, state.gate),
                             &ports[i]);
  }
  state.gate->set(options.token);
  // Sockets are made with their mode: what is changed later is open until then.
  const mode_t usual = umask(~options.socket.mode & 0777);
  state.server = builder.BuildAndStart();
  umask(usual);
  for (size_t i = 0; i < addresses.size(); i++) {
    if (!state.server || ports[i] == 0) {
      if (state.server) state.server->Shutdown();
      return fail(Code::kIo, "cannot listen on '{}'; is the address free and allowed?",
                  fmt::join(options.listen, "', '"));
    }
    const ListenAddress& address = addresses[i];
    if (address.socket.empty()) {
      state.addresses.push_back(fmt::format("{}:{}", address.host, ports[i]));
    } else {
      state.addresses.push_back("unix://" + address.socket.string());
      if (auto inode = inode_of(address.socket)) state.sockets.push_back({address.socket, *inode});
      if (lchown(address.socket.c_str(), owner.user, owner.group) != 0)
        return fail(Code::kIo, "cannot give '{}' to '{}': {}", address.socket.string(), options.socket.owner,
                    std::strerror(errno));
    }
  }
  return self;
}

GrpcServer::~GrpcServer() { stop(std::chrono::seconds(5)); }

const std::vector<std::string>& GrpcServer::addresses() const { return state_->addresses; }

void GrpcServer::set_token(std::string_view token) { state_->gate->set(token); }

void GrpcServer::stop(std::chrono::milliseconds grace) {
  if (!state_->server) return;
  state_->server->Shutdown(std::chrono::system_clock::now() + grace);
  state_->server.reset();
  for (const SocketFile& socket : state_->sockets) {
    if (inode_of(socket.path) == socket.inode) std::filesystem::remove(socket.path);
  }
}

}  // namespace cuzk::service
