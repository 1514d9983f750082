/// One GPU as a Device: a CUDA stream for arithmetic, other streams for copies at the same time (copy lanes), and CUDA
/// graphs as repeated work.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <cuda_runtime.h>

#include "convoy/device/device.h"

namespace convoy::cuda {

/// Returns the reason why this process cannot use a GPU, as part of a sentence; empty if it can.
std::string why_no_gpu();

struct CudaDeviceSpec {
  std::int64_t local_rank = 0;  ///< index of the rank on its host; it uses GPU local_rank mod the number of GPUs
  std::string libraries;        ///< names and versions of libraries, for description(): "cuDNN 9.19"
};

class CudaDevice final : public Device {
 public:
  /// Throws RequestError if the GPU cannot be used, for example because another process uses it exclusively.
  explicit CudaDevice(const CudaDeviceSpec& spec);
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  std::string description() const override;
  bool is_host() const override { return false; }
  std::int64_t memory_bytes() const override { return static_cast<std::int64_t>(properties_.totalGlobalMem); }
  std::string hardware_id() const override;

  void* allocate(std::int64_t size_bytes) override;
  void release(void* data, std::int64_t size_bytes) noexcept override;
  void* allocate_host(std::int64_t size_bytes) override;
  void release_host(void* data, std::int64_t size_bytes) noexcept override;
  void copy_to_device(void* device, const void* host, std::int64_t size_bytes) override;
  void copy_to_host(void* host, const void* device, std::int64_t size_bytes) override;

  std::unique_ptr<CopyLane> make_copy_lane() override;
  std::unique_ptr<RepeatedWork> make_repeated_work() override;
  std::unique_ptr<Stopwatch> make_stopwatch(std::int64_t num_marks) override;
  void synchronize() override;
  bool idle() override;

  /// The stream of all arithmetic. It has the lowest priority, so that kernels on other streams, which transfer
  /// messages, run first.
  const cudaStream_t& stream() const { return stream_; }
  /// Calls issue() while stream() is `other`, so that it enqueues its work there. It may enqueue only folds, which add
  /// up the gradients of replicas. Other operations use the device's own stream all the same, or scratch memory that
  /// two streams must not use at the same time.
  template <typename Issue>
  void issue_on(cudaStream_t other, Issue&& issue) {
    struct Back {
      cudaStream_t& stream;
      cudaStream_t own;
      ~Back() { stream = own; }
    };
    const Back back{.stream = stream_, .own = std::exchange(stream_, other)};
    issue();
  }
  const cudaDeviceProp& properties() const { return properties_; }

 private:
  int index_ = 0;
  cudaDeviceProp properties_{};
  std::string libraries_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace convoy::cuda
