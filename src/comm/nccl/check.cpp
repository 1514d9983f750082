/// The message of a failed NCCL call.
#include "comm/nccl/check.h"

#include <string_view>

#include "convoy/base/error.h"

namespace convoy::nccl {

void fail_call(ncclResult_t result, const char* call, const char* file, int line) {
  const char* last = ncclGetLastError(nullptr);
  const std::string_view met = last == nullptr ? std::string_view() : std::string_view(last);
  fail("{} failed: {}{}{} ({}:{}). With NCCL_DEBUG=WARN in the environment NCCL says more.", call,
       ncclGetErrorString(result), met.empty() ? "" : ": ", met, file, line);
}

}  // namespace convoy::nccl
