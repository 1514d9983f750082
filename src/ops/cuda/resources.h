/// The resources that the operations of one backend share, and make_op(), which creates an operation with them.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include "convoy/device/device.h"
#include "convoy/ops/elementwise.h"

namespace convoy::ops::cuda {

/// The CUDA stream of a backend's operations, and the scratch memory that they share: they run one after the other on
/// one stream. While operations are created, the scratch memory grows to the largest size that one of them needs. An
/// operation calls scratch() when it runs.
class Context {
 public:
  /// `stream` is the device's own variable, which must outlive the context. Operations ask for the stream at each call,
  /// so they follow if CudaDevice::issue_on() replaces it for a while.
  Context(Device& device, const cudaStream_t& stream) : device_(device), stream_(&stream) {}
  Context(Device& device, cudaStream_t&& stream) = delete;

  Device& device() const { return device_; }
  cudaStream_t stream() const { return *stream_; }

  /// Makes scratch() at least this large. Called while operations are created. Smaller memory from before is kept,
  /// since a CUDA graph may use it.
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
  CudnnRuntime* cudnn = nullptr;    ///< used by convolutions
  CublasRuntime* cublas = nullptr;  ///< used by linear layers
};

/// Creates an operation of the type Op. The spec has been checked by check<Op>(). Each operation's source file
/// specialises this function; if none does, the linker reports an error that names the operation.
template <typename Op>
std::unique_ptr<Op> make_op(const typename Op::Spec& spec, const Resources& resources);

std::unique_ptr<ElementwiseOps> make_elementwise(Context& context);

}  // namespace convoy::ops::cuda
