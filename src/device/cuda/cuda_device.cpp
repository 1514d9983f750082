/// A GPU: its memory, the order of its work, and its description.
#include "device/cuda/cuda_device.h"

#include <cstring>
#include <limits>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/base/text.h"

#include "device/cuda/check.h"
#include "device/cuda/handles.h"

namespace convoy::cuda {

namespace {

/// Logs a failure as a warning, for destructors and releases, which must not throw.
void warn_of(cudaError_t status, const char* what) noexcept {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  log_warning(std::string(what) + " failed: " + cudaGetErrorString(status));
}

/// A waiting thread yields. Ranks poll in their own loops, and share their cores with the threads that load data, which
/// a spinning wait would starve. A blocking wait would sleep longer than the microseconds that a wait usually takes.
constexpr unsigned kWaiting = cudaDeviceScheduleYield;

void take(int index) {
  cudaError_t status = cudaInitDevice(index, kWaiting, cudaInitDeviceFlagsAreValid);
  if (status == cudaSuccess) status = cudaSetDevice(index);
  if (status == cudaSuccess) return;
  cudaGetLastError();
  refuse(
      "run.device = cuda: GPU {} of this host cannot be used: {}. Check it with nvidia-smi. CUDA_VISIBLE_DEVICES "
      "chooses other GPUs; run.device = cpu needs none.",
      index, cudaGetErrorString(status));
}

/// The first driver version that allows kernels 8 KB of arguments, which the fold of gradients needs.
constexpr int kMinDriver = 12010;

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// Whether the queried work is done, from the status of a query that does not wait.
bool is_done(cudaError_t status) {
  if (status == cudaErrorNotReady) return false;
  CONVOY_CHECK_CUDA(status);
  return true;
}

/// Copies on a stream of its own, so that the GPU's copy engines work while its multiprocessors compute. Two events
/// keep the order:
///   arithmetic   ... mark() ................ join() waits for ended ...
///   lane             waits for marked, copies, ended
class StreamLane final : public CopyLane {
 public:
  explicit StreamLane(cudaStream_t arithmetic) : arithmetic_(arithmetic) {}
  /// Waits for a copy in flight: the owner of its memory may release that next.
  ~StreamLane() override { static_cast<void>(cudaStreamSynchronize(lane_.get())); }

  void mark() override { CONVOY_CHECK_CUDA(cudaEventRecord(marked_.get(), arithmetic_)); }
  void start_to_host(void* host, const void* device, std::int64_t size_bytes) override {
    start(host, device, size_bytes, cudaMemcpyDeviceToHost);
  }
  void start_to_device(void* device, const void* host, std::int64_t size_bytes) override {
    start(device, host, size_bytes, cudaMemcpyHostToDevice);
  }
  bool done() override { return is_done(cudaEventQuery(ended_.get())); }
  void join() override { CONVOY_CHECK_CUDA(cudaStreamWaitEvent(arithmetic_, ended_.get())); }

 private:
  void start(void* to, const void* from, std::int64_t size_bytes, cudaMemcpyKind kind) {
    CONVOY_CHECK_CUDA(cudaStreamWaitEvent(lane_.get(), marked_.get()));
    CONVOY_CHECK_CUDA(cudaMemcpyAsync(to, from, static_cast<std::size_t>(size_bytes), kind, lane_.get()));
    CONVOY_CHECK_CUDA(cudaEventRecord(ended_.get(), lane_.get()));
  }

  cudaStream_t arithmetic_;
  Stream lane_ = make_stream();
  Event marked_ = make_event(Timing::kOff);
  Event ended_ = make_event(Timing::kOff);
};

/// Work that is issued again and again, replayed as a CUDA graph: one launch instead of hundreds.
class CudaGraphWork final : public RepeatedWork {
 public:
  explicit CudaGraphWork(cudaStream_t stream) : stream_(stream) {}
  /// Waits for a graph that is running.
  ~CudaGraphWork() override {
    if (graph_ != nullptr) static_cast<void>(cudaStreamSynchronize(stream_));
  }

