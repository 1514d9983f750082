/// Capture and replay of a CUDA graph.
#include "device/cuda/recording.h"

#include "device/cuda/check.h"

namespace convoy::cuda {

GraphRecording::~GraphRecording() {
  if (graph_ != nullptr) static_cast<void>(cudaStreamSynchronize(stream_));
}

void GraphRecording::run(const std::function<void()>& issue) {
  if (!warm_) {
    issue();
    warm_ = true;
    return;
  }
  if (graph_ == nullptr) capture(issue);
  CONVOY_CHECK_CUDA(cudaGraphLaunch(graph_.get(), stream_));
}

void GraphRecording::capture(const std::function<void()>& issue) {
  // Thread-local: what other threads of this process call meanwhile (NCCL's, say) neither enters nor ends the capture.
  CONVOY_CHECK_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
  cudaGraph_t captured = nullptr;
  try {
    issue();
  } catch (...) {
    static_cast<void>(cudaStreamEndCapture(stream_, &captured));
    const Graph given_back(captured);
    cudaGetLastError();
    throw;
  }
  CONVOY_CHECK_CUDA(cudaStreamEndCapture(stream_, &captured));
  const Graph graph(captured);
  cudaGraphExec_t executable = nullptr;
  CONVOY_CHECK_CUDA(cudaGraphInstantiate(&executable, graph.get(), 0));
  graph_.reset(executable);
  CONVOY_CHECK_CUDA(cudaGraphUpload(graph_.get(), stream_));
}

}  // namespace convoy::cuda
