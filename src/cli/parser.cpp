// With daemon.cpp the only file that includes CLI11, which costs 9 s to compile.

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/log.h"
#include "cli/commands.h"
#include "field/kernels.h"

namespace cuzk::cli {
namespace {

constexpr const char* kExitCodes =
    "Exit codes: 0 done, 1 a negative answer, 2 bad usage, 3 a bad input, 4 anything else.";

// Turns "2KiB" into "2048" before CLI11 reads the number.
CLI::Validator size_text() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        Result<uint64_t> bytes = parse_size(text);
        if (!bytes) return bytes.error().message;
        text = std::to_string(*bytes);
        return {};
      },
      "");
}

class Tool {
 public:
  explicit Tool(const Remote& remote) : remote_(remote) {
    app_.require_subcommand(1);
    app_.set_version_flag("--version", [] { return version_of("cuzk"); });
    app_.set_help_all_flag("--help-all", "Help of all subcommands");
    app_.add_flag("--json", json_, "Print one JSON object on stdout");
    app_.add_option("--threads", threads_, "Threads of the arithmetic; 0: one a core")->check(CLI::Range(0, 4096));
    app_.footer(kExitCodes);
    app_.fallthrough();
    add_circuit_commands();
    add_proof_commands();
    add_other_commands();
  }

  int run(int argc, const char* const* argv) {
    return parse_and_run(app_, argc, argv, [&]() -> Result<int> {
      CUZK_TRY(select_kernels_from_environment());
      Context context(threads_, json_, remote_);
      Result<int> done = action_(context);
      context.progress.end();
      return done;
    });
  }

 private:
  // A subcommand whose options go to `options` and which `function` carries out.
  template <class Options>
  CLI::App* command(CLI::App& parent, const char* name, const char* help, Options& options,
                    Result<int> (*function)(const Options&, Context&)) {
    CLI::App* sub = parent.add_subcommand(name, help);
    sub->callback([this, &options, function] {
      action_ = [&options, function](Context& context) { return function(options, context); };
    });
    return sub;
  }

  static CLI::Option* add_sector_size(CLI::App* sub, uint64_t& bytes) {
    return sub->add_option("--sector-size", bytes, "Such as 2KiB or 32GiB")->required()->transform(size_text());
  }

  static void add_circuit(CLI::App* sub, CircuitOptions& circuit) {
    sub->add_option("KIND", circuit.kind, "porep, winning, window or update")
        ->required()
        ->check(CLI::IsMember({"porep", "winning", "window", "update"}));
    add_sector_size(sub, circuit.sector_bytes);
    sub->add_flag("--ni", circuit.non_interactive, "The circuit of non-interactive PoRep");
  }

  // What is to be proved: exactly one of --c1, --post, --update and --kind, the last with raw vanilla proofs.
  static CLI::App* add_statement(CLI::App* sub, StatementOptions& statement) {
    CLI::App* one = sub->add_option_group("Statement")->require_option(1);
    one->add_option("--c1", statement.c1, "PoRep: output of seal commit phase 1");
    one->add_option("--post", statement.post, "WinningPoSt or WindowPoSt: json file beside its *.vanilla files");
    one->add_option("--update", statement.update, "Sector update: json file beside its *.vanilla files");
    CLI::Option* kind =
        one->add_option("--kind", statement.kind, "winning, window or update, with --vanilla and what follows")
            ->check(CLI::IsMember({"winning", "window", "update"}));
    CLI::Option* vanilla =
        sub->add_option("--vanilla", statement.vanilla, "Raw vanilla proofs: one a sector (PoSt) or one a partition");
    kind->needs(vanilla);
    vanilla->needs(kind);
    sub->add_option("--registered-proof", statement.registered_proof, "The network's number of the proof")->needs(kind);
    sub->add_option("--randomness", statement.randomness, "PoSt: 32 bytes of hex")->needs(kind);
    sub->add_option("--partition-index", statement.partition_index, "WindowPoSt: the partition of the deadline")
        ->needs(kind);
    sub->add_option("--comm-r-old", statement.comm_r_old, "Update: 32 bytes of hex")->needs(kind);
    sub->add_option("--comm-r-new", statement.comm_r_new, "Update: 32 bytes of hex")->needs(kind);
    sub->add_option("--comm-d-new", statement.comm_d_new, "Update: 32 bytes of hex")->needs(kind);
    sub->add_option("--miner", statement.miner_id, "Miner id");
    sub->add_option("--sector", statement.sector_number, "Sector number");
    return one;
  }

