/// What the operations of one backend share, and how they are made of it: by make_op, specialised beside each
/// implementation.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include "convoy/device/device.h"
#include "convoy/ops/elementwise.h"

namespace convoy::ops::cuda {

/// Where work goes, and scratch memory for one call: operations of a backend run one after the other on one stream.
/// While operations are planned it grows to what the hungriest asks for; data() is read when they run.
class Context {
 public:
  /// Of the device's own stream, which outlives it: where it is exchanged for another (CudaDevice::issue_on), what asks
  /// for it at each call follows.
  Context(Device& device, const cudaStream_t& stream) : device_(device), stream_(&stream) {}
  Context(Device& device, cudaStream_t&& stream) = delete;

  Device& device() const { return device_; }
  cudaStream_t stream() const { return *stream_; }

  /// At planning. The memory before is kept until the end: a recording may refer to it.
  void reserve_scratch(std::int64_t size_bytes) {
    if (size_bytes <= scratch_.size_bytes()) return;
    Buffer larger(device_, size_bytes);
    if (scratch_.size_bytes() > 0) outgrown_.push_back(std::move(scratch_));
    scratch_ = std::move(larger);
  }
  std::byte* scratch() const { return scratch_.data(); }
  /// With what it has outgrown.
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

/// The spec has been checked. An operation of the list that no file makes is an error of the linker, which names it.
template <typename Op>
std::unique_ptr<Op> make_op(const typename Op::Spec& spec, const Resources& resources);

std::unique_ptr<ElementwiseOps> make_elementwise(Context& context);

}  // namespace convoy::ops::cuda
