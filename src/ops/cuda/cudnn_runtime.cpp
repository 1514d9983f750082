/// cuDNN's handle, version and errors.
#include "ops/cuda/cudnn_runtime.h"

#include "convoy/base/error.h"
#include "convoy/base/log.h"

#include "device/cuda/check.h"

namespace convoy::ops::cuda {

namespace {

struct Version {
  std::size_t major = 0, minor = 0, patch = 0;
};

/// Of the library that runs, not of the headers.
Version running_version() {
  const std::size_t version = cudnnGetVersion();
  return {version / 10000, version / 100 % 100, version % 100};
}

}  // namespace

std::string cudnn_version() {
  const Version version = running_version();
  return fmt::format("{}.{}", version.major, version.minor);
}

void fail_cudnn_call(cudnnStatus_t status, const char* call, const char* file, int line) {
  fail("{} failed: {} ({}:{})", call, cudnnGetErrorString(status), file, line);
}

CudnnRuntime::CudnnRuntime(Context& context, const CudnnSpec& spec) : context_(context), spec_(spec) {
  const Version version = running_version();
  platform_ = fmt::format("{}, cuDNN {}.{}.{}", spec.gpu, version.major, version.minor, version.patch);
  CONVOY_CHECK_CUDNN(cudnnCreate(&handle_));
  const cudnnStatus_t status = cudnnSetStream(handle_, context.stream());
  if (status == CUDNN_STATUS_SUCCESS) return;
  cudnnDestroy(handle_);
  CONVOY_CHECK_CUDNN(status);
}

double CudnnRuntime::peak_bytes_per_second() const {
  int device = 0, kilohertz = 0, bits = 0;
  CONVOY_CHECK_CUDA(cudaGetDevice(&device));
  CONVOY_CHECK_CUDA(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, device));
  CONVOY_CHECK_CUDA(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device));
  return 2.0 * 1e3 * kilohertz * bits / 8;  // two transfers a clock
}

CudnnRuntime::~CudnnRuntime() {
  const cudnnStatus_t status = cudnnDestroy(handle_);
  if (status != CUDNN_STATUS_SUCCESS) log_warning(std::string("cudnnDestroy failed: ") + cudnnGetErrorString(status));
}

}  // namespace convoy::ops::cuda
