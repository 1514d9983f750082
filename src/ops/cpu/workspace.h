/// What the operations of one library share: the device, the number of threads and the scratch memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "convoy/device/device.h"

namespace convoy::ops::cpu {

/// The scratch memory grows while operations are planned and stays as it is while they run. It holds nothing from one
/// call to the next.
class Workspace {
 public:
  Workspace(Device& device, std::int64_t threads) : device_(device), threads_(static_cast<int>(threads)) {}

  /// Makes scratch() at least this large.
  void reserve(std::int64_t size_bytes) {
    if (size_bytes > scratch_.size_bytes()) scratch_ = Buffer(device_, size_bytes);
  }

  /// 64-byte aligned. Ask at every call: planning another operation may have moved it.
  std::byte* scratch() const { return scratch_.data(); }
  std::int64_t scratch_bytes() const { return scratch_.size_bytes(); }
  Device& device() const { return device_; }
  int threads() const { return threads_; }

 private:
  Device& device_;
  int threads_;
  Buffer scratch_;
};

}  // namespace convoy::ops::cpu
