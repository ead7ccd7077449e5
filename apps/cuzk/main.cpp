#include <nlohmann/json.hpp>

#include "cli/cli.h"
#include "service/client.h"

int main(int argc, char** argv) {
  return cuzk::cli::run_tool(argc, argv, {cuzk::service::remote_status, cuzk::service::remote_prove});
}
