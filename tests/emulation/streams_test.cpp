/// The emulated runtime keeps CUDA's order and no other, and refuses calls that a capture does not allow.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

namespace convoy {
namespace {

struct DestroyStream {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
using Stream = std::unique_ptr<CUstream_st, DestroyStream>;

Stream make_stream() {
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  return Stream(stream);
}

/// Work that blocks a stream until it is opened.
struct Gate {
  std::atomic<bool> open = false;

  void hold(const Stream& stream) {
    emulation::enqueue(stream.get(), [this] {
      while (!open) std::this_thread::yield();
    });
  }
};

TEST(EmulatedStreams, RunBehindTheHostInOrder) {
  Gate gate;
  std::vector<int> order;
  const Stream stream = make_stream();
  gate.hold(stream);
  for (int i = 0; i < 3; ++i) emulation::enqueue(stream.get(), [&order, i] { order.push_back(i); });
  EXPECT_EQ(cudaStreamQuery(stream.get()), cudaErrorNotReady);
  EXPECT_TRUE(order.empty());
  gate.open = true;
  EXPECT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream.get()), cudaSuccess);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

TEST(EmulatedStreams, WaitForTheLatestRecordBeforeTheCallAndForNoLater) {
  Gate first, second;
  const Stream worker = make_stream(), waiting = make_stream();
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  std::atomic<bool> passed = false;
  EXPECT_EQ(cudaStreamWaitEvent(waiting.get(), event), cudaSuccess);  // never recorded: nothing to wait for
  EXPECT_EQ(cudaStreamSynchronize(waiting.get()), cudaSuccess);

  first.hold(worker);
  EXPECT_EQ(cudaEventRecord(event, worker.get()), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(waiting.get(), event), cudaSuccess);
  emulation::enqueue(waiting.get(), [&] { passed = true; });
  second.hold(worker);
  EXPECT_EQ(cudaEventRecord(event, worker.get()), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  EXPECT_FALSE(passed);
  first.open = true;
  EXPECT_EQ(cudaStreamSynchronize(waiting.get()), cudaSuccess);
  EXPECT_TRUE(passed) << "the second record is none of its business";
  second.open = true;
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

TEST(EmulatedStreams, ACaptureRunsNothingAndItsGraphAllOfIt) {
  const Stream stream = make_stream();
  int runs = 0;
  ASSERT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
  emulation::enqueue(stream.get(), [&] { ++runs; });
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(runs, 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cudaGraphLaunch(executable, stream.get()), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
}

TEST(EmulatedStreams, ACaptureIsSpoiltByWaitingAndByAllocating) {
  const Stream stream = make_stream();
  void* data = nullptr;
  const auto wait = [&] { return cudaStreamSynchronize(stream.get()); };
  const auto ask = [&] { return cudaStreamQuery(stream.get()); };
  const auto allocate = [&] { return cudaMalloc(&data, 64); };
  for (const auto& forbidden : std::vector<std::function<cudaError_t()>>{wait, ask, allocate}) {
    ASSERT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_EQ(forbidden(), cudaErrorStreamCaptureUnsupported);
    EXPECT_EQ(cudaGetLastError(), cudaErrorStreamCaptureUnsupported);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  }
}

}  // namespace
}  // namespace convoy
