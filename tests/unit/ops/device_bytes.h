/// Bytes in device memory: winners of a maximum, masks of a ReLU.
#pragma once

#include <cstdint>
#include <vector>

#include "unit/ops/op_test.h"

namespace convoy {

/// Bytes with a guard after them. All are 254 at first: no window has 254 pixels, and 255 means that there is no
/// winner.
class DeviceBytes {
 public:
  DeviceBytes(ops::Backend& backend, std::int64_t count)
      : device_(backend.device()), count_(count), buffer_(device_, count + 64) {
    const std::vector<std::uint8_t> poison(index(count + 64), kPoison);
    device_.copy_to_device(buffer_.data(), poison.data(), count + 64);
  }

  std::uint8_t* data() const { return reinterpret_cast<std::uint8_t*>(buffer_.data()); }

  std::vector<std::uint8_t> values() const {
    device_.synchronize();
    std::vector<std::uint8_t> all(index(count_ + 64));
    device_.copy_to_host(all.data(), buffer_.data(), count_ + 64);
    for (std::int64_t i = count_; i < count_ + 64; ++i) EXPECT_EQ(all[index(i)], kPoison) << "written past the end";
    all.resize(index(count_));
    return all;
  }

 private:
  static constexpr std::uint8_t kPoison = 254;
  Device& device_;
  std::int64_t count_;
  Buffer buffer_;
};

}  // namespace convoy
