/// The part of the emulated runtime that is the same for all kinds of streams: errors, the device, memory, and copies,
/// which are work like any other.
#include <cstdlib>
#include <cstring>
#include <utility>

#include "emulation/streams.h"

namespace convoy::emulation {

namespace {

constexpr std::size_t kMemoryBytes = std::size_t{1} << 40;  // more than any test has: only absurd requests fail
constexpr std::size_t kAlignment = 256;                     // cudaMalloc's

thread_local cudaError_t last_error = cudaSuccess;
int gpu_number = 0;
int driver_version = CUDART_VERSION;

cudaError_t allocate(void** data, std::size_t size) {
  if (const cudaError_t status = may_allocate(); status != cudaSuccess) return status;
  if (size > kMemoryBytes) return cudaErrorMemoryAllocation;
  *data = std::aligned_alloc(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment);
  return *data == nullptr && size > 0 ? cudaErrorMemoryAllocation : cudaSuccess;
}

}  // namespace

cudaError_t report(cudaError_t status) {
  if (status != cudaSuccess && status != cudaErrorNotReady) last_error = status;
  return status;
}

void set_driver_version(int version) {
  driver_version = version;
}

void set_gpu(int number) {
  gpu_number = number;
}

}  // namespace convoy::emulation

using namespace convoy::emulation;  // NOLINT(google-build-using-namespace): this file is its other half

// NOLINTBEGIN: names are CUDA's

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorInvalidResourceHandle:
      return "invalid resource handle";
    case cudaErrorNotReady:
      return "device not ready";
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated:
      return "operation failed due to a previous error during capture";
    default:
      return "another error";
  }
}
cudaError_t cudaGetLastError() {
  return std::exchange(last_error, cudaSuccess);
}

// --- The device ----------------------------------------------------------------------------------------------

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = driver_version;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return cudaSetDevice(device);
}
cudaError_t cudaSetDevice(int device) {
  return report(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  *properties = {};
  std::strncpy(properties->name, "an emulated GPU", sizeof properties->name - 1);
  properties->totalGlobalMem = kMemoryBytes;
  properties->multiProcessorCount = 4;
  properties->major = 9;
  std::memcpy(properties->uuid.bytes, &gpu_number, sizeof gpu_number);
  return cudaSetDevice(device);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return cudaSuccess;
}

// --- Memory --------------------------------------------------------------------------------------------------

// The memory contains no zeros.
cudaError_t cudaMalloc(void** data, std::size_t size) {
  const cudaError_t status = allocate(data, size);
  if (status == cudaSuccess) std::memset(*data, 0xa5, size);
  return report(status);
}
cudaError_t cudaFree(void* data) {
  finish_streams();
  std::free(data);
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** data, std::size_t size, unsigned) {
  return cudaMalloc(data, size);
}
cudaError_t cudaFreeHost(void* data) {
  return cudaFree(data);
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = *total = kMemoryBytes;
  return cudaSuccess;
}

// --- Work ------------------------------------------------------------------------------------------------------

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void*), void* argument) {
  return enqueue(stream, [=] { function(argument); });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size, cudaMemcpyKind, cudaStream_t stream) {
  return enqueue(stream, [=] {
    if (size > 0) std::memmove(to, from, size);
  });
}
cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t size, cudaStream_t stream) {
  return enqueue(stream, [=] {
    if (size > 0) std::memset(to, byte, size);
  });
}

// NOLINTEND
