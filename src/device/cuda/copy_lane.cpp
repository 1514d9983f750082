/// Copies beside the GPU's arithmetic: order by events.
#include "device/cuda/copy_lane.h"

#include "device/cuda/check.h"

namespace convoy::cuda {

StreamLane::~StreamLane() {
  static_cast<void>(cudaStreamSynchronize(lane_.get()));
}

void StreamLane::mark() {
  CONVOY_CHECK_CUDA(cudaEventRecord(marked_.get(), arithmetic_));
}

void StreamLane::start_to_host(void* host, const void* device, std::int64_t size_bytes) {
  start(host, device, size_bytes, cudaMemcpyDeviceToHost);
}

void StreamLane::start_to_device(void* device, const void* host, std::int64_t size_bytes) {
  start(device, host, size_bytes, cudaMemcpyHostToDevice);
}

void StreamLane::start(void* to, const void* from, std::int64_t size_bytes, cudaMemcpyKind kind) {
  CONVOY_CHECK_CUDA(cudaStreamWaitEvent(lane_.get(), marked_.get()));
  CONVOY_CHECK_CUDA(cudaMemcpyAsync(to, from, static_cast<std::size_t>(size_bytes), kind, lane_.get()));
  CONVOY_CHECK_CUDA(cudaEventRecord(ended_.get(), lane_.get()));
}

bool StreamLane::done() {
  const cudaError_t status = cudaEventQuery(ended_.get());
  if (status == cudaErrorNotReady) return false;
  CONVOY_CHECK_CUDA(status);
  return true;
}

void StreamLane::join() {
  CONVOY_CHECK_CUDA(cudaStreamWaitEvent(arithmetic_, ended_.get()));
}

}  // namespace convoy::cuda
