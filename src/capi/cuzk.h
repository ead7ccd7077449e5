#ifndef CUZK_H
#define CUZK_H
/* The proving engine inside another program: what cuzk-daemon does, without the daemon.
 *
 * Every function may be called from any thread at any time, unless it says otherwise. None prints, aborts or throws.
 * Functions that return int return CUZK_OK or another of the codes below, and then fill *error, where it is not NULL.
 * Memory that a caller passes is read during the call alone; nothing that is returned needs to be freed but engines and
 * jobs.
 */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers and meanings never change; later versions may add codes. */
enum {
  CUZK_OK = 0,
  CUZK_INVALID_INPUT = 1,      /* a request or proof is malformed; trying again cannot help */
  CUZK_INVALID_PARAMS = 2,     /* a parameter or key file is damaged or belongs to another circuit */
  CUZK_UNSATISFIED = 3,        /* a vanilla proof does not hold */
  CUZK_VERIFY_FAILED = 4,      /* a proof does not verify */
  CUZK_NOT_FOUND = 5,          /* a file does not exist */
  CUZK_USAGE = 6,              /* the configuration or a call is wrong */
  CUZK_TOO_LARGE = 7,          /* more than a stated limit, the caller's buffer, or what the machine can ever hold */
  CUZK_RESOURCE_EXHAUSTED = 8, /* no room now; try again later */
  CUZK_UNAVAILABLE = 9,        /* not ready; try again later */
  CUZK_DEADLINE = 10,          /* a time limit passed */
  CUZK_CANCELLED = 11,         /* somebody cancelled the job, or its id came with another request */
  CUZK_IO = 12,                /* the operating system refused */
  CUZK_UNIMPLEMENTED = 13,
  CUZK_INTERNAL = 14 /* a fault of the library */
};

typedef struct cuzk_error {
  int code;
  char message[1020]; /* what is wrong and what to do; ends with a NUL, cut where it would be longer */
} cuzk_error;

/* Such as "0.1.0". */
const char* cuzk_version(void);
/* Such as "invalid_input", as logs, metrics and the daemon's answers name it; NULL for what is no code. */
const char* cuzk_code_name(int code);

/* Where lines of the log go, for the whole process; NULL, the state at first: nowhere. `level` is 0 (trace) to 4
 * (error), logging.level of the engine made last the least of them; `line` ends with a NUL. Called from threads of the
 * library, one at a time; it must not call the library.
 * When cuzk_log_to returns, what was set before is not called any more. */
typedef void (*cuzk_log_function)(void* context, int level, const char* line);
void cuzk_log_to(cuzk_log_function function, void* context);

/* --- engines */

typedef struct cuzk_engine cuzk_engine;

/* `toml` is a configuration as the daemon reads it (docs/operating.md); "" is all defaults. Memory, parameters, devices
 * and limits are as in the daemon; the tables [daemon] and [journal] have no effect, logging.format neither. A process
 * can have several engines, but each counts the machine's memory as its own. */
int cuzk_engine_new(const char* toml, cuzk_engine** engine, cuzk_error* error);
/* Its jobs that have not ended fail with CUZK_UNAVAILABLE. Waits for the stages in progress, or leaves that to the last
 * cuzk_job_free where there is one to come. The engine must not be in use by another call. NULL is allowed. */
void cuzk_engine_free(cuzk_engine* engine);

/* --- requests */

enum { CUZK_POREP = 1, CUZK_UPDATE = 2, CUZK_WINDOW_POST = 3, CUZK_WINNING_POST = 4 };
enum { CUZK_LOW = 1, CUZK_NORMAL = 2, CUZK_HIGH = 3, CUZK_CRITICAL = 4 };

typedef struct cuzk_bytes {
  const uint8_t* data;
  size_t length;
} cuzk_bytes;

/* The fields of cuzk.v1.SubmitProofRequest that decide a proof. Set all to zero, then those that the kind needs. */
typedef struct cuzk_request {
  size_t size;    /* sizeof(cuzk_request) */
  const char* id; /* a known id with an equal request joins that job or returns its kept proof; with another request it
                     takes the place of that job, which is cancelled. NULL: the content of the request is its name. */
  int kind;
  int priority;              /* 0: the usual one of the kind */
  uint64_t registered_proof; /* PoSt and update: the number of the network; a C1 names its own */
  uint64_t sector_number;
  uint64_t miner_id;
  cuzk_bytes vanilla_proof;         /* PoRep: the C1 as JSON */
  const cuzk_bytes* vanilla_proofs; /* PoSt: one a sector; update: one a partition */
  size_t vanilla_proof_count;
  cuzk_bytes randomness;    /* PoSt: 32 bytes */
  uint32_t partition_index; /* WindowPoSt */
  cuzk_bytes comm_r_old;    /* update: 32 bytes each */
  cuzk_bytes comm_r_new;
  cuzk_bytes comm_d_new;
} cuzk_request;

/* --- proofs: CUZK_PROOF_BYTES a partition, in order, verified before they are returned
 *
 * `proof` has room for *length bytes; *length becomes the exact length of the proof, 0 where there is none. Where the
 * room is too small nothing is written, the code is CUZK_TOO_LARGE, and the same call with *length bytes of room
 * returns the proof, which is kept (scheduler.result_ttl). With no room at all `proof` may be NULL. */

#define CUZK_PROOF_BYTES 192

/* Waits for the proof: cuzk_start, cuzk_finish and cuzk_job_free in one. */
int cuzk_prove(cuzk_engine* engine, const cuzk_request* request, uint8_t* proof, size_t* length, cuzk_error* error);

typedef struct cuzk_job cuzk_job;

/* Parses the request and queues it. A request that cannot be proved is a job that fails; an error means that there is
 * no job. */
int cuzk_start(cuzk_engine* engine, const cuzk_request* request, cuzk_job** job, cuzk_error* error);
/* Waits at most so long; negative: without limit. CUZK_DEADLINE: not ready, the job goes on. May be called again, and
 * by several threads. */
int cuzk_finish(cuzk_job* job, int64_t timeout_ms, uint8_t* proof, size_t* length, cuzk_error* error);
/* Ends the job for all who wait for it; stages in progress run to their end and no further. */
void cuzk_cancel(cuzk_job* job);
/* A job that nobody holds any more is cancelled after 30 s, so its id can be taken up again until then. The job must
 * not be in use by another call. NULL is allowed. */
void cuzk_job_free(cuzk_job* job);

/* --- verification; needs no engine */

/* CUZK_OK: the proof of all partitions holds for the statement of the request, by the key of the file.
 * CUZK_VERIFY_FAILED: it does not, or its bytes are no points. The vanilla proofs are checked as well
 * (CUZK_UNSATISFIED). */
int cuzk_verify(const cuzk_request* request, const char* vk_path, const uint8_t* proof, size_t length,
                cuzk_error* error);

#ifdef __cplusplus
}
#endif
#endif
