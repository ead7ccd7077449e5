#include "cli/cli.h"
#include "service/config.h"
#include "service/daemon.h"

int main(int argc, char** argv) {
  return cuzk::cli::run_daemon(
      argc, argv, cuzk::service::describe_settings(), [](const cuzk::cli::DaemonArguments& arguments) {
        return cuzk::service::run_daemon(
            {arguments.config, arguments.listen, arguments.check_config, arguments.print_config, arguments.log_level});
      });
}
