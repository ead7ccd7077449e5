/* Another program that proves with libcuzk. Usage: embedding CONFIGURATION VK VANILLA RANDOMNESS PROOF
 *
 * VANILLA and RANDOMNESS are files of a WindowPoSt's only sector at 2 KiB. Writes the proof; the exit code is 1 and the
 * line is told where the library did something else than it should. */
#include <cuzk.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cuzk_error error;

static void check(int holds, const char* what, int line) {
  if (holds) return;
  fprintf(stderr, "line %d: %s; the last error: %d %s\n", line, what, error.code, error.message);
  exit(1);
}
#define CHECK(condition) check(condition, #condition, __LINE__)

static cuzk_bytes content(const char* path) {
  static const size_t most = 1 << 20;
  cuzk_bytes bytes = {NULL, 0};
  uint8_t* data = calloc(1, most);
  FILE* file = fopen(path, "rb");
  CHECK(data && file);
  bytes.length = fread(data, 1, most - 1, file);
  bytes.data = data;
  CHECK(bytes.length > 0 && fclose(file) == 0);
  return bytes;
}

struct call {
  cuzk_engine* engine;
  const cuzk_request* request;
  uint8_t proof[CUZK_PROOF_BYTES];
  int code;
};
static void* prove(void* argument) {
  struct call* call = argument;
  size_t length = sizeof call->proof;
  call->code = cuzk_prove(call->engine, call->request, call->proof, &length, NULL);
  return NULL;
}

static void test_cancel(cuzk_engine* engine, const cuzk_request* request) {
  cuzk_job* job = NULL;
  size_t length = 0;
  CHECK(cuzk_start(engine, request, &job, &error) == CUZK_OK);
  cuzk_cancel(job);
  CHECK(cuzk_finish(job, -1, NULL, &length, &error) == CUZK_CANCELLED);
  cuzk_cancel(job);
  cuzk_job_free(job);
}

/* The first proof, in two steps. */
static void test_start_and_finish(cuzk_engine* engine, const cuzk_request* request, uint8_t* proof) {
  cuzk_job* job = NULL;
  uint8_t untouched[CUZK_PROOF_BYTES] = {0};
  size_t length = CUZK_PROOF_BYTES;
  CHECK(cuzk_start(engine, request, &job, &error) == CUZK_OK);
  CHECK(cuzk_finish(job, 0, proof, &length, &error) == CUZK_DEADLINE && length == 0);
  length = CUZK_PROOF_BYTES - 1;
  CHECK(cuzk_finish(job, -1, proof, &length, &error) == CUZK_TOO_LARGE && length == CUZK_PROOF_BYTES);
  CHECK(memcmp(proof, untouched, sizeof untouched) == 0);
  CHECK(cuzk_finish(job, 0, proof, &length, &error) == CUZK_OK && length == CUZK_PROOF_BYTES);
  cuzk_job_free(job);
}

/* Equal requests without an id are one job, and their proof is kept. */
static void test_many_callers(cuzk_engine* engine, cuzk_request request) {
  struct call calls[4];
  pthread_t threads[4];
  size_t length = 0, i;
  uint8_t proof[CUZK_PROOF_BYTES];
  request.id = NULL;
  for (i = 0; i < 4; i++) {
    calls[i].engine = engine;
    calls[i].request = &request;
    CHECK(pthread_create(&threads[i], NULL, prove, &calls[i]) == 0);
  }
  for (i = 0; i < 4; i++) {
    CHECK(pthread_join(threads[i], NULL) == 0 && calls[i].code == CUZK_OK);
    CHECK(memcmp(calls[i].proof, calls[0].proof, sizeof proof) == 0);
  }
  CHECK(cuzk_prove(engine, &request, NULL, &length, &error) == CUZK_TOO_LARGE && length == sizeof proof);
  CHECK(cuzk_prove(engine, &request, proof, &length, &error) == CUZK_OK);
  CHECK(memcmp(proof, calls[0].proof, sizeof proof) == 0);
}

static void test_verify(cuzk_request request, const char* vk, uint8_t* proof) {
  static const uint8_t other[32] = {1};
  CHECK(cuzk_verify(&request, vk, proof, CUZK_PROOF_BYTES, &error) == CUZK_OK);
  proof[100] ^= 1;
  CHECK(cuzk_verify(&request, vk, proof, CUZK_PROOF_BYTES, &error) == CUZK_VERIFY_FAILED);
  proof[100] ^= 1;
  CHECK(cuzk_verify(&request, vk, proof, CUZK_PROOF_BYTES - 1, &error) == CUZK_INVALID_INPUT);
  CHECK(cuzk_verify(&request, "/nonexistent", proof, CUZK_PROOF_BYTES, &error) == CUZK_NOT_FOUND);
  request.randomness.data = other;
  CHECK(cuzk_verify(&request, vk, proof, CUZK_PROOF_BYTES, &error) == CUZK_UNSATISFIED);
}

int main(int count, char** arguments) {
  cuzk_engine* engine = NULL;
  cuzk_request request;
  cuzk_bytes vanilla;
  uint8_t proof[CUZK_PROOF_BYTES] = {0};
  FILE* file;
  if (count != 6) return 2;
  CHECK(strcmp(cuzk_version(), "") != 0);
  CHECK(cuzk_engine_new("[nonsense]\n", &engine, &error) == CUZK_USAGE && error.code == CUZK_USAGE);
  CHECK(cuzk_engine_new((const char*)content(arguments[1]).data, &engine, &error) == CUZK_OK);

  memset(&request, 0, sizeof request);
  request.size = sizeof request;
  request.id = "wdpost-1000-0-[1 2]";
  request.kind = CUZK_WINDOW_POST;
  request.registered_proof = 10;
  request.miner_id = 1000;
  vanilla = content(arguments[3]);
  request.vanilla_proofs = &vanilla;
  request.vanilla_proof_count = 1;
  request.randomness = content(arguments[4]);

  test_cancel(engine, &request);
  test_start_and_finish(engine, &request, proof);
  test_many_callers(engine, request);
  test_verify(request, arguments[2], proof);
  cuzk_engine_free(engine);
  file = fopen(arguments[5], "wb");
  CHECK(file && fwrite(proof, 1, sizeof proof, file) == sizeof proof && fclose(file) == 0);
  return 0;
}
