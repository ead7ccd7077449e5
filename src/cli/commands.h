#pragma once
// The subcommands of `cuzk`: options, and the function that carries it out, in the file of the same name.

#include <nlohmann/json.hpp>

#include "cli/cli.h"
#include "cli/context.h"

namespace CLI {
class App;
}

namespace cuzk::cli {

// What --version prints.
std::string version_of(std::string_view program);
// Parses and, where the arguments are good, calls `action`; prints help and errors.
int parse_and_run(CLI::App& app, int argc, const char* const* argv, const std::function<Result<int>()>& action);

// A circuit by its kind and sector size.
struct CircuitOptions {
  std::string kind;
  uint64_t sector_bytes = 0;
  bool non_interactive = false;
};

struct DigestOptions {
  CircuitOptions circuit;
};
Result<int> digest(const DigestOptions& options, Context& context);

// What is to be proved, by exactly one of: a C1; a json file as in the reference vectors; raw vanilla proofs of a kind.
struct StatementOptions {
  std::optional<std::string> c1, post, update, kind;
  // With `kind`, "winning", "window" or "update", as a request brings them.
  std::vector<std::string> vanilla;  // files, one a sector or one a partition
  uint64_t registered_proof = 0;
  std::string randomness, comm_r_old, comm_r_new, comm_d_new;  // hex
  uint32_t partition_index = 0;
  uint64_t miner_id = 0, sector_number = 0;
};

struct WitnessOptions {
  StatementOptions statement;
  uint32_t partition = 0;
};
Result<int> witness(const WitnessOptions& options, Context& context);

struct SetupOptions {
  CircuitOptions circuit;
  std::optional<uint64_t> seed;
  std::optional<std::string> secrets;
  std::optional<std::string> device;  // a CUDA device; absent: the processor
  std::string out, vk;
};
Result<int> setup(const SetupOptions& options, Context& context);

struct ProveOptions {
  StatementOptions statement;
  std::string out, request_id;
  std::optional<std::string> params, daemon;  // one of them
  std::optional<uint32_t> partition;          // absent: all
  std::optional<std::string> r, s;            // both or none
};
Result<int> prove(const ProveOptions& options, Context& context);

struct VerifyOptions {
  StatementOptions statement;
  std::string vk, proof;
  std::optional<uint32_t> partition;  // absent: the proof is of all
};
Result<int> verify(const VerifyOptions& options, Context& context);

struct VanillaOptions {
  uint64_t sector_bytes = 0;
  std::optional<std::string> registered_proof;  // in place of the usual one of the size
  uint64_t seed = 0;
  bool bare = false;
  std::string out;
};
Result<int> vanilla_porep(const VanillaOptions& options, Context& context);

// PoSts and updates are several files, in a folder.
struct VanillaFolderOptions {
  uint64_t sector_bytes = 0;
  uint64_t seed = 0;
  uint64_t sectors = 1;  // WindowPoSt
  std::string out;
};
Result<int> vanilla_winning(const VanillaFolderOptions& options, Context& context);
Result<int> vanilla_window(const VanillaFolderOptions& options, Context& context);
Result<int> vanilla_update(const VanillaFolderOptions& options, Context& context);

struct InspectOptions {
  std::string file;
};
Result<int> inspect(const InspectOptions& options, Context& context);

// One of: proofs of a made-up sector on devices; proofs of a statement by a daemon that runs, or by daemons of one's
// own.
struct BenchOptions {
  std::optional<std::string> full_scale;  // a shape such as "porep-32g"
  std::optional<std::string> daemon;      // an address
  std::optional<std::string> config;      // of daemons of one's own, one after the other

  // By daemons.
  StatementOptions statement;
  uint32_t count = 3, concurrency = 1, warm_up = 0;
  std::vector<std::string> sweeps;  // "setting=value,value"; every combination is run, with `config`
  std::optional<std::string> vk;    // to verify here, too

  // On devices.
  std::vector<std::string> devices;  // empty: all
  std::optional<std::string> vram_limit, params;
  std::string b_g2 = "auto";
  size_t workers = 2;
  uint32_t proofs = 2;
  uint64_t seed = 1;
  bool steps = false;
};
// Proofs of a made-up sector through the engine, with parameters from a file or development parameters made on the
// device; every proof is verified.
Result<int> bench_devices(const BenchOptions& options, Context& context);
// The same proof again and again; where a daemon of its own dies, that is reported and the next setting is tried.
Result<int> bench_daemons(const BenchOptions& options, Context& context);
Result<int> bench(const BenchOptions& options, Context& context);

struct SimulateOptions {
  std::string profile = "published";  // or a JSON file
  bool old_policy = false;            // of the engine before this one; "published" only
  std::optional<uint64_t> partition_workers, gpu_workers, memory_bytes;
  uint64_t proofs = 30, concurrent = 15;
  uint64_t rows = 20;  // of the timeline
};
Result<int> simulate(const SimulateOptions& options, Context& context);

struct PlanOptions {
  std::vector<std::string> circuits;  // such as "porep-32GiB"; none: all of 32 GiB
  std::optional<uint64_t> memory_bytes;
  uint64_t partition_workers = 0;  // 0: a core each
};
Result<int> plan(const PlanOptions& options, Context& context);

struct StatusOptions {
  std::string daemon;
  unsigned wait_seconds = 0;
};
Result<int> status(const StatusOptions& options, Context& context);

}  // namespace cuzk::cli
