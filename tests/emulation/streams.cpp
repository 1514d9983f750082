/// Streams as threads: each does the work of its queue while the host continues. An event is a number that grows; a
/// graph is the list of the captured work.
#include "emulation/streams.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Work = std::function<void()>;
using Clock = std::chrono::steady_clock;

}  // namespace

/// The state of an event, shared by all work that records it or waits for it: a record may outlive the handle.
struct EventState {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t recorded = 0, completed = 0;
  Clock::time_point time;
  bool timed = true;

  void complete(std::uint64_t record) {
    const std::scoped_lock lock(mutex);
    completed = record;
    time = Clock::now();
    changed.notify_all();
  }
  void wait_for(std::uint64_t record) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return completed >= record; });
  }
};

struct CUevent_st {
  std::shared_ptr<EventState> state = std::make_shared<EventState>();
};

struct CUgraph_st {
  std::vector<Work> work;
};

struct CUgraphExec_st {
  std::shared_ptr<const std::vector<Work>> work;
};

struct CUstream_st {
  CUstream_st() : worker([this] { empty_queue(); }) {}
  ~CUstream_st() {
    {
      const std::scoped_lock lock(mutex);
      ends = true;
    }
    changed.notify_all();
    worker.join();
  }
  CUstream_st(const CUstream_st&) = delete;
  CUstream_st& operator=(const CUstream_st&) = delete;

  void push(Work work) {
    {
      const std::scoped_lock lock(mutex);
      queue.push_back(std::move(work));
    }
    changed.notify_all();
  }
  bool is_idle() {
    const std::scoped_lock lock(mutex);
    return queue.empty();
  }
  void finish() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return queue.empty(); });
  }
  /// Waits until the queue is empty. Throws what a kernel has thrown.
  void wait() {
    finish();
    const std::scoped_lock lock(mutex);
    if (thrown) std::rethrow_exception(std::exchange(thrown, nullptr));
  }

  std::optional<std::vector<Work>> captured;  ///< while a capture runs
  bool capture_is_valid = true;

 private:
  void empty_queue() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return ends || !queue.empty(); });
      if (queue.empty()) return;
      const Work& work = queue.front();  // stays in the queue until it is done: the stream is not idle
      lock.unlock();
      std::exception_ptr failure;
      try {
        work();
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      if (failure && !thrown) thrown = failure;
      queue.pop_front();
      changed.notify_all();
    }
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Work> queue;
  bool ends = false;
  std::exception_ptr thrown;
  std::thread worker;  // the last member: it uses all others
};

namespace {

/// All streams that exist.
struct Streams {
  std::mutex mutex;
  std::set<CUstream_st*> live;
};
Streams& streams() {
  static Streams all;
  return all;
}

/// Returns an error if the stream is being captured, and makes the capture invalid.
cudaError_t unless_capturing(cudaStream_t stream) {
  if (stream == nullptr || !stream->captured) return cudaSuccess;
  stream->capture_is_valid = false;
  return cudaErrorStreamCaptureUnsupported;
}

thread_local cudaStream_t capturing = nullptr;  // this thread may not allocate meanwhile

}  // namespace

namespace convoy::emulation {

cudaError_t enqueue(cudaStream_t stream, std::function<void()> work) {
  if (stream == nullptr) {
    work();
  } else if (stream->captured) {
    stream->captured->push_back(std::move(work));
  } else {
    stream->push(std::move(work));
  }
  return cudaSuccess;
}

cudaError_t may_allocate() {
  return unless_capturing(capturing);
}

// Finishes the streams of the whole device, as the real runtime does.
void finish_streams() {
  const std::scoped_lock lock(streams().mutex);
  for (CUstream_st* stream : streams().live) stream->finish();
}

}  // namespace convoy::emulation

using convoy::emulation::enqueue;
using convoy::emulation::report;

// NOLINTBEGIN: names are CUDA's

// --- Streams and events ----------------------------------------------------------------------------------------

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new CUstream_st;
  const std::scoped_lock lock(streams().mutex);
  streams().live.insert(*stream);
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream == nullptr) return report(cudaErrorInvalidResourceHandle);
  {
    const std::scoped_lock lock(streams().mutex);
    streams().live.erase(stream);
  }
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const cudaError_t status = unless_capturing(stream);
  if (status == cudaSuccess && stream != nullptr) stream->wait();
  return report(status);
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const cudaError_t status = unless_capturing(stream);
  if (status != cudaSuccess) return report(status);
  return stream == nullptr || stream->is_idle() ? cudaSuccess : cudaErrorNotReady;
}
// The stream waits for the latest record before this call; without a record it does not wait.
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  std::uint64_t record = 0;
  {
    const std::scoped_lock lock(event->state->mutex);
    record = event->state->recorded;
  }
  return enqueue(stream, [state = event->state, record] { state->wait_for(record); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  *event = new CUevent_st;
  (*event)->state->timed = (flags & cudaEventDisableTiming) == 0;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (event == nullptr) return report(cudaErrorInvalidResourceHandle);
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  std::uint64_t record = 0;
  {
    const std::scoped_lock lock(event->state->mutex);
    record = ++event->state->recorded;
  }
  return enqueue(stream, [state = event->state, record] { state->complete(record); });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const std::scoped_lock lock(event->state->mutex);
  return event->state->completed == event->state->recorded ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  std::uint64_t record = 0;
  {
    const std::scoped_lock lock(event->state->mutex);
    record = event->state->recorded;
  }
  event->state->wait_for(record);
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  const std::scoped_lock lock(start->state->mutex, stop->state->mutex);
  for (const EventState* state : {start->state.get(), stop->state.get()}) {
    if (!state->timed || state->recorded == 0) return report(cudaErrorInvalidResourceHandle);
    if (state->completed != state->recorded) return cudaErrorNotReady;
  }
  *milliseconds = std::chrono::duration<float, std::milli>(stop->state->time - start->state->time).count();
  return cudaSuccess;
}

// --- Graphs --------------------------------------------------------------------------------------------------

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (stream == nullptr || stream->captured) return report(cudaErrorStreamCaptureUnsupported);
  stream->captured.emplace();
  stream->capture_is_valid = true;
  capturing = stream;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  if (stream == nullptr || !stream->captured) return report(cudaErrorInvalidValue);
  std::vector<Work> work = std::move(*stream->captured);
  stream->captured.reset();
  capturing = nullptr;
  if (!stream->capture_is_valid) return report(cudaErrorStreamCaptureInvalidated);
  *graph = new CUgraph_st{std::move(work)};
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  *executable = new CUgraphExec_st{std::make_shared<const std::vector<Work>>(graph->work)};
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t) {
  return report(executable == nullptr ? cudaErrorInvalidValue : cudaSuccess);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return enqueue(stream, [work = executable->work] {
    for (const Work& one : *work) one();
  });
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
