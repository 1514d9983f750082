/// Streams as queues of functions, for the emulated runtime.
#include "parallel/stand_in/streams.h"

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/comm/communicator.h"

#include "emulation/streams.h"

using convoy::test::streams::pump;

struct CUstream_st {
  std::deque<std::function<bool()>> work;
};

struct CUevent_st {
  std::shared_ptr<bool> happened = std::make_shared<bool>(true);  ///< of the latest record
  std::shared_ptr<double> seconds = std::make_shared<double>(0);  ///< when that was
};

namespace convoy::test::streams {

namespace {

std::vector<cudaStream_t> all_streams;  // the oldest first
First preferred = First::kOldest;

bool run_front(CUstream_st& stream) {
  if (stream.work.empty() || !stream.work.front()()) return false;
  stream.work.pop_front();
  return true;
}

[[noreturn]] void refuse_to_capture(const char* call) {
  std::fprintf(stderr, "%s: these streams capture nothing\n", call);
  std::abort();
}

}  // namespace

void prefer(First first) {
  preferred = first;
}

void issue(cudaStream_t stream, std::function<bool()> work) {
  stream->work.push_back(std::move(work));
}

bool pump() {
  const std::size_t num = all_streams.size();
  for (std::size_t i = 0; i < num; ++i) {
    if (run_front(*all_streams[preferred == First::kOldest ? i : num - 1 - i])) return true;
  }
  return false;
}

}  // namespace convoy::test::streams

namespace convoy::emulation {

cudaError_t enqueue(cudaStream_t stream, std::function<void()> work) {
  test::streams::issue(stream, [work = std::move(work)] {
    work();
    return true;
  });
  return cudaSuccess;
}

cudaError_t may_allocate() {
  return cudaSuccess;
}

// Some work here never ends: a message whose other end is gone.
void finish_streams() {}

}  // namespace convoy::emulation

namespace streams = convoy::test::streams;

// --- Streams and events --------------------------------------------------------------------------------------

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  streams::all_streams.push_back(*stream = new CUstream_st);
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  std::erase(streams::all_streams, stream);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  pump();
  return stream->work.empty() ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  convoy::mpi::wait_until([stream] {
    while (!stream->work.empty() && pump()) {
    }
    return stream->work.empty();
  });
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  streams::issue(stream, [happened = event->happened] { return *happened; });
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  event->happened = std::make_shared<bool>(false);
  event->seconds = std::make_shared<double>(0);
  streams::issue(stream, [happened = event->happened, seconds = event->seconds] {
    *seconds = convoy::now_seconds();
    return *happened = true;
  });
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return *event->happened ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  convoy::mpi::wait_until([event] {
    while (!*event->happened && pump()) {
    }
    return *event->happened;
  });
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (!*start->happened || !*end->happened) return cudaErrorNotReady;
  *milliseconds = static_cast<float>(1e3 * (*end->seconds - *start->seconds));
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  streams::refuse_to_capture("cudaStreamBeginCapture");
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*) {
  streams::refuse_to_capture("cudaStreamEndCapture");
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long) {
  streams::refuse_to_capture("cudaGraphInstantiate");
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) {
  streams::refuse_to_capture("cudaGraphUpload");
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) {
  streams::refuse_to_capture("cudaGraphLaunch");
}
cudaError_t cudaGraphDestroy(cudaGraph_t) {
  streams::refuse_to_capture("cudaGraphDestroy");
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) {
  streams::refuse_to_capture("cudaGraphExecDestroy");
}
