#pragma once
// Errors are values. A library returns Result<T>; it never prints, aborts or throws across its border.

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace cuzk {

// The closed set of error codes. Each has one stable name (log field, metric label, in-band prefix) and one exit code.
enum class Code {
  kInvalidInput,       // a request, file or proof is malformed; trying again cannot help
  kInvalidParams,      // a parameter or key file is damaged or belongs to another circuit
  kUnsatisfied,        // a witness breaks a constraint, or a vanilla proof fails a native check
  kVerifyFailed,       // a proof does not verify
  kNotFound,           // a file, job or circuit does not exist
  kUsage,              // the command line or a configuration is wrong
  kTooLarge,           // more than a stated limit, or more than the machine can ever hold
  kResourceExhausted,  // no room now; try again later
  kUnavailable,        // shutting down or not ready; try again later
  kDeadline,           // a time limit passed
  kCancelled,          // somebody asked to stop
  kIo,                 // the operating system refused
  kUnimplemented,      // part of the contract, not built yet
  kInternal,           // a fault of this program
};

// Stable lower-case name of a code, such as "invalid_input".
std::string_view code_name(Code code);
// True where the same call may succeed later without a change.
bool retryable(Code code);
// Exit code of a command that ends with this error: 1 negative answer, 2 bad usage, 3 bad input, 4 anything else.
int exit_code(Code code);

struct Error {
  Code code;
  std::string message;

  // The same error with what was being done in front: "context: message".
  Error within(std::string_view context) && { return {code, fmt::format("{}: {}", context, message)}; }
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

template <class... Args>
tl::unexpected<Error> fail(Code code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

// Passes an error up: CUZK_TRY(status_expression); CUZK_TRY_ASSIGN(auto value, result_expression);
#define CUZK_CONCAT_INNER(a, b) a##b
#define CUZK_CONCAT(a, b) CUZK_CONCAT_INNER(a, b)
#define CUZK_TRY(expression)                                                  \
  do {                                                                        \
    if (auto cuzk_status = (expression); !cuzk_status)                        \
      return ::tl::unexpected<::cuzk::Error>(std::move(cuzk_status).error()); \
  } while (false)
#define CUZK_TRY_ASSIGN(target, expression) \
  CUZK_TRY_ASSIGN_INNER(CUZK_CONCAT(cuzk_result_, __LINE__), target, expression)
#define CUZK_TRY_ASSIGN_INNER(name, target, expression)                       \
  auto name = (expression);                                                   \
  if (!name) return ::tl::unexpected<::cuzk::Error>(std::move(name).error()); \
  target = std::move(*name)

}  // namespace cuzk
