/// Defines the exceptions of all failures that a user can meet. Their messages say what was attempted, on what, and
/// what to do about it.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/core.h>

namespace convoy {

/// The exit status of the process; job scripts act on it.
enum class ExitStatus : int {
  kDone = 0,
  kFailed = 1,         ///< the run failed
  kWrongRequest = 2,   ///< the parameters or the command line were wrong: nothing was started
  kStoppedEarly = 75,  ///< stopped on request with a checkpoint written: run the same command again
};

/// A failure of the run, such as a damaged file; the process ends with ExitStatus::kFailed.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A wrong request by the user. The message names the parameter, the value given, what is allowed and the nearest right
/// value. The process ends with ExitStatus::kWrongRequest.
class RequestError : public Error {
 public:
  using Error::Error;
};

/// Throws Error with a formatted message.
template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

/// Throws RequestError with a formatted message.
template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw RequestError(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace convoy
