// What the C interface answers without proving; tests/programs/embedding.c proves.

#include "capi/cuzk.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

namespace {

constexpr const char* kConfig =
    "[gpus]\ndevices = [\"none\"]\n[synthesis]\nthreads = 2\n[srs]\nparam_cache = \"/nonexistent\"\n";

struct Engine {
  cuzk_engine* engine = nullptr;
  Engine() { EXPECT_EQ(cuzk_engine_new(kConfig, &engine, nullptr), CUZK_OK); }
  ~Engine() { cuzk_engine_free(engine); }
};

std::string content(const std::string& name) {
  std::ifstream stream(CUZK_SOURCE_DIR "/tests/data/sectors/2KiB/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

cuzk_request porep(const std::string& c1) {
  cuzk_request request{};
  request.size = sizeof request;
  request.kind = CUZK_POREP;
  request.vanilla_proof = {reinterpret_cast<const uint8_t*>(c1.data()), c1.size()};
  return request;
}

int prove(cuzk_engine* engine, const cuzk_request& request, cuzk_error* error) {
  size_t length = 0;
  return cuzk_prove(engine, &request, nullptr, &length, error);
}

TEST(CInterface, NamesItsCodes) {
  const std::vector<std::string> names = {
      "ok",        "invalid_input",      "invalid_params", "unsatisfied", "verify_failed", "not_found", "usage",
      "too_large", "resource_exhausted", "unavailable",    "deadline",    "cancelled",     "io",        "unimplemented",
      "internal"};
  for (size_t code = 0; code < names.size(); code++) EXPECT_EQ(cuzk_code_name(static_cast<int>(code)), names[code]);
  EXPECT_EQ(cuzk_code_name(-1), nullptr);
  EXPECT_EQ(cuzk_code_name(static_cast<int>(names.size())), nullptr);
}

TEST(CInterface, SaysWhatIsWrongWithAConfiguration) {
  cuzk_engine* engine = nullptr;
  cuzk_error error;
  EXPECT_EQ(cuzk_engine_new("[daemon]\nlog = 3\n", &engine, &error), CUZK_USAGE);
  EXPECT_EQ(error.code, CUZK_USAGE);
  EXPECT_STREQ(error.message, "configuration:2: unknown key 'daemon.log'");
  EXPECT_EQ(engine, nullptr);
  const std::string name(5000, 'x');
  EXPECT_EQ(cuzk_engine_new((name + " = 1").c_str(), &engine, &error), CUZK_USAGE);
  EXPECT_EQ(std::strlen(error.message), sizeof error.message - 1) << "cut";
}

TEST(CInterface, RefusesRequestsThatAreNone) {
  Engine engine;
  cuzk_error error;
  cuzk_request request = porep("{}");
  request.kind = 5;
  EXPECT_EQ(prove(engine.engine, request, &error), CUZK_INVALID_INPUT);
  EXPECT_STREQ(error.message, "no such kind of proof: 5");
  request = porep("{}");
  request.size -= 8;
  EXPECT_EQ(prove(engine.engine, request, &error), CUZK_USAGE);
  cuzk_job* job = nullptr;
  EXPECT_EQ(cuzk_start(engine.engine, nullptr, &job, &error), CUZK_USAGE);
  EXPECT_EQ(job, nullptr);
}

TEST(CInterface, TakesRequestsWithNothingInThem) {
  Engine engine;
  for (int kind : {CUZK_POREP, CUZK_UPDATE, CUZK_WINDOW_POST, CUZK_WINNING_POST}) {
    cuzk_request request{};
    request.size = sizeof request;
    request.kind = kind;
    cuzk_error error;
    EXPECT_EQ(prove(engine.engine, request, &error), CUZK_INVALID_INPUT) << error.message;
  }
}

TEST(CInterface, AnswersFailedJobsOfManyThreads) {
  Engine engine;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([&, i] {
      const std::string c1(static_cast<size_t>(i), '{');
      cuzk_error error;
      EXPECT_EQ(prove(engine.engine, porep(c1), &error), CUZK_INVALID_INPUT);
      EXPECT_EQ(std::string(error.message).find("C1 parse failed"), 0u) << error.message;
    });
  }
}

TEST(CInterface, AJobOutlivesItsEngine) {
  const std::string c1 = content("c1-wrapped.json");
  const cuzk_request request = porep(c1);
  cuzk_job* job = nullptr;
  {
    Engine engine;
    EXPECT_EQ(prove(engine.engine, request, nullptr), CUZK_NOT_FOUND) << "there are no parameters";
    ASSERT_EQ(cuzk_start(engine.engine, &request, &job, nullptr), CUZK_OK);
  }
  size_t length = 7;
  const int code = cuzk_finish(job, -1, nullptr, &length, nullptr);
  EXPECT_TRUE(code == CUZK_UNAVAILABLE || code == CUZK_NOT_FOUND) << code;
  EXPECT_EQ(length, 0u);
  cuzk_job_free(job);
}

TEST(CInterface, LogsWhereItIsTold) {
  std::vector<std::pair<int, std::string>> lines;
  cuzk_log_to([](void* context, int level,
                 const char* line) { static_cast<decltype(lines)*>(context)->emplace_back(level, line); },
              &lines);
  testing::internal::CaptureStderr();
  { Engine engine; }
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.front().first, 2) << "info";
  EXPECT_NE(lines.front().second.find("arithmetic kernels"), std::string::npos) << lines.front().second;
  const size_t count = lines.size();
  cuzk_log_to(nullptr, nullptr);
  { Engine engine; }
  EXPECT_EQ(lines.size(), count);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
