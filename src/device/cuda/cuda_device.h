/// One GPU as a device: a stream for arithmetic, lanes for copies at the same time, recordings as CUDA graphs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <cuda_runtime.h>

#include "convoy/device/device.h"

namespace convoy::cuda {

/// The reason why this process can use no GPU, as part of a sentence; empty if it can.
std::string why_no_gpu();

struct CudaDeviceSpec {
  std::int64_t local_rank = 0;  ///< number of the rank on this host; it gets GPU local_rank mod the number of GPUs
  std::string libraries;        ///< text for description(): "cuDNN 9.19"
};

class CudaDevice final : public Device {
 public:
  /// Throws RequestError if the GPU cannot be used: another process may hold it exclusively.
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
  std::unique_ptr<Recording> make_recording() override;
  std::unique_ptr<Stopwatch> make_stopwatch(std::int64_t num_marks) override;
  void synchronize() override;
  bool idle() override;

  /// The stream of all work. It has the lowest priority: kernels that move messages, on other streams, go first.
  const cudaStream_t& stream() const { return stream_; }
  /// Calls `issue`, whose folds go to the stream `other`. It may issue nothing else: other operations stay on the
  /// device's stream, or have memory that two streams must not use at once.
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
