#include <nlohmann/json.hpp>

#include "cli/cli.h"
#include "service/client.h"
#include "service/config.h"

int main(int argc, char** argv) {
  return cuzk::cli::run_tool(argc, argv,
                             {cuzk::service::remote_status, cuzk::service::remote_prove, cuzk::service::remote_metrics,
                              cuzk::service::changed_config});
}
