/// The resources that the operations of one backend share, and make_op(), which creates an operation with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "convoy/device/device.h"
#include "convoy/ops/elementwise.h"

namespace convoy::ops::cpu {

/// The device, the number of threads, and the scratch memory that the operations of a backend share. The scratch memory
/// grows while operations are created, and does not change while they run. No operation keeps values in it from one
/// call to the next.
class Workspace {
 public:
  Workspace(Device& device, std::int64_t threads) : device_(device), threads_(static_cast<int>(threads)) {}

  /// Makes scratch() at least `size_bytes` bytes large. Called while operations are created.
  void reserve(std::int64_t size_bytes) {
    if (size_bytes > scratch_.size_bytes()) scratch_ = Buffer(device_, size_bytes);
  }

  /// Returns the scratch memory, which is aligned to 64 bytes. An operation must call this each time that it runs: the
  /// creation of another operation may have moved the memory.
  std::byte* scratch() const { return scratch_.data(); }
  std::int64_t scratch_bytes() const { return scratch_.size_bytes(); }
  Device& device() const { return device_; }
  int threads() const { return threads_; }

 private:
  Device& device_;
  int threads_;
  Buffer scratch_;
};

class DnnlRuntime;
class Widening;

struct Resources {
  Workspace& workspace;
  DnnlRuntime& dnnl;
  Widening& widening;
};

/// Creates an operation of the type Op. The spec has been checked by check<Op>(). Each operation's source file
/// specialises this function; if none does, the linker reports an error that names the operation.
template <typename Op>
std::unique_ptr<Op> make_op(const typename Op::Spec& spec, const Resources& resources);

std::unique_ptr<ElementwiseOps> make_elementwise(const Workspace& workspace);

}  // namespace convoy::ops::cpu
