/// Streams that count the work that is put on them, for the emulated runtime. Copies are done at once; kernels do
/// nothing.
#include "emulation/streams.h"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "counting/calls.h"
#include "emulation/machine.h"

using convoy::counting::calls;

namespace {

struct Stream {
  bool captures = false;
  std::int64_t captured = 0;  ///< number of launches that are captured
};

}  // namespace

struct CUstream_st {
  Stream stream;
};
struct CUevent_st {};
struct CUgraph_st {
  std::int64_t launches = 0;
};
struct CUgraphExec_st {
  std::int64_t launches = 0;
};

namespace convoy::emulation {

cudaError_t enqueue(cudaStream_t stream, std::function<void()> work) {
  if (stream != nullptr && stream->stream.captures) {
    ++stream->stream.captured;
    return cudaSuccess;
  }
  ++calls().launches;
  ++calls().cuda;
  work();
  return cudaSuccess;
}

cudaError_t may_allocate() {
  return cudaSuccess;
}

void finish_streams() {}

// --- The machine ---------------------------------------------------------------------------------------------

void run_grid(const Extent&, const Extent&, const std::function<void()>&) {}

void wait_for_block(const CallSite&) {
  throw Failure("no thread runs here");
}
Exchange exchange_in_warp(unsigned, std::uint64_t, unsigned, const CallSite&) {
  throw Failure("no thread runs here");
}
unsigned lane() {
  throw Failure("no thread runs here");
}

}  // namespace convoy::emulation

// NOLINTBEGIN: names are CUDA's

namespace {

cudaError_t counted() {
  ++calls().cuda;
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new CUstream_st;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return counted();
}
cudaError_t cudaStreamQuery(cudaStream_t) {
  return counted();
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return counted();
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  return counted();
}
cudaError_t cudaEventQuery(cudaEvent_t) {
  return counted();
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return counted();
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 0;
  return counted();
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  stream->stream = {.captures = true, .captured = 0};
  return counted();
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = new CUgraph_st{stream->stream.captured};
  stream->stream = {};
  return counted();
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  *executable = new CUgraphExec_st{graph->launches};
  return counted();
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) {
  return counted();
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t) {
  calls().launches += executable->launches;
  return counted();
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}

// NOLINTEND
