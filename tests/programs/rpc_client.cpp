// A client that keeps many calls open at a time, for the tests of the daemon. Usage: rpc_client ADDRESS
//
// Reads a command a line from stdin, its words parted by tabs, and runs each on a thread of its own:
//   submit TAG FILE | prove TAG FILE [MS]   FILE holds a SubmitProofRequest; the call has so much time
//   await TAG ID MS | cancel TAG ID
//   drop TAG                                the client of that call goes away
// Writes a JSON object a line when a call has ended: tag, code (of gRPC), message, and status, error and proof (hex) of
// what was answered.

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "cuzk/v1/prover.grpc.pb.h"
#include "service/listener.h"

namespace {

using namespace cuzk;

class Client {
 public:
  explicit Client(const std::string& target)
      : stub_(v1::ProvingEngine::NewStub(grpc::CreateChannel(target, grpc::InsecureChannelCredentials()))) {}

  void run(const std::vector<std::string>& words) {
    const std::string &what = words.at(0), &tag = words.at(1);
    std::lock_guard lock(mutex_);
    if (what == "drop") return contexts_.at(tag)->TryCancel();
    auto context = std::make_shared<grpc::ClientContext>();
    context->set_wait_for_ready(true);
    if (what == "prove" && words.size() > 3)
      context->set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(std::stoull(words[3])));
    contexts_[tag] = context;
    threads_.emplace_back([this, words, context] {
      nlohmann::json answer = call(words, *context);
      answer["tag"] = words[1];
      std::lock_guard printing(mutex_);
      std::cout << answer.dump() << std::endl;
    });
  }

 private:
  nlohmann::json call(const std::vector<std::string>& words, grpc::ClientContext& context) {
    nlohmann::json answer;
    grpc::Status status;
    if (words[0] == "submit") {
      v1::SubmitProofResponse response;
      status = stub_->SubmitProof(&context, request(words.at(2)), &response);
    } else if (words[0] == "prove") {
      v1::ProveRequest message;
      *message.mutable_submit() = request(words.at(2));
      v1::ProveResponse response;
      status = stub_->Prove(&context, message, &response);
      add(answer, response.result());
    } else if (words[0] == "await") {
      v1::AwaitProofRequest message;
      message.set_job_id(words.at(2));
      message.set_timeout_ms(std::stoull(words.at(3)));
      v1::AwaitProofResponse response;
      status = stub_->AwaitProof(&context, message, &response);
      add(answer, response);
    } else if (words[0] == "cancel") {
      v1::CancelProofRequest message;
      message.set_job_id(words.at(2));
      v1::CancelProofResponse response;
      status = stub_->CancelProof(&context, message, &response);
    } else {
      throw std::runtime_error("unknown command " + words[0]);
    }
    answer["code"] = static_cast<int>(status.error_code());
    answer["message"] = status.error_message();
    return answer;
  }
  static v1::SubmitProofRequest request(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    v1::SubmitProofRequest request;
    if (!request.ParseFromIstream(&stream)) throw std::runtime_error(file + " holds no request");
    return request;
  }
  static void add(nlohmann::json& answer, const v1::AwaitProofResponse& response) {
    answer["status"] = v1::AwaitProofResponse::Status_Name(response.status());
    answer["error"] = response.error_message();
    answer["proof"] = to_hex(as_bytes(response.proof()));
  }

  const std::unique_ptr<v1::ProvingEngine::Stub> stub_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<grpc::ClientContext>> contexts_;
  std::vector<std::jthread> threads_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  Client client(service::parse_listen(arguments[1]).value().target());
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; std::getline(stream, word, '\t');) words.push_back(word);
    client.run(words);
  }
}
