// The pages over real connections: by the library's client, and byte by byte where a client misbehaves.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "service/http_server.h"
#include "service/testing.h"

namespace cuzk::service {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

class HttpTest : public testing::ServiceTest {
 protected:
  HttpTest() { open({}); }

  void open(HttpLimits limits) {
    http_.reset();
    auto server = HttpServer::start(*observer_, "0", limits);
    if (!server) throw std::runtime_error(server.error().message);
    http_ = std::move(*server);
  }
  httplib::Result get(const std::string& path) { return httplib::Client("http://" + http_->address()).Get(path); }
  json get_json(const std::string& path) {
    auto response = get(path);
    EXPECT_TRUE(response && response->status == 200) << path;
    EXPECT_EQ(response->get_header_value("Content-Type"), "application/json");
    return json::parse(response->body);
  }
  static std::set<std::string> keys(const json& object) {
    std::set<std::string> names;
    for (const auto& [name, value] : object.items()) names.insert(name);
    return names;
  }
  // A bare connection.
  int dial() {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(std::stoi(http_->address().substr(http_->address().rfind(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
    return fd;
  }
  static std::string read_all(int fd) {
    std::string text;
    char buffer[4096];
    for (ssize_t got; (got = ::read(fd, buffer, sizeof(buffer))) > 0;) text.append(buffer, static_cast<size_t>(got));
    return text;
  }

  std::unique_ptr<HttpServer> http_;
};

// Keys and types of wire.md, section 2.
TEST_F(HttpTest, StatusHasTheDocumentedSchema) {
  v1::AwaitProofResponse result;
  ASSERT_TRUE(prove(request("done", "3"), result).ok());
  ASSERT_TRUE(prove(request("bad", ""), result).ok());
  ASSERT_TRUE(prove(request("post", "3", v1::WINDOW_POST_PARTITION), result).ok());
  v1::SubmitProofResponse submitted;
  ASSERT_TRUE(submit(request("held \"by\" [1 2]", "wait 5"), submitted).ok());
  gate_.started.wait();
  ASSERT_TRUE(submit(request("next", "6"), submitted).ok());
  const json status = get_json("/status");
  gate_.go.count_down();

  EXPECT_EQ(keys(status), (std::set<std::string>{"uptime_secs", "memory", "synthesis", "pipelines", "pipelines_total",
                                                 "gpu_workers", "allocations", "counters", "buffers"}));
  EXPECT_TRUE(status["uptime_secs"].is_number_float());
  const json& memory = status["memory"];
  EXPECT_GT(memory["used_bytes"], 0);
  EXPECT_EQ(memory["total_bytes"].get<uint64_t>(),
            memory["used_bytes"].get<uint64_t>() + memory["available_bytes"].get<uint64_t>());
  EXPECT_GE(memory["peak_resident_bytes"], memory["resident_bytes"]);
  EXPECT_EQ(status["synthesis"], (json{{"max_concurrent", 1}, {"active", 1}}));
  EXPECT_EQ(status["buffers"], (json{{"synth_in_flight", 1},
                                     {"provers_in_flight", 0},
                                     {"aux_in_flight", 1},
                                     {"shells_in_flight", 0},
                                     {"pending_handles", 0}}));
  EXPECT_EQ(status["counters"]["total_completed"], 1);
  EXPECT_EQ(status["counters"]["total_failed"], 2);
  EXPECT_EQ(status["counters"]["queue_depth"], 1);
  EXPECT_EQ(status["counters"]["queue_places"], (json{{"low", 1}, {"normal", 1}, {"high", 1}, {"critical", 1}}));
  EXPECT_EQ(status["counters"]["completed_by_kind"],
            (json{{"porep-c2", 1}, {"snap-update", 0}, {"window-post", 0}, {"winning-post", 0}}));
  EXPECT_EQ(status["counters"]["failed_by_kind"]["window-post"], 1);

  ASSERT_EQ(status["pipelines"].size(), 5u);
  EXPECT_EQ(status["pipelines_total"], 5);
  std::map<std::string, json> jobs;
  for (const json& pipeline : status["pipelines"]) {
    for (const char* key :
         {"job_id", "proof_kind", "started_secs_ago", "total_partitions", "partitions_done", "partitions"})
      EXPECT_TRUE(pipeline.contains(key)) << key;
    jobs[pipeline["job_id"]] = pipeline;
  }
  EXPECT_EQ(status["pipelines"][0]["job_id"], "held \"by\" [1 2]") << "in order of service";
  const json& done = jobs["done"]["partitions"][0];
  EXPECT_EQ(done["state"], "done");
  EXPECT_TRUE(done["synth_ms"].is_number_integer() && done["gpu_ms"].is_number_integer()) << done;
  EXPECT_EQ(jobs["done"]["partitions_done"], 1);
  EXPECT_GT(jobs["done"]["cpu_secs"], 0);
  EXPECT_GT(jobs["done"]["total_secs"], 0);
  EXPECT_LE(jobs["done"]["total_secs"], jobs["done"]["started_secs_ago"]);
  EXPECT_EQ(jobs["done"]["gpu_secs"], 0) << "the processor is no card";
  EXPECT_TRUE(jobs["held \"by\" [1 2]"]["total_secs"].is_null());
  const json& held = jobs["held \"by\" [1 2]"]["partitions"][0];
  EXPECT_EQ(held["state"], "synthesizing");
  EXPECT_TRUE(held["synth_ms"].is_number_integer());
  EXPECT_TRUE(held["gpu_ms"].is_null());
  EXPECT_EQ(jobs["next"]["partitions"][0]["state"], "pending");
  EXPECT_THAT(jobs["post"]["error"], StartsWith("unimplemented: "));
  EXPECT_EQ(jobs["post"]["proof_kind"], "window-post");

  EXPECT_EQ(status["gpu_workers"], json::array({{{"worker_id", 0},
                                                 {"gpu_ordinal", nullptr},
                                                 {"device", "cpu"},
                                                 {"state", "idle"},
                                                 {"current_job", nullptr},
                                                 {"current_partition", nullptr},
                                                 {"busy_secs", nullptr}}}));
  for (const char* list : {"srs", "pce"}) {
    ASSERT_EQ(status["allocations"][list].size(), 1u) << list;
    const json& entry = status["allocations"][list][0];
    EXPECT_EQ(entry["circuit_id"], "cubic");
    EXPECT_GT(entry["bytes"], 0);
    EXPECT_FALSE(entry["evictable"]) << "a partition holds it";
    EXPECT_TRUE(entry["last_used_secs_ago"].is_number_float());
  }
}

TEST_F(HttpTest, Case68_PagesOfManyJobsAreSmall) {
  constexpr size_t kJobs = 10'000;
  engine_->adjust(kJobs, 1h);
  v1::SubmitProofResponse submitted;
  ASSERT_TRUE(submit(request("held", "wait 5"), submitted).ok());
  gate_.started.wait();
  for (size_t i = 1; i <= kJobs; i++) {
    ASSERT_TRUE(engine_->submit({.id = fmt::format("porep-1000-{}", i), .kind = "porep-c2", .parse = [] {
                                   return std::make_shared<testing::CubicSource>(std::vector<uint64_t>{3});
                                 }}));
  }
  std::chrono::duration<double> least = 1h;
  for (int i = 0; i < 5; i++) {
    const auto begin = std::chrono::steady_clock::now();
    auto page = get("/status?offset=9500&limit=100");
    least = std::min<std::chrono::duration<double>>(least, std::chrono::steady_clock::now() - begin);
    ASSERT_TRUE(page && page->status == 200);
    EXPECT_LT(page->body.size(), 64u << 10);
    const json status = json::parse(page->body);
    ASSERT_EQ(status["pipelines"].size(), 100u);
    EXPECT_EQ(status["pipelines"][0]["job_id"], "porep-1000-9500");
    EXPECT_EQ(status["pipelines_total"], kJobs + 1);
  }
  RecordProperty("seconds", fmt::format("{}", least.count()));
  EXPECT_LT(least, 200ms);  // sanitizers included
  EXPECT_EQ(get_json("/status")["pipelines"].size(), 100u) << "where nothing else is asked for";
  EXPECT_EQ(get_json("/status?limit=5000")["pipelines"].size(), 1000u);
  EXPECT_EQ(get_json(fmt::format("/status?offset={}", kJobs + 1))["pipelines"].size(), 0u);
  for (const char* bad : {"limit=", "limit=-1", "offset=1x", "offset=99999999999999999999"})
    EXPECT_EQ(get(std::string("/status?") + bad)->status, 400) << bad;
  engine_->abandon();
  gate_.go.count_down();
}

TEST_F(HttpTest, MetricsAreThoseOfTheRpc) {
  auto response = get("/metrics");
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 200);
  EXPECT_THAT(response->get_header_value("Content-Type"), StartsWith("text/plain; version=0.0.4"));
  grpc::ClientContext context;
  v1::GetMetricsResponse rpc;
  ASSERT_TRUE(stub_->GetMetrics(&context, {}, &rpc).ok());
  const auto names = [](const std::string& text) {
    std::set<std::string> found;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) found.insert(line.substr(0, line.rfind(' ')));
    return found;
  };
  EXPECT_EQ(names(response->body), names(rpc.prometheus_text()));
}

TEST_F(HttpTest, ReadyUntilItDrains) {
  EXPECT_EQ(get("/healthz")->status, 200);
  observer_->set_starting(true);
  EXPECT_EQ(get("/readyz")->status, 503);
  EXPECT_EQ(get("/healthz")->status, 200);
  observer_->set_starting(false);
  EXPECT_EQ(get("/readyz")->status, 200);
  ASSERT_TRUE(engine_->drain());
  auto response = get("/readyz");
  EXPECT_EQ(response->status, 503);
  EXPECT_THAT(response->body, HasSubstr("shutting down"));
  EXPECT_EQ(get("/healthz")->status, 200);
}

TEST_F(HttpTest, TracesAJobUnderItsId) {
  v1::AwaitProofResponse result;
  ASSERT_TRUE(prove(request("wdpost-1-0-[1 2]/%", "3"), result).ok());
  const json trace = get_json("/trace/wdpost-1-0-%5B1%202%5D%2F%25");
  EXPECT_EQ(trace["otherData"]["job_id"], "wdpost-1-0-[1 2]/%");
  std::map<std::string, json> events;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") events[event["name"]] = event;
  }
  for (const char* stage : {"parse", "wait", "circuit", "params", "synthesise", "start", "finish", "verify"}) {
    ASSERT_TRUE(events.count(stage)) << stage;
    EXPECT_GE(events[stage]["ts"], 0);
    EXPECT_GE(events[stage]["dur"], 0);
    EXPECT_TRUE(events[stage]["args"]["good"]);
    EXPECT_FALSE(events[stage]["args"]["running"]);
  }
  EXPECT_EQ(events["parse"]["tid"], 0);
  EXPECT_FALSE(events["synthesise"]["args"].contains("device"));
  EXPECT_EQ(events["start"]["args"]["device"], "cpu");
  EXPECT_EQ(events["start"]["tid"], 1);
  EXPECT_GE(events["start"]["ts"].get<int64_t>(),
            events["synthesise"]["ts"].get<int64_t>() + events["synthesise"]["dur"].get<int64_t>());
  EXPECT_EQ(get("/trace/unknown")->status, 404);
  EXPECT_EQ(get("/trace/")->status, 404);
}

// Each value that the page for people reads is one that /status has.
TEST_F(HttpTest, ThePanelReadsKnownKeys) {
  v1::AwaitProofResponse result;
  ASSERT_TRUE(prove(request("done", "3"), result).ok());
  const json status = get_json("/status");
  const std::map<std::string, json> roots = {{"status", status},
                                             {"worker", status["gpu_workers"][0]},
                                             {"pipeline", status["pipelines"][0]},
                                             {"partition", status["pipelines"][0]["partitions"][0]},
                                             {"entry", status["allocations"]["srs"][0]}};
  auto response = get("/");
  ASSERT_TRUE(response && response->status == 200);
  EXPECT_THAT(response->get_header_value("Content-Type"), StartsWith("text/html"));
  EXPECT_THAT(response->get_header_value("Content-Security-Policy"), HasSubstr("default-src 'none'"));
  const std::regex use(R"(\b(status|worker|pipeline|partition|entry)((\.[a-z_]+)+))");
  std::map<std::string, int> uses;
  for (std::sregex_iterator i(response->body.begin(), response->body.end(), use), end; i != end; ++i) {
    const json* value = &roots.at((*i)[1]);
    std::istringstream path((*i)[2].str().substr(1));
    for (std::string key; value && std::getline(path, key, '.');) {
      if (value->is_array() && key == "map") break;
      value = value->contains(key) ? &(*value)[key] : nullptr;
    }
    EXPECT_TRUE(value) << i->str();
    uses[(*i)[1]]++;
  }
  EXPECT_EQ(uses.size(), roots.size());
}

TEST_F(HttpTest, OnlyReadsAndOnlyKnownPages) {
  httplib::Client client("http://" + http_->address());
  EXPECT_EQ(get("/statusx")->status, 404);
  EXPECT_EQ(get("/status?pretty=1")->status, 200);
  auto posted = client.Post("/status", "x", "text/plain");
  ASSERT_TRUE(posted);
  EXPECT_EQ(posted->status, 405);
  EXPECT_EQ(posted->get_header_value("Allow"), "GET, HEAD");
  EXPECT_EQ(client.Options("/status")->status, 405);
  auto head = client.Head("/status");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 200);
  EXPECT_TRUE(head->body.empty());
  auto foreign = client.Get("/status", {{"Origin", "http://example.org"}});
  ASSERT_TRUE(foreign);
  EXPECT_FALSE(foreign->has_header("Access-Control-Allow-Origin"));
}

// The body of a refused request is not waited for.
TEST_F(HttpTest, ABodyIsNotRead) {
  const int fd = dial();
  const std::string head = "POST /status HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n";
  ASSERT_EQ(::write(fd, head.data(), head.size()), static_cast<ssize_t>(head.size()));
  EXPECT_THAT(read_all(fd), StartsWith("HTTP/1.1 405 "));
  ::close(fd);
}

// Neither is a head without an end.
TEST_F(HttpTest, AnEndlessHeadIsCutOff) {
  const int fd = dial();
  const std::string line = "A: " + std::string(1000, 'x') + "\r\n";
  size_t sent = 0;
  ::send(fd, "GET /status HTTP/1.1\r\n", 22, MSG_NOSIGNAL);
  while (sent < (size_t{64} << 20)) {
    const ssize_t wrote = ::send(fd, line.data(), line.size(), MSG_NOSIGNAL);
    if (wrote < 0) break;
    sent += static_cast<size_t>(wrote);
  }
  EXPECT_LT(sent, size_t{64} << 20) << "what the sockets hold, and no more";
  ::close(fd);
}

// Who trickles bytes, or sends none, holds a thread no longer than the deadline.
TEST_F(HttpTest, SlowClientsAreCutOff) {
  open({.deadline = 300ms, .threads = 2, .connections = 4});
  std::vector<int> idle;
  for (int i = 0; i < 8; i++) idle.push_back(dial());
  std::jthread trickle([fd = idle[0]](std::stop_token stop) {
    while (!stop.stop_requested() && ::send(fd, "GET /status HTTP/1.1\r\nA", 1, MSG_NOSIGNAL) == 1)
      std::this_thread::yield();
  });
  auto response = get("/healthz");  // waits for the places of those before it
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 200);
  trickle.request_stop();
  for (int fd : idle) {
    EXPECT_EQ(read_all(fd).find("200 OK"), std::string::npos);
    ::close(fd);
  }
}

TEST_F(HttpTest, ListensWhereItIsTold) {
  EXPECT_THAT(http_->address(), StartsWith("127.0.0.1:")) << "a bare port is one of this machine";
  auto taken = HttpServer::start(*observer_, http_->address());
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Code::kIo);
  for (const char* bad : {"", "unix:///x.sock", "host", "65536", ":80"}) {
    auto server = HttpServer::start(*observer_, bad);
    ASSERT_FALSE(server) << bad;
    EXPECT_EQ(server.error().code, Code::kUsage) << bad;
  }
  auto named = HttpServer::start(*observer_, "localhost:0");
  ASSERT_TRUE(named);
  EXPECT_EQ(httplib::Client("http://" + (*named)->address()).Get("/healthz")->status, 200);
}

}  // namespace
}  // namespace cuzk::service
