#include "service/client.h"

#include <google/protobuf/util/json_util.h>
#include <grpcpp/grpcpp.h>

#include <nlohmann/json.hpp>

#include "cuzk/v1/prover.grpc.pb.h"
#include "service/grpc_server.h"
#include "service/listener.h"

namespace cuzk::service {
namespace {

Result<std::unique_ptr<v1::ProvingEngine::Stub>> connect(const std::string& address) {
  CUZK_TRY_ASSIGN(ListenAddress parsed, parse_listen(address));
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  return v1::ProvingEngine::NewStub(
      grpc::CreateCustomChannel(parsed.target(), grpc::InsecureChannelCredentials(), arguments));
}

Error to_error(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::INVALID_ARGUMENT: return {Code::kInvalidInput, status.error_message()};
    case grpc::StatusCode::NOT_FOUND: return {Code::kNotFound, status.error_message()};
    case grpc::StatusCode::RESOURCE_EXHAUSTED: return {Code::kResourceExhausted, status.error_message()};
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DEADLINE_EXCEEDED: return {Code::kUnavailable, status.error_message()};
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

Result<nlohmann::json> remote_prove(const RemoteProve& options, ByteSpan c1) {
  CUZK_TRY_ASSIGN(std::unique_ptr<v1::ProvingEngine::Stub> stub, connect(options.address));
  v1::ProveRequest request;
  v1::SubmitProofRequest& submit = *request.mutable_submit();
  submit.set_request_id(options.request_id);
  submit.set_proof_kind(v1::POREP_SEAL_COMMIT);
  submit.set_miner_id(options.miner_id);
  submit.set_sector_number(options.sector_number);
  submit.set_vanilla_proof(c1.data(), c1.size());
  grpc::ClientContext context;
  v1::ProveResponse response;
  if (grpc::Status status = stub->Prove(&context, request, &response); !status.ok()) {
    return tl::unexpected(to_error(status).within(options.address));
  }
  nlohmann::json json = to_json(response.result());
  json["proof"] = to_hex(as_bytes(response.result().proof()));
  return json;
}

}  // namespace cuzk::service
