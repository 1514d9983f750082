/// The resources that the operations of one backend share, and make_op(), which creates an operation with them. It is
/// specialised next to each implementation.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include "convoy/device/device.h"
#include "convoy/ops/elementwise.h"

namespace convoy::ops::cuda {

/// The stream for the work of a backend, and scratch memory for one call: operations run one after the other on one
/// stream. While operations are created, the memory grows to the largest size that one needs. They read scratch() when
/// they run.
class Context {
 public:
  /// `stream` is the device's own variable, which outlives the context. If it is exchanged (CudaDevice::issue_on), work
  /// follows, since it asks for the stream at each call.
  Context(Device& device, const cudaStream_t& stream) : device_(device), stream_(&stream) {}
  Context(Device& device, cudaStream_t&& stream) = delete;

  Device& device() const { return device_; }
  cudaStream_t stream() const { return *stream_; }

  /// Makes scratch() at least this large, while operations are created. Earlier memory is kept until the end, since a
  /// recording may refer to it.
  void reserve_scratch(std::int64_t size_bytes) {
    if (size_bytes <= scratch_.size_bytes()) return;
    Buffer larger(device_, size_bytes);
    if (scratch_.size_bytes() > 0) outgrown_.push_back(std::move(scratch_));
    scratch_ = std::move(larger);
  }
  std::byte* scratch() const { return scratch_.data(); }
  /// The size in bytes of all scratch memory, including earlier memory that became too small.
  std::int64_t scratch_bytes() const {
    std::int64_t size_bytes = scratch_.size_bytes();
    for (const Buffer& buffer : outgrown_) size_bytes += buffer.size_bytes();
    return size_bytes;
  }

 private:
  Device& device_;
  const cudaStream_t* stream_;
  Buffer scratch_;
  std::vector<Buffer> outgrown_;
};

class CublasRuntime;
class CudnnRuntime;

struct Resources {
  Context& context;
  CudnnRuntime* cudnn = nullptr;    ///< for convolutions
  CublasRuntime* cublas = nullptr;  ///< for linear layers
};

/// Creates an operation. The spec has been checked. If no file specialises it for an operation of the list, the linker
/// reports an error that names the operation.
template <typename Op>
std::unique_ptr<Op> make_op(const typename Op::Spec& spec, const Resources& resources);

std::unique_ptr<ElementwiseOps> make_elementwise(Context& context);

}  // namespace convoy::ops::cuda
