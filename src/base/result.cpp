#include "base/result.h"

namespace cuzk {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::kInvalidInput: return "invalid_input";
    case Code::kInvalidParams: return "invalid_params";
    case Code::kUnsatisfied: return "unsatisfied";
    case Code::kVerifyFailed: return "verify_failed";
    case Code::kNotFound: return "not_found";
    case Code::kUsage: return "usage";
    case Code::kTooLarge: return "too_large";
    case Code::kResourceExhausted: return "resource_exhausted";
    case Code::kUnavailable: return "unavailable";
    case Code::kDeadline: return "deadline";
    case Code::kCancelled: return "cancelled";
    case Code::kIo: return "io";
    case Code::kUnimplemented: return "unimplemented";
    case Code::kInternal: return "internal";
  }
  return "internal";
}

bool retryable(Code code) {
  return code == Code::kResourceExhausted || code == Code::kUnavailable || code == Code::kDeadline || code == Code::kIo;
}

int exit_code(Code code) {
  switch (code) {
    case Code::kUnsatisfied:
    case Code::kVerifyFailed: return 1;
    case Code::kUsage: return 2;
    case Code::kInvalidInput:
    case Code::kInvalidParams:
    case Code::kNotFound:
    case Code::kTooLarge: return 3;
    default: return 4;
  }
}

}  // namespace cuzk