  /// The first run issues the work directly: kernels are loaded when they are first used, which a capture does not
  /// allow. The second run captures it; each run from then on replays the graph.
  void run(const std::function<void()>& issue) override {
    if (!warm_) {
      issue();
      warm_ = true;
      return;
    }
    if (graph_ == nullptr) capture(issue);
    CONVOY_CHECK_CUDA(cudaGraphLaunch(graph_.get(), stream_));
  }

 private:
  void capture(const std::function<void()>& issue) {
    // Thread-local: calls of other threads of this process (NCCL's, for example) neither enter nor end the capture.
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

  cudaStream_t stream_;
  bool warm_ = false;
  GraphExec graph_;
};

/// Records one event per mark between the GPU's work. When marks are read, the GPU's clock is compared with the host's
/// by one more event, the anchor, whose time both clocks know.
class EventStopwatch final : public Stopwatch {
 public:
  EventStopwatch(cudaStream_t stream, std::int64_t num_marks) : stream_(stream) {
    for (std::int64_t i = 0; i < num_marks; ++i) marks_.push_back(make_event(Timing::kOn));
  }

  void mark(std::int64_t number) override {
    CONVOY_CHECK_CUDA(cudaEventRecord(marks_[static_cast<std::size_t>(number)].get(), stream_));
  }

  // Events give milliseconds as float: the error is 2^-24 of the distance to the anchor, a microsecond in 17 s.
  std::vector<double> read(std::int64_t num_marks) override {
    const double anchor_seconds = set_against_host();
    std::vector<double> seconds;
    for (std::int64_t i = 0; i < num_marks; ++i) {
      float milliseconds = 0;
      CONVOY_CHECK_CUDA(cudaEventElapsedTime(&milliseconds, marks_[static_cast<std::size_t>(i)].get(), anchor_.get()));
      seconds.push_back(anchor_seconds - 1e-3 * static_cast<double>(milliseconds));
    }
    return seconds;
  }

 private:
  /// The host's time, in seconds, at which the GPU met the anchor. Nothing else is running, so it is between the calls
  /// before and after. The last of several attempts is used: one that took at most 1.2 times the shortest, if possible.
  double set_against_host() {
    constexpr int kAttempts = 100;
    CONVOY_CHECK_CUDA(cudaStreamSynchronize(stream_));
    double shortest = std::numeric_limits<double>::infinity();
    for (int attempt = 0;; ++attempt) {
      const double before = now_seconds();
      CONVOY_CHECK_CUDA(cudaEventRecord(anchor_.get(), stream_));
      CONVOY_CHECK_CUDA(cudaEventSynchronize(anchor_.get()));
      const double after = now_seconds();
      const bool is_good = attempt >= kAttempts / 2 && after - before <= 1.2 * shortest;
      if (is_good || attempt == kAttempts) return (before + after) / 2;
      if (after - before < shortest) shortest = after - before;
    }
  }

  cudaStream_t stream_;
  std::vector<Event> marks_;
  Event anchor_ = make_event(Timing::kOn);
};

}  // namespace

std::string why_no_gpu() {
  int driver = 0;
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0 && driver < kMinDriver)
    return fmt::format("the NVIDIA driver supports CUDA {}, but {} or newer is needed", version_text(driver),
                       version_text(kMinDriver));
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return "";
  cudaGetLastError();
  if (status == cudaErrorInsufficientDriver) {
    return "the NVIDIA driver is missing or older than this convoy's CUDA " + version_text(CUDART_VERSION);
  }
  if (status == cudaSuccess || status == cudaErrorNoDevice) return "there is no GPU, or CUDA_VISIBLE_DEVICES hides it";
  return std::string("the GPUs cannot be counted: ") + cudaGetErrorString(status);
}

CudaDevice::CudaDevice(const CudaDeviceSpec& spec) : libraries_(spec.libraries) {
  int count = 0;
  CONVOY_CHECK_CUDA(cudaGetDeviceCount(&count));
  index_ = static_cast<int>(spec.local_rank % count);
  take(index_);
  CONVOY_CHECK_CUDA(cudaGetDeviceProperties(&properties_, index_));
  int lowest = 0;
  CONVOY_CHECK_CUDA(cudaDeviceGetStreamPriorityRange(&lowest, nullptr));
  CONVOY_CHECK_CUDA(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, lowest));
}

