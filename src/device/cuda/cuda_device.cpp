/// Memory, order and description of a GPU.
#include "device/cuda/cuda_device.h"

#include <cstring>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/base/text.h"

#include "device/cuda/check.h"
#include "device/cuda/copy_lane.h"
#include "device/cuda/event_stopwatch.h"
#include "device/cuda/recording.h"
#include "device/plain_recording.h"

namespace convoy::cuda {

namespace {

/// For destructors and releases: said, not thrown.
void warn_of(cudaError_t status, const char* what) noexcept {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  log_warning(std::string(what) + " failed: " + cudaGetErrorString(status));
}

/// Yield: ranks poll in their own loops, and share their cores with the threads that load data, which a spinning wait
/// would starve; a blocking one would sleep through the microseconds that a wait usually takes.
constexpr unsigned kWaiting = cudaDeviceScheduleYield;

void take(int index) {
  cudaError_t status = cudaInitDevice(index, kWaiting, cudaInitDeviceFlagsAreValid);
  if (status == cudaSuccess) status = cudaSetDevice(index);
  if (status == cudaSuccess) return;
  cudaGetLastError();
  refuse(
      "run.device = cuda: GPU {} of this host cannot be used: {}. Look at it with nvidia-smi; CUDA_VISIBLE_DEVICES "
      "chooses others, run.device = cpu needs none.",
      index, cudaGetErrorString(status));
}

/// The first driver whose kernels take 8 KB of arguments, as the fold of gradients does.
constexpr int kMinDriver = 12010;

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace

std::string why_no_gpu() {
  int driver = 0;
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0 && driver < kMinDriver)
    return fmt::format("the NVIDIA driver is of CUDA {}, and {} or newer is needed", version_text(driver),
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

CudaDevice::CudaDevice(const CudaDeviceSpec& spec) : libraries_(spec.libraries), records_(spec.records) {
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
  warn_of(cudaStreamDestroy(stream_), "giving back a GPU's stream");
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
        "cannot allocate {} on the GPU ({}): {} of its {} are free, {} are this rank's. A smaller batch.micro or more "
        "grid.stages need less; nvidia-smi shows who else uses it.",
        human_bytes(size_bytes), properties_.name, human_bytes(static_cast<std::int64_t>(free)),
        human_bytes(static_cast<std::int64_t>(total)), human_bytes(allocated_bytes_));
  }
  CONVOY_CHECK_CUDA(status);
  allocated_bytes_ += size_bytes;
  try {
    // Waits: streams that do not wait for ours may use the memory next.
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
  warn_of(cudaFree(data), "giving back a GPU's memory");
}

void* CudaDevice::allocate_host(std::int64_t size_bytes) {
  void* data = nullptr;
  const cudaError_t status =
      cudaHostAlloc(&data, static_cast<std::size_t>(size_bytes), cudaHostAllocPortable | cudaHostAllocMapped);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    fail("cannot allocate {} of host memory that the GPU sees; fewer samples in batch.micro need less",
         human_bytes(size_bytes));
  }
  CONVOY_CHECK_CUDA(status);
  std::memset(data, 0, static_cast<std::size_t>(size_bytes));
  return data;
}

void CudaDevice::release_host(void* data, std::int64_t /*size_bytes*/) noexcept {
  warn_of(cudaFreeHost(data), "giving back host memory");
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

std::unique_ptr<Recording> CudaDevice::make_recording() {
  if (!records_) return std::make_unique<PlainRecording>();
  return std::make_unique<GraphRecording>(stream_);
}

std::unique_ptr<Stopwatch> CudaDevice::make_stopwatch(std::int64_t num_marks) {
  return std::make_unique<EventStopwatch>(stream_, num_marks);
}

void CudaDevice::synchronize() {
  CONVOY_CHECK_CUDA(cudaStreamSynchronize(stream_));
}

bool CudaDevice::idle() {
  const cudaError_t status = cudaStreamQuery(stream_);
  if (status == cudaErrorNotReady) return false;
  CONVOY_CHECK_CUDA(status);
  return true;
}

}  // namespace convoy::cuda
