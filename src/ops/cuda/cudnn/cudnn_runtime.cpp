/// cuDNN's handle, version and errors.
#include "ops/cuda/cudnn/cudnn_runtime.h"

#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/log.h"

#include "device/cuda/check.h"
#include "ops/cuda/cudnn/cudnn_graph.h"

namespace convoy::ops::cuda {

namespace {

struct Version {
  std::size_t major = 0, minor = 0, patch = 0;
};

/// The version of the library that runs, not of the headers.
Version running_version() {
  const std::size_t version = cudnnGetVersion();
  return {version / 10000, version / 100 % 100, version % 100};
}

[[noreturn]] void fail_call(cudnnStatus_t status, const char* call, const char* file, int line) {
  fail("{} failed: {} ({}:{})", call, cudnnGetErrorString(status), file, line);
}

#define CONVOY_CHECK_CUDNN(call)                                                                    \
  do {                                                                                              \
    const cudnnStatus_t convoy_status = (call);                                                     \
    if (convoy_status != CUDNN_STATUS_SUCCESS) fail_call(convoy_status, #call, __FILE__, __LINE__); \
  } while (false)

}  // namespace

std::string cudnn_version() {
  const Version version = running_version();
  return fmt::format("{}.{}", version.major, version.minor);
}

CudnnRuntime::CudnnRuntime(Context& context, const CudnnSpec& spec) : context_(context), spec_(spec) {
  const Version version = running_version();
  platform_ = fmt::format("{}, cuDNN {}.{}.{}", spec.gpu, version.major, version.minor, version.patch);
  if (is_described()) return;
  CONVOY_CHECK_CUDNN(cudnnCreate(&handle_));
  const cudnnStatus_t status = cudnnSetStream(handle_, context.stream());
  if (status == CUDNN_STATUS_SUCCESS) return;
  cudnnDestroy(handle_);
  CONVOY_CHECK_CUDNN(status);
}

CudnnGraph* CudnnRuntime::keep(const std::string& key, std::unique_ptr<CudnnGraph> graph) {
  ++num_built_;
  return graphs_.insert_or_assign(key, std::move(graph)).first->second.get();
}

CudnnRuntime::~CudnnRuntime() {
  graphs_.clear();  // while the handle that they were built with still exists
  if (handle_ == nullptr) return;
  const cudnnStatus_t status = cudnnDestroy(handle_);
  if (status != CUDNN_STATUS_SUCCESS) log_warning(std::string("cudnnDestroy failed: ") + cudnnGetErrorString(status));
}

}  // namespace convoy::ops::cuda
