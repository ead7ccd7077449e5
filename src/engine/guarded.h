#pragma once
// Turns what a library below may still throw, chiefly running out of memory, into an error of one job.

#include <exception>
#include <functional>
#include <new>

#include "base/result.h"

namespace cuzk::engine {

template <class T>
Result<T> guarded(const std::function<Result<T>()>& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return fail(Code::kResourceExhausted, "out of memory");
  } catch (const std::exception& exception) {
    return fail(Code::kInternal, "unexpected failure: {}", exception.what());
  } catch (...) {
    return fail(Code::kInternal, "unexpected failure of an unknown kind");
  }
}

}  // namespace cuzk::engine
