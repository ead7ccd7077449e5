// The contract over a real channel on a Unix socket, with a toy statement behind it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fstream>
#include <future>
#include <nlohmann/json.hpp>

#include "service/client.h"
#include "service/listener.h"
#include "service/testing.h"

namespace cuzk::service {
namespace {

using engine::testing::proves;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using testing::ServiceTest;
using ::testing::StartsWith;

TEST_F(ServiceTest, ProvesOverUnixSocketAndTcp) {
  v1::AwaitProofResponse result;
  ASSERT_TRUE(prove(request("porep-1000-7", "3"), result).ok());
  EXPECT_EQ(result.job_id(), "porep-1000-7");
  ASSERT_EQ(result.status(), v1::AwaitProofResponse::COMPLETED) << result.error_message();
  EXPECT_TRUE(proves(as_bytes(result.proof()), {3}));
  EXPECT_TRUE(result.error_message().empty());

  ASSERT_EQ(server_->addresses().size(), 2u);
  EXPECT_THAT(server_->addresses()[1], MatchesRegex("localhost:[1-9][0-9]*"));
  stub_ = connect(server_->addresses()[1]);
  ASSERT_TRUE(prove(request("wdpost-1-0-[1 2 3]", "4"), result).ok());
  EXPECT_TRUE(proves(as_bytes(result.proof()), {4}));
}

TEST_F(ServiceTest, EmptyIdGetsAUuid) {
  v1::AwaitProofResponse result;
  ASSERT_TRUE(prove(request("", "3"), result).ok());
  EXPECT_THAT(result.job_id(), MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
}

TEST_F(ServiceTest, MalformedRequestsAreInvalidArgument) {
  grpc::ClientContext context;
  v1::ProveResponse response;
  grpc::Status missing = stub_->Prove(&context, {}, &response);
  EXPECT_EQ(missing.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(missing.error_message(), "missing submit field");
  v1::AwaitProofResponse result;
  v1::SubmitProofResponse submitted;
  for (int kind : {0, 5, -1}) {
    grpc::Status refused = prove(request("x", "3", static_cast<v1::ProofKind>(kind)), result);
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(refused.error_message(), fmt::format("invalid proof_kind: {}", kind));
    EXPECT_EQ(submit(request("x", "3", static_cast<v1::ProofKind>(kind)), submitted).error_code(),
              grpc::StatusCode::INVALID_ARGUMENT);
  }
}

TEST_F(ServiceTest, FailuresAreInBand) {
  v1::AwaitProofResponse result;
  for (const char* payload : {"", "not a number"}) {
    ASSERT_TRUE(prove(request("bad", payload), result).ok());
    EXPECT_EQ(result.status(), v1::AwaitProofResponse::FAILED);
    EXPECT_EQ(result.job_id(), "bad");
    EXPECT_THAT(result.error_message(), MatchesRegex("invalid_input: C1 parse failed: .* "
                                                     "\\[stage=parse host=.+ version=.+ retryable=no\\]"));
    EXPECT_TRUE(result.proof().empty());
  }
  for (v1::ProofKind kind : {v1::SNAP_DEALS_UPDATE, v1::WINDOW_POST_PARTITION, v1::WINNING_POST}) {
    ASSERT_TRUE(prove(request("other", "3", kind), result).ok());
    EXPECT_EQ(result.status(), v1::AwaitProofResponse::FAILED);
    EXPECT_THAT(result.error_message(), StartsWith("unimplemented: "));
  }
}

TEST_F(ServiceTest, SubmitThenAwaitHonoursTheTimeout) {
  v1::SubmitProofResponse submitted;
  ASSERT_TRUE(submit(request("slow", "wait 3"), submitted).ok());
  EXPECT_EQ(submitted.job_id(), "slow");
  EXPECT_EQ(submitted.queue_position(), 0u);
  v1::AwaitProofResponse result;
  ASSERT_TRUE(await("slow", 1, result).ok());
  EXPECT_EQ(result.status(), v1::AwaitProofResponse::TIMEOUT);
  EXPECT_FALSE(result.error_message().empty());
  gate_.go.count_down();
  for (int again = 0; again < 2; again++) {
    ASSERT_TRUE(await("slow", 0, result).ok());
    EXPECT_EQ(result.status(), v1::AwaitProofResponse::COMPLETED);
    EXPECT_TRUE(proves(as_bytes(result.proof()), {3}));
  }
  grpc::Status unknown = await("nobody", 0, result);
  EXPECT_EQ(unknown.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(unknown.error_message(), "job not found: nobody");
}

TEST_F(ServiceTest, DuplicateIdsJoinOrSupersede) {
  v1::SubmitProofResponse submitted;
  ASSERT_TRUE(submit(request("id", "wait 3"), submitted).ok());
  gate_.started.wait();
  ASSERT_TRUE(submit(request("id", "wait 3"), submitted).ok());
  v1::AwaitProofResponse old;
  std::jthread waiter([&] { ASSERT_TRUE(prove(request("id", "wait 3"), old).ok()); });
  gate_.go.count_down();
  waiter.join();
  ASSERT_EQ(old.status(), v1::AwaitProofResponse::COMPLETED);
  EXPECT_EQ(status().total_proofs_completed(), 1u) << "three requests, one job";

  v1::AwaitProofResponse next;
  ASSERT_TRUE(prove(request("id", "4"), next).ok());
  EXPECT_TRUE(proves(as_bytes(next.proof()), {4}));
  v1::SubmitProofRequest other_sector = request("id", "4");
  other_sector.set_sector_number(9);
  ASSERT_TRUE(prove(other_sector, next).ok());
  EXPECT_EQ(status().total_proofs_completed(), 3u) << "another payload is another proof";
}

TEST_F(ServiceTest, ARecordedRequestIsParsedAsItCame) {
  std::optional<std::string> seen;
  auto recorded = parse_recorded([&](const Payload& payload) {
    seen =
        fmt::format("{} {} {}", as_text(payload.vanilla_proof), payload.sector_number, payload.vanilla_proofs.size());
    return parse(payload);
  });
  v1::SubmitProofRequest message = request("id", "3");
  message.set_sector_number(9);
  message.add_vanilla_proofs("x");
  EXPECT_TRUE(recorded(message.SerializeAsString()));
  EXPECT_EQ(seen, "3 9 1");
  auto broken = recorded("\xff\xff");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, Code::kIo);
}

TEST_F(ServiceTest, StatusIsTrue) {
  v1::GetStatusResponse idle = status();
  EXPECT_EQ(idle.gpus_size(), 0);
  EXPECT_EQ(idle.loaded_srs_size(), 0);
  ASSERT_EQ(idle.queues_size(), 4);
  EXPECT_EQ(idle.queues(0).proof_kind(), "porep-c2");
  EXPECT_EQ(idle.queues(3).proof_kind(), "winning-post");

  v1::SubmitProofResponse submitted;
  ASSERT_TRUE(submit(request("a", "wait 3"), submitted).ok());
  gate_.started.wait();
  ASSERT_TRUE(submit(request("b", "4"), submitted).ok());
  v1::GetStatusResponse busy = status();
  EXPECT_EQ(busy.queues(0).in_progress(), 1u);
  EXPECT_EQ(busy.queues(0).pending(), 1u);
  ASSERT_EQ(busy.loaded_srs_size(), 1);
  EXPECT_EQ(busy.loaded_srs(0).circuit_id(), "cubic");
  EXPECT_EQ(busy.loaded_srs(0).ref_count(), 1u);
  EXPECT_GT(busy.loaded_srs(0).size_bytes(), 0u);

  ASSERT_TRUE(submit(request("c", "5"), submitted).ok());
  EXPECT_EQ(submit(request("d", "6"), submitted).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  gate_.go.count_down();
  v1::AwaitProofResponse result;
  for (const char* id : {"a", "b", "c"}) ASSERT_TRUE(await(id, 0, result).ok());
  ASSERT_TRUE(prove(request("bad", ""), result).ok());
  EXPECT_EQ(status().total_proofs_completed(), 3u);
  EXPECT_EQ(status().total_proofs_failed(), 1u);
}

TEST_F(ServiceTest, CancelEndsAJobAndSaysWhetherItRan) {
  auto cancel = [&](const std::string& id, v1::CancelProofResponse& response) {
    grpc::ClientContext context;
    v1::CancelProofRequest request;
    request.set_job_id(id);
    return stub_->CancelProof(&context, request, &response);
  };
  v1::SubmitProofResponse submitted;
  ASSERT_TRUE(submit(request("a", "wait 3"), submitted).ok());
  gate_.started.wait();
  ASSERT_TRUE(submit(request("b", "4"), submitted).ok());
  v1::CancelProofResponse response;
  ASSERT_TRUE(cancel("b", response).ok());
  EXPECT_FALSE(response.was_running());
  ASSERT_TRUE(cancel("a", response).ok());
  EXPECT_TRUE(response.was_running());
  gate_.go.count_down();
  v1::AwaitProofResponse result;
  for (const char* id : {"a", "b"}) {
    ASSERT_TRUE(await(id, 0, result).ok());
    EXPECT_EQ(result.status(), v1::AwaitProofResponse::CANCELLED);
    EXPECT_EQ(result.error_message(), "cancelled: cancelled");
  }
  EXPECT_EQ(cancel("unknown", response).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(ServiceTest, PreloadAndEvict) {
  auto preload = [&](const std::string& id, v1::PreloadSrsResponse& response) {
    grpc::ClientContext context;
    v1::PreloadSrsRequest request;
    request.set_circuit_id(id);
    return stub_->PreloadSRS(&context, request, &response);
  };
  auto evict = [&](const std::string& id, v1::EvictSrsResponse& response) {
    grpc::ClientContext context;
    v1::EvictSrsRequest request;
    request.set_circuit_id(id);
    return stub_->EvictSRS(&context, request, &response);
  };
  v1::PreloadSrsResponse loaded;
  ASSERT_TRUE(preload("cubic", loaded).ok());
  EXPECT_FALSE(loaded.already_loaded());
  ASSERT_TRUE(preload("cubic", loaded).ok());
  EXPECT_TRUE(loaded.already_loaded());
  ASSERT_EQ(status().loaded_srs_size(), 1);
  EXPECT_EQ(status().loaded_srs(0).ref_count(), 0u);
  v1::EvictSrsResponse evicted;
  ASSERT_TRUE(evict("cubic", evicted).ok());
  EXPECT_TRUE(evicted.was_loaded());
  EXPECT_GT(evicted.freed_bytes(), 0u);
  ASSERT_TRUE(evict("cubic", evicted).ok());
  EXPECT_FALSE(evicted.was_loaded());
  EXPECT_EQ(preload("porep-3g", loaded).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(evict("", evicted).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST(FindCircuit, OwnAndOldNames) {
  for (auto [name, id] : {std::pair("porep-32g", "porep-32GiB"),
                          {"porep-64g", "porep-64GiB"},
                          {"wpost-32g", "window-32GiB"},
                          {"winning-32g", "winning-32GiB"},
                          {"snap-64g", "update-64GiB"},
                          {"porep-2KiB", "porep-2KiB"},
                          {"window-512MiB", "window-512MiB"}}) {
    auto circuit = find_circuit(name);
    ASSERT_TRUE(circuit) << name;
    EXPECT_EQ(circuit->id, id);
  }
  EXPECT_EQ(find_circuit("winning-2KiB")->compile()->name, "winning-2KiB");
  for (const char* name : {"", "-", "porep", "porep-", "porep-33g", "snap-32", "seal-32g", "32g-porep"}) {
    auto circuit = find_circuit(name);
    ASSERT_FALSE(circuit) << name;
    EXPECT_EQ(circuit.error().message, fmt::format("unknown circuit ID: {}", name));
  }
}

TEST(LocateParams, OfficialNamesAndOthers) {
  engine::testing::TemporaryFolder folder;
  Config config;
  config.param_cache = folder.path();
  config.param_files["window-2KiB"] = folder.path() / "mine";
  // As parameters.json publishes it.
  const auto official = folder.path() /
                        "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
                        "0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc.params";
  const Error missing = locate_params(config, "window-32GiB").error();
  EXPECT_EQ(missing.code, Code::kNotFound);
  EXPECT_EQ(missing.message, "the parameters of window-32GiB are not there: " + official.string());
  std::ofstream(official) << "x";
  EXPECT_EQ(locate_params(config, "window-32GiB").value(), official);
  EXPECT_THAT(locate_params(config, "window-2KiB").error().message, HasSubstr("mine"));
  std::ofstream(folder.path() / "mine") << "x";
  EXPECT_EQ(locate_params(config, "window-2KiB").value(), folder.path() / "mine");
}

TEST_F(ServiceTest, WhileDrainingNewJobsAreUnavailable) {
  EXPECT_TRUE(engine_->drain());
  v1::AwaitProofResponse result;
  EXPECT_EQ(prove(request("late", "3"), result).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(ServiceTest, ALiveSocketIsNotStolenAndOwnFilesAreRemoved) {
  auto parser = [this](const Payload& payload) { return parse(payload); };
  auto second = GrpcServer::start(*engine_, *observer_, parser, find_cubic, {.listen = {address_}});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kIo);
  EXPECT_THAT(second.error().message, HasSubstr("another process serves"));
  v1::AwaitProofResponse result;
  EXPECT_TRUE(prove(request("still", "3"), result).ok());

  std::filesystem::path socket = folder_.path() / "cuzk.sock";
  EXPECT_TRUE(std::filesystem::is_socket(socket));
  server_.reset();
  EXPECT_FALSE(std::filesystem::exists(socket));

  std::ofstream(folder_.path() / "file") << "not a socket";
  auto file = GrpcServer::start(*engine_, *observer_, parser, find_cubic,
                                {.listen = {"unix://" + (folder_.path() / "file").string()}});
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("is no socket"));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "file"));
}

// Another daemon that starts at the same time holds the folder until its socket is bound.
TEST_F(ServiceTest, TwoStartsDoNotShareASocket) {
  const std::string address = "unix://" + (folder_.path() / "together.sock").string();
  auto other = SocketFolders::lock({*parse_listen(address)});
  ASSERT_TRUE(other);
  auto second = std::async(std::launch::async, [&] {
    auto parser = [this](const Payload& payload) { return parse(payload); };
    return GrpcServer::start(*engine_, *observer_, parser, find_cubic, {.listen = {address}});
  });
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name{.sun_family = AF_UNIX, .sun_path = {}};
  address.substr(sizeof("unix://") - 1).copy(name.sun_path, sizeof(name.sun_path) - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
  ASSERT_EQ(::listen(fd, 1), 0);
  { const SocketFolders bound = std::move(*other); }
  auto started = second.get();
  ::close(fd);
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("another process serves"));
}

TEST_F(ServiceTest, TheToolsClient) {
  Payload payload;
  payload.vanilla_proof = as_bytes("3");
  auto answer = remote_prove(address_, "by client", payload);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ((*answer)["status"], "COMPLETED");
  EXPECT_TRUE(proves(*from_hex((*answer)["proof"].get<std::string>()), {3}));
  auto state = remote_status(address_);
  ASSERT_TRUE(state);
  EXPECT_EQ((*state)["queues"].size(), 4u);
  auto nobody = remote_status("unix:///nonexistent/cuzk.sock");
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, Code::kUnavailable);
}

}  // namespace
}  // namespace cuzk::service