  void add_circuit_commands() {
    CLI::App* sub = command(app_, "digest", "Compile a circuit and print its counts and digests", digest_, digest);
    add_circuit(sub, digest_.circuit);

    sub = command(app_, "setup", "Make development parameters; whoever knows the seed can forge proofs", setup_, setup);
    add_circuit(sub, setup_.circuit);
    CLI::Option* seed = sub->add_option("--seed", setup_.seed, "Derive the secrets from this number");
    CLI::Option* secrets =
        sub->add_option("--secrets", setup_.secrets, "JSON file with alpha, beta, gamma, delta, tau as hex");
    seed->excludes(secrets);
    sub->add_option("--device", setup_.device, "Make the points on this CUDA device: ordinal, UUID or PCI address");
    sub->add_option("--out", setup_.out, "Parameter file to write")->required();
    sub->add_option("--vk", setup_.vk, "Verifying key to write")->required();
  }

  void add_proof_commands() {
    CLI::App* sub = command(app_, "witness", "Make the witness of a partition, check every row and print digests",
                            witness_, witness);
    add_statement(sub, witness_.statement);
    sub->add_option("--partition", witness_.partition, "Which partition, from 0")->required();

    sub = command(app_, "prove", "Prove here with --params, or by a running daemon with --daemon", prove_, prove);
    add_statement(sub, prove_.statement);
    CLI::Option* params = sub->add_option("--params", prove_.params, "Parameter file");
    CLI::Option* daemon = sub->add_option("--daemon", prove_.daemon, "Address of a daemon: unix:///path or host:port");
    params->excludes(daemon);
    sub->add_option("--partition", prove_.partition, "Only this partition, from 0")->excludes(daemon);
    CLI::Option* r =
        sub->add_option("--r", prove_.r, "Blinding value, hex; for tests only: a known one gives the witness away");
    CLI::Option* s = sub->add_option("--s", prove_.s, "The other blinding value");
    r->needs(s)->excludes(daemon);
    s->needs(r);
    sub->add_option("--out", prove_.out, "Proof to write, 192 bytes a partition")->required();
    sub->add_option("--request-id", prove_.request_id, "Name of the job at the daemon")->needs(daemon);

    sub = command(app_, "verify", "Verify a proof; exit code 1 where it does not hold", verify_, verify);
    add_statement(sub, verify_.statement);
    sub->add_option("--vk", verify_.vk, "Verifying key")->required();
    sub->add_option("--proof", verify_.proof, "Proof, 192 bytes a partition")->required();
    sub->add_option("--partition", verify_.partition, "The proof is of this partition alone");
  }

  void add_vanilla_folder(CLI::App* sub) {
    add_sector_size(sub, vanilla_folder_.sector_bytes);
    sub->add_option("--seed", vanilla_folder_.seed, "Equal seeds give equal sectors")->required();
    sub->add_option("--out", vanilla_folder_.out, "Folder to write to; made where it is not there")->required();
  }

