/// Turns a failed call of NCCL into an Error that shows the call.
#pragma once

#include <nccl.h>

namespace convoy::nccl {

/// Throws Error: "ncclSend(...) failed: unhandled system error: <what NCCL met last> (file:line). NCCL_DEBUG=WARN ...".
[[noreturn]] void fail_call(ncclResult_t result, const char* call, const char* file, int line);

}  // namespace convoy::nccl

#define CONVOY_CHECK_NCCL(call)                                                                            \
  do {                                                                                                     \
    const ncclResult_t convoy_result = (call);                                                             \
    if (convoy_result != ncclSuccess) ::convoy::nccl::fail_call(convoy_result, #call, __FILE__, __LINE__); \
  } while (false)
