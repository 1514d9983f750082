/// Stands in for the CUDA toolkit's header of this name: streams and events whose work waits on the host until it is
/// pumped (stand_in/streams.h), so that tests of order need no GPU. Kernels have a stand-in of their own, in
/// emulation/.
#pragma once

#include <cstddef>

// NOLINTBEGIN: names are CUDA's

inline constexpr int CUDART_VERSION = 0;

enum cudaError_t {
  cudaSuccess,
  cudaErrorMemoryAllocation,
  cudaErrorInsufficientDriver,
  cudaErrorNoDevice,
  cudaErrorNotReady,
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal };
inline constexpr unsigned cudaDeviceScheduleYield = 0, cudaInitDeviceFlagsAreValid = 0, cudaEventDefault = 0,
                          cudaEventDisableTiming = 0, cudaHostAllocMapped = 0, cudaHostAllocPortable = 0,
                          cudaStreamNonBlocking = 0;

struct cudaDeviceProp {
  char name[256];
  struct {
    char bytes[16];
  } uuid;
  std::size_t totalGlobalMem;
};

using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;

const char* cudaGetErrorString(cudaError_t status);
cudaError_t cudaGetLastError();
cudaError_t cudaRuntimeGetVersion(int* version);

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);

cudaError_t cudaMalloc(void** data, std::size_t size_bytes);
cudaError_t cudaFree(void* data);
cudaError_t cudaHostAlloc(void** data, std::size_t size_bytes, unsigned flags);
cudaError_t cudaFreeHost(void* data);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size_bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* data, int value, std::size_t size_bytes, cudaStream_t stream);

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event);

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

// Not there: nothing that these tests do is recorded.
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);

// NOLINTEND
