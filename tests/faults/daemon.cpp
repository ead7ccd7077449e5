// cuzk-daemon with faults on purpose: CUZK_FAULTS holds a plan (src/engine/faults_testing.h). For tests only.

#include "service/daemon.h"

#include <cstdio>

#include "cli/cli.h"
#include "engine/faults_testing.h"
#include "service/config.h"

int main(int argc, char** argv) {
  using namespace cuzk;
  if (const Status planned = engine::testing::faults().plan_from_environment(); !planned) {
    std::fprintf(stderr, "CUZK_FAULTS: %s\n", planned.error().message.c_str());
    return exit_code(planned.error().code);
  }
  return cli::run_daemon(argc, argv, service::describe_settings(), [](const cli::DaemonArguments& arguments) {
    return service::run_daemon({.config = arguments.config,
                                .listen = arguments.listen,
                                .log_level = arguments.log_level,
                                .wrap_backend = engine::testing::make_faulty});
  });
}
