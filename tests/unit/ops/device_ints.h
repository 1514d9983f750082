/// Whole numbers in device memory: tokens and lengths for the tests of operations.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/device/device.h"

namespace convoy {

class DeviceInts {
 public:
  DeviceInts(Device& device, const std::vector<std::int32_t>& values)
      : buffer_(device, std::ssize(values) * static_cast<std::int64_t>(sizeof(std::int32_t))) {
    device.copy_to_device(buffer_.data(), values.data(), buffer_.size_bytes());
  }
  operator const std::int32_t*() const {  // NOLINT(google-explicit-constructor): used as its pointer
    return buffer_.size_bytes() == 0 ? nullptr : reinterpret_cast<const std::int32_t*>(buffer_.data());
  }

 private:
  Buffer buffer_;
};

}  // namespace convoy
