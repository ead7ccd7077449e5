#include "service/client.h"

#include <google/protobuf/util/json_util.h>
#include <grpcpp/grpcpp.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cuzk/v1/prover.grpc.pb.h"
#include "service/grpc_server.h"
#include "service/listener.h"
#include "service/tls.h"

namespace cuzk::service {
namespace {

// The content of the file that a variable of the environment names; empty where it names none.
Result<std::string> named_file(const char* variable) {
  const char* path = std::getenv(variable);
  if (!path || !*path) return std::string();
  CUZK_TRY_ASSIGN(const Bytes bytes, read_file(path, 1 << 20));
  return std::string(as_text(bytes));
}

Result<std::shared_ptr<grpc::ChannelCredentials>> credentials_for(const ListenAddress& address) {
  grpc::SslCredentialsOptions tls;
  CUZK_TRY_ASSIGN(tls.pem_root_certs, named_file("CUZK_TLS_CA"));
  if (!address.socket.empty() || tls.pem_root_certs.empty()) return grpc::InsecureChannelCredentials();
  CUZK_TRY_ASSIGN(tls.pem_cert_chain, named_file("CUZK_TLS_CERT"));
  CUZK_TRY_ASSIGN(tls.pem_private_key, named_file("CUZK_TLS_KEY"));
  auto credentials = grpc::SslCredentials(tls);
  if (const char* path = std::getenv("CUZK_TOKEN_FILE"); path && *path) {
    CUZK_TRY_ASSIGN(const std::string token, load_token(path));
    credentials = grpc::CompositeChannelCredentials(credentials, grpc::AccessTokenCredentials(token));
  }
  return credentials;
}

Result<std::unique_ptr<v1::ProvingEngine::Stub>> connect(const std::string& address) {
  CUZK_TRY_ASSIGN(ListenAddress parsed, parse_listen(address));
  CUZK_TRY_ASSIGN(auto credentials, credentials_for(parsed));
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  return v1::ProvingEngine::NewStub(grpc::CreateCustomChannel(parsed.target(), std::move(credentials), arguments));
}

Error to_error(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::INVALID_ARGUMENT: return {Code::kInvalidInput, status.error_message()};
    case grpc::StatusCode::NOT_FOUND: return {Code::kNotFound, status.error_message()};
    case grpc::StatusCode::RESOURCE_EXHAUSTED: return {Code::kResourceExhausted, status.error_message()};
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DEADLINE_EXCEEDED: return {Code::kUnavailable, status.error_message()};
    case grpc::StatusCode::UNAUTHENTICATED: return {Code::kUsage, status.error_message()};
    case grpc::StatusCode::UNIMPLEMENTED: return {Code::kUnimplemented, status.error_message()};
    default:
      return {Code::kInternal,
              fmt::format("gRPC status {}: {}", static_cast<int>(status.error_code()), status.error_message())};
  }
}

nlohmann::json to_json(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string text;
  if (!google::protobuf::util::MessageToJsonString(message, &text, options).ok()) return nullptr;
  return nlohmann::json::parse(text);
}

}  // namespace

Result<nlohmann::json> remote_status(const std::string& address, unsigned wait_seconds) {
  CUZK_TRY_ASSIGN(std::unique_ptr<v1::ProvingEngine::Stub> stub, connect(address));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(wait_seconds + 10));
  context.set_wait_for_ready(wait_seconds > 0);
  v1::GetStatusResponse response;
  if (grpc::Status status = stub->GetStatus(&context, {}, &response); !status.ok()) {
    return tl::unexpected(to_error(status).within(address));
  }
  return to_json(response);
}

Result<std::string> remote_metrics(const std::string& address) {
  CUZK_TRY_ASSIGN(std::unique_ptr<v1::ProvingEngine::Stub> stub, connect(address));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  v1::GetMetricsResponse response;
  if (grpc::Status status = stub->GetMetrics(&context, {}, &response); !status.ok()) {
    return tl::unexpected(to_error(status).within(address));
  }
  return response.prometheus_text();
}

Result<nlohmann::json> remote_prove(const std::string& address, const std::string& request_id,
                                    const filecoin::ProofRequest& proof) {
  CUZK_TRY_ASSIGN(std::unique_ptr<v1::ProvingEngine::Stub> stub, connect(address));
  v1::ProveRequest request;
  v1::SubmitProofRequest& submit = *request.mutable_submit();
  auto text = [](ByteSpan bytes) { return std::string(as_text(bytes)); };
  submit.set_request_id(request_id);
  submit.set_proof_kind(static_cast<v1::ProofKind>(proof.kind));
  submit.set_registered_proof(proof.registered_proof);
  submit.set_miner_id(proof.miner_id);
  submit.set_sector_number(proof.sector_number);
  submit.set_vanilla_proof(text(proof.vanilla_proof));
  for (ByteSpan vanilla : proof.vanilla_proofs) submit.add_vanilla_proofs(text(vanilla));
  submit.set_randomness(text(proof.randomness));
  submit.set_partition_index(proof.partition_index);
  submit.set_comm_r_old(text(proof.comm_r_old));
  submit.set_comm_r_new(text(proof.comm_r_new));
  submit.set_comm_d_new(text(proof.comm_d_new));
  grpc::ClientContext context;
  v1::ProveResponse response;
  if (grpc::Status status = stub->Prove(&context, request, &response); !status.ok()) {
    return tl::unexpected(to_error(status).within(address));
  }
  nlohmann::json json = to_json(response.result());
  json["proof"] = to_hex(as_bytes(response.result().proof()));
  return json;
}

}  // namespace cuzk::service