  void add_other_commands() {
    CLI::App* vanilla = app_.add_subcommand("vanilla", "Make up a sector and write its vanilla proof");
    vanilla->require_subcommand(1);
    CLI::App* sub =
        command(*vanilla, "porep", "A C1 that satisfies the circuit, made without sealing", vanilla_, vanilla_porep);
    add_sector_size(sub, vanilla_.sector_bytes);
    sub->add_option("--registered-proof", vanilla_.registered_proof,
                    "Such as StackedDrg2KiBV1; default: V1_1 of the size");
    sub->add_option("--seed", vanilla_.seed, "Equal seeds give equal sectors")->required();
    sub->add_flag("--bare", vanilla_.bare, "Without the wrapper of sector number and size");
    sub->add_option("--out", vanilla_.out, "File to write")->required();

    sub = command(*vanilla, "winning", "A WinningPoSt's json and vanilla files", vanilla_folder_, vanilla_winning);
    add_vanilla_folder(sub);
    sub = command(*vanilla, "window", "A WindowPoSt's json and vanilla files", vanilla_folder_, vanilla_window);
    add_vanilla_folder(sub);
    sub->add_option("--sectors", vanilla_folder_.sectors, "How many sectors are proved")->check(CLI::Range(1, 100000));
    sub = command(*vanilla, "update", "A sector update's json and vanilla files", vanilla_folder_, vanilla_update);
    add_vanilla_folder(sub);

    sub = command(app_, "inspect",
                  "Say what a file is: C1, PoSt or update json, parameters, verifying key, proof, circuit", inspect_,
                  inspect);
    sub->add_option("FILE", inspect_.file, "The file")->required();

    sub = command(app_, "bench", "Time proofs: of a made-up sector on CUDA devices, or of a statement by daemons",
                  bench_, bench);
    CLI::App* where = sub->add_option_group("Where")->require_option(1);
    CLI::Option* here = where->add_option("--full-scale", bench_.full_scale,
                                          "Here; shape of the sector, such as porep-32g or porep-2k");
    where->add_option("--daemon", bench_.daemon, "By the daemon at unix:///path or host:port");
    CLI::Option* config =
        where->add_option("--config", bench_.config, "By daemons of its own with this configuration, one a run");

    add_statement(sub, bench_.statement)->require_option(0, 1)->excludes(here);
    sub->add_option("-c,--count", bench_.count, "Daemons: how many proofs")
        ->check(CLI::Range(1, 1'000'000))
        ->excludes(here);
    sub->add_option("-j,--concurrency", bench_.concurrency, "Daemons: how many at a time")
        ->check(CLI::Range(1, 1000))
        ->excludes(here);
    sub->add_option("--warm-up", bench_.warm_up, "Daemons: how many before them that are not counted")
        ->check(CLI::Range(0, 1000))
        ->excludes(here);
    sub->add_option("--vk", bench_.vk, "Daemons: verify each proof here, too, with this key")->excludes(here);
    sub->add_option("--sweep", bench_.sweeps,
                    "SETTING=VALUE,VALUE: a run for each value; given again, for each combination")
        ->needs(config);

    sub->add_option("--proofs", bench_.proofs, "How many are asked for at once")
        ->check(CLI::Range(1, 10000))
        ->needs(here);
    sub->add_option("--device", bench_.devices, "Ordinal, UUID or PCI address; all devices where it is not given")
        ->needs(here);
    sub->add_option("--params", bench_.params, "Read this parameter file; made from the seed where it is not given")
        ->needs(here);
    sub->add_option("--workers", bench_.workers, "Partitions on a device at a time")
        ->check(CLI::Range(1, 16))
        ->needs(here);
    sub->add_option("--vram-limit", bench_.vram_limit, "Use no more memory of each device, such as 16GiB")->needs(here);
    sub->add_option("--b-g2", bench_.b_g2, "Where the sum over G2 is made, as the setting gpus.b_g2 says")
        ->check(CLI::IsMember({"auto", "gpu", "cpu"}))
        ->needs(here);
    sub->add_option("--seed", bench_.seed, "Of the sector and of the parameters")->needs(here);
    sub->add_flag("--steps", bench_.steps, "Time each step of a partition, which costs some overlap")->needs(here);

    sub =
        command(app_, "simulate", "Say what an engine with these settings would do: pace, memory, idle time, timeline",
                simulate_, simulate);
    sub->add_option("--profile", simulate_.profile,
                    "published (755 GiB, 96 cores, one 16 GB card), or a JSON file (docs/formats/profile.md)");
    sub->add_flag("--old-policy", simulate_.old_policy, "As the engine before this one; with --profile published");
    sub->add_option("--partition-workers", simulate_.partition_workers,
                    "Partitions in synthesis or waiting for a device")
        ->check(CLI::Range(1, 4096));
    sub->add_option("--gpu-workers", simulate_.gpu_workers, "Workers of each device")->check(CLI::Range(1, 64));
    sub->add_option("--memory", simulate_.memory_bytes, "Host memory that the engine may use")->transform(size_text());
    sub->add_option("--proofs", simulate_.proofs, "How many in all")->check(CLI::Range(1, 100'000));
    sub->add_option("--concurrent", simulate_.concurrent, "How many at a time")->check(CLI::Range(1, 10'000));
    sub->add_option("--rows", simulate_.rows, "Rows of the timeline")->check(CLI::Range(0, 10'000));

    sub = command(app_, "plan", "Say what fits this machine, and why", plan_, plan);
    sub->add_option("--circuit", plan_.circuits, "Such as porep-32GiB or window-2KiB; default: those of 32 GiB");
    sub->add_option("--memory", plan_.memory_bytes, "Host memory that the engine may use")->transform(size_text());
    sub->add_option("--partition-workers", plan_.partition_workers, "0: one a core")->check(CLI::Range(0, 4096));

    sub = command(app_, "status", "Ask a running daemon for its status", status_, status);
    sub->add_option("--daemon", status_.daemon, "Its address: unix:///path or host:port")->required();
    sub->add_option("--wait", status_.wait_seconds, "Seconds that it may take to come up")->check(CLI::Range(0, 3600));
  }

  const Remote& remote_;
  CLI::App app_{"Tools for Groth16 proofs of Filecoin sectors", "cuzk"};
  bool json_ = false;
  size_t threads_ = 0;
  std::function<Result<int>(Context&)> action_;
  DigestOptions digest_;
  WitnessOptions witness_;
  SetupOptions setup_;
  ProveOptions prove_;
  VerifyOptions verify_;
  VanillaOptions vanilla_;
  VanillaFolderOptions vanilla_folder_;
  InspectOptions inspect_;
  SimulateOptions simulate_;
  PlanOptions plan_;
  StatusOptions status_;
  BenchOptions bench_;
};

}  // namespace

int run_tool(int argc, const char* const* argv, const Remote& remote) { return Tool(remote).run(argc, argv); }

}  // namespace cuzk::cli
