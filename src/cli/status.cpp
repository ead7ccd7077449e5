#include "cli/commands.h"

namespace cuzk::cli {

Result<int> status(const StatusOptions& options, Context& context) {
  CUZK_TRY_ASSIGN(nlohmann::json answer, context.remote.status(options.daemon, options.wait_seconds));
  context.print(Report(answer));
  return 0;
}

}  // namespace cuzk::cli
