// A file of its own, so that the daemon holds none of the tool.

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/cli.h"
#include "cli/commands.h"
#include "field/kernels.h"

namespace cuzk::cli {

std::string version_of(std::string_view program) {
  return fmt::format("{} {}, {} kernels", program, CUZK_VERSION, kernels().name);
}

int parse_and_run(CLI::App& app, int argc, const char* const* argv, const std::function<Result<int>()>& action) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_code(Code::kUsage);
  }
  Result<int> done = action();
  if (done) return *done;
  fmt::print(stderr, "{}: {}: {}\n", app.get_name(), code_name(done.error().code), done.error().message);
  return exit_code(done.error().code);
}

int run_daemon(int argc, const char* const* argv, const std::string& settings,
               const std::function<Result<int>(const DaemonArguments&)>& serve) {
  DaemonArguments arguments;
  CLI::App app("Serves Groth16 proofs of Filecoin sectors over gRPC (cuzk.v1.ProvingEngine)", "cuzk-daemon");
  app.set_version_flag("--version", [] { return version_of("cuzk-daemon"); });
  app.add_option("-c,--config", arguments.config, "TOML file; default: /data/zk/cuzk.toml where it exists");
  app.add_option("-l,--listen", arguments.listen,
                 "Listen here and not where the configuration says: unix:///path or host:port");
  std::map<std::string, log::Level> levels;
  for (log::Level level :
       {log::Level::kTrace, log::Level::kDebug, log::Level::kInfo, log::Level::kWarn, log::Level::kError})
    levels.emplace(log::level_name(level), level);
  std::string level;
  app.add_option("--log-level", level, "In place of logging.level")->check(CLI::IsMember(levels));
  app.add_flag("--check-config", arguments.check_config,
               "Read the configuration and the files that it names, report their faults and stop");
  app.add_flag("--print-config", arguments.print_config,
               "Print the whole configuration, defaults included, as a file, and stop");
  app.footer("Settings:\n" + settings +
             "\nSIGTERM and SIGINT finish the running jobs and stop; a second signal stops at once. SIGHUP reads the "
             "configuration again.");
  return parse_and_run(app, argc, argv, [&] {
    if (!level.empty()) arguments.log_level = levels.at(level);
    return serve(arguments);
  });
}

}  // namespace cuzk::cli
