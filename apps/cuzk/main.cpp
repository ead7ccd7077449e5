#include <nlohmann/json.hpp>

#include "cli/cli.h"
#include "service/client.h"

int main(int argc, char** argv) {
  cuzk::cli::Remote remote;
  remote.status = cuzk::service::remote_status;
  remote.prove = [](const cuzk::cli::Remote::Prove& options, cuzk::ByteSpan c1) {
    return cuzk::service::remote_prove({options.address, options.request_id, options.miner_id, options.sector_number},
                                       c1);
  };
  return cuzk::cli::run_tool(argc, argv, remote);
}
