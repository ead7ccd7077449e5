#pragma once
// What the tests of the service share: a server on a Unix socket and TCP with a toy statement behind it, and a client.

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <latch>

#include "cuzk/v1/prover.grpc.pb.h"
#include "engine/testing.h"
#include "service/grpc_server.h"
#include "service/listener.h"

namespace cuzk::service::testing {

using engine::testing::CubicSource;

// The payload is x in decimal; "wait X" waits for the test before it proves.
class ServiceTest : public ::testing::Test {
 protected:
  struct Gate {
    std::latch started{1}, go{1};
  };
  struct SlowSource final : CubicSource {
    SlowSource(uint64_t x, Gate& wait) : CubicSource({x}), gate(wait) {}
    Status assign(uint32_t partition, const r1cs::Circuit& circuit, const r1cs::Assignment& to) const override {
      gate.started.count_down();
      gate.go.wait();
      return CubicSource::assign(partition, circuit, to);
    }
    Gate& gate;
  };

  ServiceTest() {
    engine::Options options;
    options.policy.max_waiting = 2;
    engine_ = std::make_unique<engine::Engine>(options, circuits_, params_, *backend_, pool_);
    observer_ = std::make_unique<Observer>(*engine_);
    auto server = GrpcServer::start(*engine_, *observer_, [this](const Payload& payload) { return parse(payload); },
                                    find_cubic, {.listen = {address_, "localhost:0"}});
    if (!server) throw std::runtime_error(server.error().message);
    server_ = std::move(*server);
    stub_ = connect(address_);
  }

  Result<std::shared_ptr<const groth16::CircuitSource>> parse(const Payload& payload) {
    if (payload.kind != ProofKind::kPorep)
      return fail(Code::kUnimplemented, "proofs of kind {} are not built yet", kind_name(payload.kind));
    std::string text(as_text(payload.vanilla_proof));
    if (text.starts_with("wait ")) return std::make_shared<SlowSource>(std::stoull(text.substr(5)), gate_);
    if (text.empty() || text.find_first_not_of("0123456789") != text.npos)
      return fail(Code::kInvalidInput, "C1 parse failed: no number");
    return std::make_shared<CubicSource>(std::vector<uint64_t>{std::stoull(text)});
  }

  static Result<NamedCircuit> find_cubic(std::string_view name) {
    if (name != "cubic") return fail(Code::kNotFound, "unknown circuit ID: {}", name);
    return NamedCircuit{"cubic", [] { return CubicSource({1}).compile(); }};
  }

  static std::unique_ptr<v1::ProvingEngine::Stub> connect(const std::string& address) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetMaxSendMessageSize(-1);
    return v1::ProvingEngine::NewStub(
        grpc::CreateCustomChannel(parse_listen(address)->target(), grpc::InsecureChannelCredentials(), arguments));
  }
  static v1::SubmitProofRequest request(const std::string& id, const std::string& payload,
                                        v1::ProofKind kind = v1::POREP_SEAL_COMMIT) {
    v1::SubmitProofRequest made;
    made.set_request_id(id);
    made.set_proof_kind(kind);
    made.set_vanilla_proof(payload);
    return made;
  }
  grpc::Status prove(const v1::SubmitProofRequest& submit, v1::AwaitProofResponse& result) {
    grpc::ClientContext context;
    v1::ProveRequest message;
    *message.mutable_submit() = submit;
    v1::ProveResponse response;
    grpc::Status status = stub_->Prove(&context, message, &response);
    result = response.result();
    return status;
  }
  grpc::Status submit(const v1::SubmitProofRequest& message, v1::SubmitProofResponse& response) {
    grpc::ClientContext context;
    return stub_->SubmitProof(&context, message, &response);
  }
  grpc::Status await(const std::string& id, uint64_t timeout_ms, v1::AwaitProofResponse& response) {
    grpc::ClientContext context;
    v1::AwaitProofRequest message;
    message.set_job_id(id);
    message.set_timeout_ms(timeout_ms);
    return stub_->AwaitProof(&context, message, &response);
  }
  v1::GetStatusResponse status() {
    grpc::ClientContext context;
    v1::GetStatusResponse response;
    EXPECT_TRUE(stub_->GetStatus(&context, {}, &response).ok());
    return response;
  }

  engine::testing::TemporaryFolder folder_;
  const std::string address_ = "unix://" + (folder_.path() / "cuzk.sock").string();
  exec::Pool pool_{2};
  engine::CircuitStore circuits_{""};
  engine::ParamsStore params_{
      [](const std::string&) -> Result<std::filesystem::path> { return engine::testing::cubic_params().file; }};
  std::unique_ptr<engine::Backend> backend_ = engine::make_cpu_backend(pool_);
  Gate gate_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<Observer> observer_;
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<v1::ProvingEngine::Stub> stub_;
};

}  // namespace cuzk::service::testing