CudaDevice::~CudaDevice() {
  warn_of(cudaStreamDestroy(stream_), "freeing a GPU's stream");
}

std::string CudaDevice::description() const {
  int version = 0;
  CONVOY_CHECK_CUDA(cudaRuntimeGetVersion(&version));
  return fmt::format("{}, {}, CUDA {}, {}", properties_.name,
                     human_bytes(static_cast<std::int64_t>(properties_.totalGlobalMem)), version_text(version),
                     libraries_);
}

std::string CudaDevice::hardware_id() const {
  std::string id = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) id += '-';
    id += fmt::format("{:02x}", static_cast<unsigned char>(properties_.uuid.bytes[i]));
  }
  return id;
}

void* CudaDevice::allocate(std::int64_t size_bytes) {
  void* data = nullptr;
  const cudaError_t status = cudaMalloc(&data, static_cast<std::size_t>(size_bytes));
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    std::size_t free = 0, total = 0;
    CONVOY_CHECK_CUDA(cudaMemGetInfo(&free, &total));
    fail(
        "cannot allocate {} on the GPU ({}): {} of its {} are free, and this rank uses {}. Use a smaller batch.micro "
        "or more grid.stages. nvidia-smi shows which processes use the GPU.",
        human_bytes(size_bytes), properties_.name, human_bytes(static_cast<std::int64_t>(free)),
        human_bytes(static_cast<std::int64_t>(total)), human_bytes(allocated_bytes_));
  }
  CONVOY_CHECK_CUDA(status);
  allocated_bytes_ += size_bytes;
  try {
    // Waits, because the memory may be used next on a stream that does not wait for this one.
    CONVOY_CHECK_CUDA(cudaMemsetAsync(data, 0, static_cast<std::size_t>(size_bytes), stream_));
    synchronize();
  } catch (...) {
    release(data, size_bytes);
    throw;
  }
  return data;
}

void CudaDevice::release(void* data, std::int64_t size_bytes) noexcept {
  allocated_bytes_ -= size_bytes;
  warn_of(cudaFree(data), "freeing a GPU's memory");
}

void* CudaDevice::allocate_host(std::int64_t size_bytes) {
  void* data = nullptr;
  const cudaError_t status =
      cudaHostAlloc(&data, static_cast<std::size_t>(size_bytes), cudaHostAllocPortable | cudaHostAllocMapped);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    fail("cannot allocate {} of host memory that the GPU can access (pinned memory); use a smaller batch.micro",
         human_bytes(size_bytes));
  }
  CONVOY_CHECK_CUDA(status);
  std::memset(data, 0, static_cast<std::size_t>(size_bytes));
  return data;
}

void CudaDevice::release_host(void* data, std::int64_t /*size_bytes*/) noexcept {
  warn_of(cudaFreeHost(data), "freeing host memory");
}

void CudaDevice::copy_to_device(void* device, const void* host, std::int64_t size_bytes) {
  CONVOY_CHECK_CUDA(
      cudaMemcpyAsync(device, host, static_cast<std::size_t>(size_bytes), cudaMemcpyHostToDevice, stream_));
  synchronize();
}

void CudaDevice::copy_to_host(void* host, const void* device, std::int64_t size_bytes) {
  CONVOY_CHECK_CUDA(
      cudaMemcpyAsync(host, device, static_cast<std::size_t>(size_bytes), cudaMemcpyDeviceToHost, stream_));
  synchronize();
}

std::unique_ptr<CopyLane> CudaDevice::make_copy_lane() {
  return std::make_unique<StreamLane>(stream_);
}

std::unique_ptr<RepeatedWork> CudaDevice::make_repeated_work() {
  return std::make_unique<CudaGraphWork>(stream_);
}

std::unique_ptr<Stopwatch> CudaDevice::make_stopwatch(std::int64_t num_marks) {
  return std::make_unique<EventStopwatch>(stream_, num_marks);
}

void CudaDevice::synchronize() {
  CONVOY_CHECK_CUDA(cudaStreamSynchronize(stream_));
}

bool CudaDevice::idle() {
  return is_done(cudaStreamQuery(stream_));
}

}  // namespace convoy::cuda
